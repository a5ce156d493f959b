// Arrow arrays and streams to what the encoder takes, without a copy of values except for bits, which become bytes.
//
// Spec: https://arrow.apache.org/docs/format/CDataInterface.html, …/CStreamInterface.html and …/Columnar.html.

#include <pybind11/numpy.h>

#include <cstring>
#include <string>
#include <utility>

#include "base/element_type.h"
#include "bindings/arrow.h"
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

py::array_t<uint8_t> ExpandBits(const void* bits, int64_t offset, int64_t length) {
  py::array_t<uint8_t> bytes(static_cast<py::ssize_t>(length));
  uint8_t* out = bytes.mutable_data();
  for (int64_t i = 0; i < length; ++i) out[i] = Bit(bits, offset + i);
  return bytes;
}

py::object Validity(const ArrowArray& array, int64_t offset, int64_t length) {
  if (array.null_count == 0 || array.n_buffers == 0 || array.buffers[0] == nullptr) return py::none();
  return ExpandBits(array.buffers[0], offset, length);
}

// A read-only array over Arrow's memory.
py::array Wrap(ElementType type, const void* data, int64_t length, const ArrayOwner& owner) {
  const py::dtype dtype(TypeName(type));
  if (length == 0 || data == nullptr) return py::array(dtype, std::vector<py::ssize_t>{0});
  py::capsule base(new ArrayOwner(owner), [](void* held) { delete static_cast<ArrayOwner*>(held); });
  py::array array(dtype, std::vector<py::ssize_t>{static_cast<py::ssize_t>(length)}, data, base);
  py::detail::array_proxy(array.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return array;
}

// The type of a primitive format except for bits; false for others.
bool NumberOf(const std::string& format, ElementType* type) {
  if (format.size() != 1) return false;
  switch (format[0]) {
    case 'c':
      *type = ElementType::kInt8;
      return true;
    case 'C':
      *type = ElementType::kUInt8;
      return true;
    case 's':
      *type = ElementType::kInt16;
      return true;
    case 'S':
      *type = ElementType::kUInt16;
      return true;
    case 'i':
      *type = ElementType::kInt32;
      return true;
    case 'I':
      *type = ElementType::kUInt32;
      return true;
    case 'l':
      *type = ElementType::kInt64;
      return true;
    case 'L':
      *type = ElementType::kUInt64;
      return true;
    case 'e':
      *type = ElementType::kFloat16;
      return true;
    case 'f':
      *type = ElementType::kFloat32;
      return true;
    case 'g':
      *type = ElementType::kFloat64;
      return true;
    default:
      return false;
  }
}

template <typename Offset>
BytesViewsPtr ViewsOfOffsets(const ArrowArray& array, int64_t offset, int64_t length) {
  const auto* offsets = static_cast<const Offset*>(array.buffers[1]);
  const auto* data = static_cast<const uint8_t*>(array.buffers[2]);
  auto made = std::make_shared<BytesViews>();
  made->views.resize(static_cast<size_t>(length));
  for (int64_t i = 0; i < length; ++i) {
    const Offset begin = offsets[offset + i];
    made->views[static_cast<size_t>(i)] = {data + begin, static_cast<size_t>(offsets[offset + i + 1] - begin)};
  }
  return made;
}

// binary_view: 16 bytes per string, its length and then all of it, up to 12 bytes, or 4 bytes, buffer and offset.
BytesViewsPtr ViewsOfViews(const ArrowArray& array, int64_t offset, int64_t length) {
  const uint8_t* view = static_cast<const uint8_t*>(array.buffers[1]) + 16 * offset;
  auto made = std::make_shared<BytesViews>();
  made->views.resize(static_cast<size_t>(length));
  for (int64_t i = 0; i < length; ++i, view += 16) {
    int32_t fields[4];
    std::memcpy(fields, view, sizeof fields);
    const auto size = static_cast<size_t>(fields[0]);
    if (array.buffers[0] != nullptr && !Bit(array.buffers[0], offset + i)) continue;  // its bytes mean nothing
    const uint8_t* data = size <= 12 ? view + 4 : static_cast<const uint8_t*>(array.buffers[2 + fields[2]]) + fields[3];
    made->views[static_cast<size_t>(i)] = {data, size};
  }
  return made;
}

BytesViewsPtr ViewsOfFixed(const ArrowArray& array, size_t width, int64_t offset, int64_t length) {
  auto made = std::make_shared<BytesViews>();
  made->views.resize(static_cast<size_t>(length));
  const auto* data = static_cast<const uint8_t*>(array.buffers[1]);
  for (int64_t i = 0; i < length; ++i) {
    made->views[static_cast<size_t>(i)] = {data + static_cast<size_t>(offset + i) * width, width};
  }
  return made;
}

py::array_t<int64_t> Splits32(const ArrowArray& array, int64_t offset, int64_t length) {
  py::array_t<int64_t> splits(static_cast<py::ssize_t>(length + 1));
  int64_t* out = splits.mutable_data();
  const auto* offsets = static_cast<const int32_t*>(array.buffers[1]);
  for (int64_t i = 0; i <= length; ++i) out[i] = offsets == nullptr ? 0 : offsets[offset + i];
  return splits;
}

NamedTuple arrow_node(
    "tfrecord_fast._core.ArrowNode",
    "An Arrow array. `valid` is 0 for rows that are null, or None. What else is set depends on the kind:\n\n"
    "null: nothing.\n"
    "values: type (of the element) and values, an ndarray or BytesViews.\n"
    "list: splits (int64) and child. fixed: size, of each list, and child.\n"
    "struct: fields, a list of (name, node).\n"
    "dictionary: values, an ndarray of indices, and child, what they look up.\n"
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

// Makes nodes of an Arrow array and of those inside it.
class Importer {
 public:
  explicit Importer(ArrayOwner owner) : owner_(std::move(owner)) {}

  py::object Node(const ArrowSchema& schema, const ArrowArray& array, int64_t extra_offset, int64_t length) {
    const int64_t offset = array.offset + extra_offset;
    NodeParts parts = PartsOf(schema, array, offset, length);
    return arrow_node(parts.kind, length, Validity(array, offset, length), std::move(parts.type),
                      std::move(parts.values), std::move(parts.splits), parts.size, std::move(parts.child),
                      std::move(parts.fields));
  }

 private:
  NodeParts PartsOf(const ArrowSchema& schema, const ArrowArray& array, int64_t offset, int64_t length) {
    const std::string format = schema.format;
    ElementType type;
    if (schema.dictionary != nullptr) {
      if (!NumberOf(format, &type)) return {.kind = "other", .type = py::str(format)};
      const ArrowArray& dictionary = *array.dictionary;
      return {.kind = "dictionary",
              .values = Numbers(type, array, offset, length),
              .child = Node(*schema.dictionary, dictionary, 0, dictionary.length)};
    }
    if (format == "n") return {.kind = "null"};
    if (format == "b") return Values(ElementType::kBool, ExpandBits(array.buffers[1], offset, length));
    if (NumberOf(format, &type)) return Values(type, Numbers(type, array, offset, length));
    if (format == "z" || format == "u") return Strings(ViewsOfOffsets<int32_t>, array, offset, length);
    if (format == "Z" || format == "U") return Strings(ViewsOfOffsets<int64_t>, array, offset, length);
    if (format == "vz" || format == "vu") return Strings(ViewsOfViews, array, offset, length);
    if (format.starts_with("w:")) return Strings(ViewsOfFixed(array, std::stoul(format.substr(2)), offset, length));
    if (format == "+l") return List(Splits32(array, offset, length), schema, array);
    if (format == "+L") {
      const auto* offsets = static_cast<const int64_t*>(array.buffers[1]);
      static constexpr int64_t kNoOffsets = 0;  // an empty array may have none
      return List(offsets == nullptr ? Wrap(ElementType::kInt64, &kNoOffsets, 1, owner_)
                                     : Wrap(ElementType::kInt64, offsets + offset, length + 1, owner_),
                  schema, array);
    }
    if (format.starts_with("+w:")) {
      const int64_t size = std::stoll(format.substr(3));
      return {.kind = "fixed",
              .size = size,
              .child = Node(*schema.children[0], *array.children[0], offset * size, length * size)};
    }
    if (format == "+s") {
      py::list fields;
      for (int64_t i = 0; i < schema.n_children; ++i) {
        const ArrowSchema& child = *schema.children[i];
        fields.append(py::make_tuple(child.name, Node(child, *array.children[i], offset, length)));
      }
      return {.kind = "struct", .fields = std::move(fields)};
    }
    return {.kind = "other", .type = py::str(format)};
  }

  static NodeParts Values(ElementType type, py::object values) {
    return {.kind = "values", .type = py::str(TypeName(type)), .values = std::move(values)};
  }

  py::array Numbers(ElementType type, const ArrowArray& array, int64_t offset, int64_t length) {
    const auto* data = static_cast<const uint8_t*>(array.buffers[1]);
    return Wrap(type, data == nullptr ? nullptr : data + static_cast<size_t>(offset) * ItemSize(type), length, owner_);
  }

  template <typename Make>
  NodeParts Strings(Make make, const ArrowArray& array, int64_t offset, int64_t length) {
    return Strings(length == 0 ? std::make_shared<BytesViews>() : make(array, offset, length));
  }

  NodeParts Strings(BytesViewsPtr views) {
    views->owners.push_back(owner_);
    return Values(ElementType::kBytes, py::cast(std::move(views)));
  }

  NodeParts List(py::array splits, const ArrowSchema& schema, const ArrowArray& array) {
    const ArrowArray& child = *array.children[0];
    return {.kind = "list", .splits = std::move(splits), .child = Node(*schema.children[0], child, 0, child.length)};
  }

  ArrayOwner owner_;
};

template <typename T>
T* FromCapsule(const py::object& capsule, const char* name) {
  auto* pointer = static_cast<T*>(PyCapsule_GetPointer(capsule.ptr(), name));
  if (pointer == nullptr) throw py::error_already_set();
  return pointer;
}

py::object ImportArray(const py::object& schema, const py::object& array) {
  auto* given = FromCapsule<ArrowArray>(array, "arrow_array");
  const auto* type = FromCapsule<ArrowSchema>(schema, "arrow_schema");
  auto owner = std::make_shared<ArrayHolder>();
  owner->array = *given;
  given->release = nullptr;  // taken over
  return Importer(owner).Node(*type, owner->array, 0, owner->array.length);
}

// The chunks of a stream, one node each.
py::list ImportStream(const py::object& capsule) {
  auto* stream = FromCapsule<ArrowStream>(capsule, "arrow_array_stream");
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
    nodes.append(Importer(owner).Node(type.schema, owner->array, 0, owner->array.length));
  }
}

}  // namespace

void BindArrowImport(py::module_& m) {
  arrow_node.Bind(m);
  m.def("arrow_array", &ImportArray, py::arg("schema"), py::arg("array"));
  m.def("arrow_stream", &ImportStream, py::arg("stream"));
}

}  // namespace tfr
