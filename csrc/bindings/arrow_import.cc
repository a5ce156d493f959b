// Arrow arrays and streams to what the encoder takes. Numbers and strings are not copied; bits become bytes, and
// offsets and indices are copied as they are checked.
//
// Spec: https://arrow.apache.org/docs/format/CDataInterface.html, …/CStreamInterface.html and …/Columnar.html.

#include <pybind11/numpy.h>

#include <cstring>
#include <string>
#include <utility>

#include "base/element_type.h"
#include "bindings/arrow.h"
#include "bindings/arrow_check.h"
#include "bindings/bindings.h"
#include "bindings/bytes_views.h"
#include "bindings/gil.h"
#include "bindings/named_tuple.h"

namespace py = pybind11;

namespace tfr {

// Exactly as the interface defines it.
struct ArrowStream {
  int (*get_schema)(ArrowStream*, ArrowSchema* out);
  int (*get_next)(ArrowStream*, ArrowArray* out);
  const char* (*get_last_error)(ArrowStream*);
  void (*release)(ArrowStream*);
  void* private_data;
};

namespace {

struct StreamHolder {
  ArrowStream stream = {};
  ~StreamHolder() {
    if (stream.release) stream.release(&stream);
  }
};

struct SchemaHolder {
  ArrowSchema schema = {};
  ~SchemaHolder() {
    if (schema.release) schema.release(&schema);
  }
};

struct ArrayHolder {
  ArrowArray array = {};
  ~ArrayHolder() {
    if (array.release != nullptr) DropWithGil([this] { array.release(&array); });  // the producer may be Python's
  }
};

using ArrayOwner = std::shared_ptr<ArrayHolder>;

bool Bit(const void* bits, int64_t i) { return static_cast<const uint8_t*>(bits)[i >> 3] >> (i & 7) & 1; }

// Item i of a buffer, which need not be aligned.
template <typename T>
T ItemOf(const void* buffer, int64_t i) {
  T item;
  std::memcpy(&item, static_cast<const uint8_t*>(buffer) + static_cast<size_t>(i) * sizeof(T), sizeof item);
  return item;
}

py::array_t<uint8_t> ExpandBits(const void* bits, int64_t offset, int64_t length) {
  py::array_t<uint8_t> bytes(static_cast<py::ssize_t>(length));
  uint8_t* out = bytes.mutable_data();
  for (int64_t i = 0; i < length; ++i) out[i] = Bit(bits, offset + i);
  return bytes;
}

// The validity bits, or null if no item is null.
const void* ValidityOf(const ArrowArray& array) {
  return array.null_count == 0 || array.n_buffers <= 0 || array.buffers == nullptr ? nullptr : array.buffers[0];
}

py::object Validity(const ArrowArray& array, int64_t offset, int64_t length) {
  const void* const bits = ValidityOf(array);
  if (bits == nullptr) return py::none();
  return ExpandBits(bits, offset, length);
}

// A read-only array over Arrow's memory.
py::array Wrap(ElementType type, const void* data, int64_t length, const ArrayOwner& owner) {
  const py::dtype dtype(TypeName(type));
  if (length == 0) return py::array(dtype, std::vector<py::ssize_t>{0});
  py::capsule base(new ArrayOwner(owner), [](void* held) { delete static_cast<ArrayOwner*>(held); });
  py::array array(dtype, std::vector<py::ssize_t>{static_cast<py::ssize_t>(length)}, data, base);
  py::detail::array_proxy(array.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return array;
}

// Reads the offsets of items [first, first + length), each once, since Arrow's memory may be shared with someone who
// writes to it, and gives each to `take`. Throws unless they ascend from 0 on to at most `limit`. An empty array may
// have no offsets.
template <typename Offset, typename Take>
void ReadOffsets(const void* offsets, int64_t first, int64_t length, int64_t limit, Take take) {
  int64_t before = 0;
  for (int64_t i = 0; i <= length; ++i) {
    const int64_t offset = length == 0 ? 0 : static_cast<int64_t>(ItemOf<Offset>(offsets, first + i));
    if (offset < before || offset > limit) {
      RefuseArrow("offset " + std::to_string(i) + " is " + std::to_string(offset) + ", expected " +
                  std::to_string(before) + " to " + std::to_string(limit));
    }
    take(i, offset);
    before = offset;
  }
}

BytesViewsPtr NewViews(int64_t length) {
  auto made = std::make_shared<BytesViews>();
  made->views.resize(static_cast<size_t>(length));
  return made;
}

template <typename Offset>
BytesViewsPtr ViewsOfOffsets(const ArrowArray& array, int64_t first, int64_t length) {
  BytesViewsPtr made = NewViews(length);
  const auto* const data = static_cast<const uint8_t*>(array.buffers[2]);
  int64_t begin = 0;
  ReadOffsets<Offset>(array.buffers[1], first, length, INT64_MAX, [&](int64_t i, int64_t end) {
    if (i > 0 && end > begin) {
      if (data == nullptr) RefuseArrow("it has strings, but no buffer of their bytes");
      made->views[static_cast<size_t>(i - 1)] = {data + begin, static_cast<size_t>(end - begin)};
    }
    begin = end;
  });
  return made;
}

// One binary_view: 16 bytes, its length and then all of it, up to 12 bytes, or 4 bytes, buffer and offset.
Bytes BytesOfView(const ArrowArray& array, const uint8_t* view) {
  int32_t fields[4];
  std::memcpy(fields, view, sizeof fields);
  const int64_t size = fields[0], buffer = fields[2], offset = fields[3];
  if (size >= 0 && size <= 12) return {view + 4, static_cast<size_t>(size)};
  const int64_t buffers = array.n_buffers - 3;  // besides validity, views and sizes
  const void* const sizes = array.buffers[array.n_buffers - 1];
  if (size < 0 || buffer < 0 || buffer >= buffers || offset < 0 || sizes == nullptr ||
      array.buffers[2 + buffer] == nullptr || offset + size > ItemOf<int64_t>(sizes, buffer)) {
    RefuseArrow("a view of " + std::to_string(size) + " bytes at " + std::to_string(offset) + " of data buffer " +
                std::to_string(buffer) + ", which has no such bytes");
  }
  return {static_cast<const uint8_t*>(array.buffers[2 + buffer]) + offset, static_cast<size_t>(size)};
}

BytesViewsPtr ViewsOfViews(const ArrowArray& array, int64_t first, int64_t length) {
  BytesViewsPtr made = NewViews(length);
  const auto* const views = static_cast<const uint8_t*>(array.buffers[1]);
  for (int64_t i = 0; i < length; ++i) {
    if (array.buffers[0] != nullptr && !Bit(array.buffers[0], first + i)) continue;  // its bytes mean nothing
    made->views[static_cast<size_t>(i)] = BytesOfView(array, views + 16 * (first + i));
  }
  return made;
}

BytesViewsPtr ViewsOfFixed(const ArrowArray& array, int64_t width, int64_t first, int64_t length) {
  int64_t bytes;
  if (__builtin_mul_overflow(first + length, width, &bytes)) RefuseArrow("more bytes than there can be");
  BytesViewsPtr made = NewViews(length);
  const auto* const data = static_cast<const uint8_t*>(array.buffers[1]);
  for (int64_t i = 0; i < length && width > 0; ++i) {
    made->views[static_cast<size_t>(i)] = {data + (first + i) * width, static_cast<size_t>(width)};
  }
  return made;
}

template <typename Offset>
py::array_t<int64_t> SplitsOf(const ArrowArray& array, int64_t first, int64_t length) {
  py::array_t<int64_t> splits(static_cast<py::ssize_t>(length + 1));
  int64_t* const out = splits.mutable_data();
  ReadOffsets<Offset>(array.buffers[1], first, length, array.children[0]->length,
                      [out](int64_t i, int64_t offset) { out[i] = offset; });
  return splits;
}

// Indices into a dictionary of `size` values; 0 for items that are null, whose indices mean nothing.
template <typename Index>
py::array_t<int64_t> IndicesOf(const ArrowArray& array, int64_t first, int64_t length, int64_t size) {
  py::array_t<int64_t> indices(static_cast<py::ssize_t>(length));
  int64_t* const out = indices.mutable_data();
  const void* const bits = ValidityOf(array);
  for (int64_t i = 0; i < length; ++i) {
    const auto index = ItemOf<Index>(array.buffers[1], first + i);
    const bool valid = bits == nullptr || Bit(bits, first + i);
    if (valid && (index < Index{0} || static_cast<uint64_t>(index) >= static_cast<uint64_t>(size))) {
      RefuseArrow("index " + std::to_string(index) + " into a dictionary of " + std::to_string(size) + " values");
    }
    out[i] = valid ? static_cast<int64_t>(index) : 0;
  }
  return indices;
}

py::array_t<int64_t> IndicesOf(ElementType type, const ArrowArray& array, int64_t first, int64_t length, int64_t size) {
  switch (type) {
    case ElementType::kInt8:
      return IndicesOf<int8_t>(array, first, length, size);
    case ElementType::kInt16:
      return IndicesOf<int16_t>(array, first, length, size);
    case ElementType::kInt32:
      return IndicesOf<int32_t>(array, first, length, size);
    case ElementType::kUInt8:
      return IndicesOf<uint8_t>(array, first, length, size);
    case ElementType::kUInt16:
      return IndicesOf<uint16_t>(array, first, length, size);
    case ElementType::kUInt32:
      return IndicesOf<uint32_t>(array, first, length, size);
    case ElementType::kUInt64:
      return IndicesOf<uint64_t>(array, first, length, size);
    default:
      return IndicesOf<int64_t>(array, first, length, size);
  }
}

NamedTuple arrow_node(
    "tfrecord_fast._core.ArrowNode",
    "An Arrow array. `valid` is 0 for rows that are null, or None. What else is set depends on the kind:\n\n"
    "null: nothing.\n"
    "values: type (of the element) and values, an ndarray or BytesViews.\n"
    "list: splits (int64) and child. fixed: size, of each list, and child.\n"
    "struct: fields, a list of (name, node).\n"
    "dictionary: values, an int64 ndarray of indices, all in range, and child, what they look up.\n"
    "other: type, Arrow's format, which has no form in an Example.",
    {"kind", "rows", "valid", "type", "values", "splits", "size", "child", "fields"});

struct NodeParts {
  const char* kind;
  py::object type = py::none();
  py::object values = py::none();
  py::object splits = py::none();
  int64_t size = 0;
  py::object child = py::none();
  py::object fields = py::none();
};

// Makes nodes of an Arrow array and of those inside it, which are checked on the way.
class Importer {
 public:
  explicit Importer(ArrayOwner owner) : owner_(std::move(owner)) {}

  py::object Whole(const ArrowSchema& schema) { return Node(schema, owner_->array, 0, owner_->array.length); }

 private:
  // Of items [first, first + length), counted from the array's own first one.
  py::object Node(const ArrowSchema& schema, const ArrowArray& array, int64_t first, int64_t length) {
    // Deeper than anyone nests, and not too deep for any stack. Pointers may run in circles.
    constexpr int kMostDepth = 64;
    if (depth_ >= kMostDepth || ++nodes_ > kMostArrowNodes) RefuseArrow("nested too deep");
    ++depth_;
    const ArrowType type = TypeOfArrow(schema);
    first = ArrowEnd(array.offset, first);
    CheckArrow(schema, type, array, first, length);
    NodeParts parts = PartsOf(type, schema, array, first, length);
    --depth_;
    return arrow_node(parts.kind, length, Validity(array, first, length), std::move(parts.type),
                      std::move(parts.values), std::move(parts.splits), parts.size, std::move(parts.child),
                      std::move(parts.fields));
  }

  NodeParts PartsOf(const ArrowType& type, const ArrowSchema& schema, const ArrowArray& array, int64_t first,
                    int64_t length) {
    switch (type.form) {
      case ArrowForm::kNull:
        return {.kind = "null"};
      case ArrowForm::kBits:
        return Values(ElementType::kBool, ExpandBits(array.buffers[1], first, length));
      case ArrowForm::kNumbers:
        return Values(type.element, Numbers(type.element, array, first, length));
      case ArrowForm::kDictionary:
        return {.kind = "dictionary",
                .values = IndicesOf(type.element, array, first, length, array.dictionary->length),
                .child = Node(*schema.dictionary, *array.dictionary, 0, array.dictionary->length)};
      case ArrowForm::kStrings:
        return Strings(ViewsOfOffsets<int32_t>(array, first, length));
      case ArrowForm::kLargeStrings:
        return Strings(ViewsOfOffsets<int64_t>(array, first, length));
      case ArrowForm::kViews:
        return Strings(ViewsOfViews(array, first, length));
      case ArrowForm::kFixedStrings:
        return Strings(ViewsOfFixed(array, type.width, first, length));
      case ArrowForm::kList:
        return List(SplitsOf<int32_t>(array, first, length), schema, array);
      case ArrowForm::kLargeList:
        return List(SplitsOf<int64_t>(array, first, length), schema, array);
      case ArrowForm::kFixedList:
        return FixedList(type.width, schema, array, first, length);
      case ArrowForm::kStruct:
        return Struct(schema, array, first, length);
      case ArrowForm::kOther:
        break;
    }
    return {.kind = "other", .type = py::str(schema.format)};
  }

  static NodeParts Values(ElementType type, py::object values) {
    return {.kind = "values", .type = py::str(TypeName(type)), .values = std::move(values)};
  }

  py::array Numbers(ElementType type, const ArrowArray& array, int64_t first, int64_t length) {
    const auto* const data = static_cast<const uint8_t*>(array.buffers[1]);
    return Wrap(type, length == 0 ? nullptr : data + static_cast<size_t>(first) * ItemSize(type), length, owner_);
  }

  NodeParts Strings(BytesViewsPtr views) {
    views->owners.push_back(owner_);
    return Values(ElementType::kBytes, py::cast(std::move(views)));
  }

  NodeParts List(py::array splits, const ArrowSchema& schema, const ArrowArray& array) {
    const ArrowArray& child = *array.children[0];
    return {.kind = "list", .splits = std::move(splits), .child = Node(*schema.children[0], child, 0, child.length)};
  }

  NodeParts FixedList(int64_t size, const ArrowSchema& schema, const ArrowArray& array, int64_t first, int64_t length) {
    int64_t from, count;
    if (__builtin_mul_overflow(first, size, &from) || __builtin_mul_overflow(length, size, &count)) {
      RefuseArrow("more items than there can be");
    }
    return {.kind = "fixed", .size = size, .child = Node(*schema.children[0], *array.children[0], from, count)};
  }

  NodeParts Struct(const ArrowSchema& schema, const ArrowArray& array, int64_t first, int64_t length) {
    py::list fields;
    for (int64_t i = 0; i < schema.n_children; ++i) {
      const ArrowSchema& child = *schema.children[i];
      const char* const name = child.name != nullptr ? child.name : "";
      fields.append(py::make_tuple(name, Node(child, *array.children[i], first, length)));
    }
    return {.kind = "struct", .fields = std::move(fields)};
  }

  ArrayOwner owner_;
  int depth_ = 0;
  int64_t nodes_ = 0;
};

template <typename T>
T* FromCapsule(const py::object& capsule, const char* name) {
  auto* pointer = static_cast<T*>(PyCapsule_GetPointer(capsule.ptr(), name));
  if (pointer == nullptr) throw py::error_already_set();
  return pointer;
}

// Takes a structure over, as a consumer must: the producer may free it otherwise, and a second use would find memory
// that was freed.
template <typename T>
void TakeOver(T* given, T* taken) {
  if (given->release == nullptr) RefuseArrow("it was released: a capsule can be used only once");
  *taken = *given;
  given->release = nullptr;
}

py::object ImportArray(const py::object& schema, const py::object& array) {
  auto* given = FromCapsule<ArrowArray>(array, "arrow_array");
  const auto* type = FromCapsule<ArrowSchema>(schema, "arrow_schema");
  auto owner = std::make_shared<ArrayHolder>();
  TakeOver(given, &owner->array);
  return Importer(owner).Whole(*type);
}

// The chunks of a stream, one node each.
py::list ImportStream(const py::object& capsule) {
  StreamHolder holder;
  ArrowStream* const stream = &holder.stream;
  TakeOver(FromCapsule<ArrowStream>(capsule, "arrow_array_stream"), stream);
  const auto check = [stream](int code) {
    if (code == 0) return;
    const char* text = stream->get_last_error(stream);
    throw py::value_error(std::string("Arrow stream: ") + (text != nullptr ? text : "it failed"));
  };
  SchemaHolder type;
  check(stream->get_schema(stream, &type.schema));
  py::list nodes;
  while (true) {
    auto owner = std::make_shared<ArrayHolder>();
    check(stream->get_next(stream, &owner->array));
    if (owner->array.release == nullptr) return nodes;
    nodes.append(Importer(owner).Whole(type.schema));
  }
}

}  // namespace

void BindArrowImport(py::module_& m) {
  arrow_node.Bind(m);
  m.def("arrow_array", &ImportArray, py::arg("schema"), py::arg("array"));
  m.def("arrow_stream", &ImportStream, py::arg("stream"));
}

}  // namespace tfr
