// Arrow arrays and streams to what the encoder takes, without a copy of values but for bits, which become bytes.
//
// Spec: https://arrow.apache.org/docs/format/CDataInterface.html, …/CStreamInterface.html and …/Columnar.html.

#include <pybind11/numpy.h>

#include <cstring>
#include <string>
#include <utility>

#include "bindings/arrow.h"
#include "bindings/bindings.h"
#include "bindings/bytes_views.h"

namespace py = pybind11;

namespace tfr {

// As the interface lays it down, to the letter.
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
    if (array.release == nullptr || !Py_IsInitialized()) return;
    py::gil_scoped_acquire gil;  // the producer may be Python's
    array.release(&array);
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
py::array Wrap(const char* dtype, const void* data, int64_t length, const ArrayOwner& owner) {
  if (length == 0 || data == nullptr) return py::array(py::dtype(dtype), std::vector<py::ssize_t>{0});
  py::capsule base(new ArrayOwner(owner), [](void* held) { delete static_cast<ArrayOwner*>(held); });
  py::array array(py::dtype(dtype), std::vector<py::ssize_t>{static_cast<py::ssize_t>(length)}, data, base);
  py::detail::array_proxy(array.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return array;
}

struct Number {
  const char* dtype;
  size_t size;
};

Number NumberOf(char format) {
  switch (format) {
    case 'c': return {"int8", 1};
    case 'C': return {"uint8", 1};
    case 's': return {"int16", 2};
    case 'S': return {"uint16", 2};
    case 'i': return {"int32", 4};
    case 'I': return {"uint32", 4};
    case 'l': return {"int64", 8};
    case 'L': return {"uint64", 8};
    case 'e': return {"float16", 2};
    case 'f': return {"float32", 4};
    case 'g': return {"float64", 8};
    default: return {nullptr, 0};
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

// binary_view: 16 bytes a string: its length, then up to 12 bytes of it; or 4 bytes, buffer and offset.
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

// A node of the array's tree as a tuple (kind, length, valid or None, …), with behind it
//   "values": name of the element type, ndarray           "bytes": BytesViews
//   "list": int64 row splits, child                       "fixed": size, child
//   "struct": list of (name, child)                       "dictionary": ndarray of indices, dictionary
//   "null": nothing                                       "other": the format, which has no form in an Example
class Importer {
 public:
  explicit Importer(ArrayOwner owner) : owner_(std::move(owner)) {}

  py::tuple Node(const ArrowSchema& schema, const ArrowArray& array, int64_t extra_offset, int64_t length) {
    const int64_t offset = array.offset + extra_offset;
    py::object valid = Validity(array, offset, length);
    const std::string format = schema.format;
    if (schema.dictionary != nullptr) {
      const Number number = NumberOf(format[0]);
      if (number.dtype == nullptr) return py::make_tuple("other", length, valid, format);
      const ArrowArray& dictionary = *array.dictionary;
      return py::make_tuple("dictionary", length, valid, Numbers(number, array, offset, length),
                            Node(*schema.dictionary, dictionary, 0, dictionary.length));
    }
    if (format == "n") return py::make_tuple("null", length, valid);
    if (format == "b") return py::make_tuple("values", length, valid, "bool", ExpandBits(array.buffers[1], offset, length));
    if (format.size() == 1 && NumberOf(format[0]).dtype != nullptr) {
      const Number number = NumberOf(format[0]);
      return py::make_tuple("values", length, valid, number.dtype, Numbers(number, array, offset, length));
    }
    if (format == "z" || format == "u") return Strings(ViewsOfOffsets<int32_t>, array, offset, length, valid);
    if (format == "Z" || format == "U") return Strings(ViewsOfOffsets<int64_t>, array, offset, length, valid);
    if (format == "vz" || format == "vu") return Strings(ViewsOfViews, array, offset, length, valid);
    if (format.starts_with("w:")) {
      return Bytes(ViewsOfFixed(array, std::stoul(format.substr(2)), offset, length), length, valid);
    }
    if (format == "+l") return List(Splits32(array, offset, length), schema, array, length, valid);
    if (format == "+L") {
      const auto* offsets = static_cast<const int64_t*>(array.buffers[1]);
      static constexpr int64_t kNoOffsets = 0;  // what an empty array may have in their place
      py::array splits = offsets == nullptr ? Wrap("int64", &kNoOffsets, 1, owner_)
                                            : Wrap("int64", offsets + offset, length + 1, owner_);
      return List(std::move(splits), schema, array, length, valid);
    }
    if (format.starts_with("+w:")) {
      const int64_t size = std::stoll(format.substr(3));
      return py::make_tuple("fixed", length, valid, size, Node(*schema.children[0], *array.children[0], offset * size, length * size));
    }
    if (format == "+s") {
      py::list children;
      for (int64_t i = 0; i < schema.n_children; ++i) {
        children.append(py::make_tuple(schema.children[i]->name, Node(*schema.children[i], *array.children[i], offset, length)));
      }
      return py::make_tuple("struct", length, valid, children);
    }
    return py::make_tuple("other", length, valid, format);
  }

 private:
  py::array Numbers(const Number& number, const ArrowArray& array, int64_t offset, int64_t length) {
    const auto* data = static_cast<const uint8_t*>(array.buffers[1]);
    return Wrap(number.dtype, data == nullptr ? nullptr : data + static_cast<size_t>(offset) * number.size, length, owner_);
  }

  template <typename Make>
  py::tuple Strings(Make make, const ArrowArray& array, int64_t offset, int64_t length, const py::object& valid) {
    return Bytes(length == 0 ? std::make_shared<BytesViews>() : make(array, offset, length), length, valid);
  }

  py::tuple Bytes(BytesViewsPtr views, int64_t length, const py::object& valid) {
    views->owners.push_back(owner_);
    return py::make_tuple("bytes", length, valid, std::move(views));
  }

  py::tuple List(py::array splits, const ArrowSchema& schema, const ArrowArray& array, int64_t length, const py::object& valid) {
    const ArrowArray& child = *array.children[0];
    return py::make_tuple("list", length, valid, std::move(splits), Node(*schema.children[0], child, 0, child.length));
  }

  ArrayOwner owner_;
};

template <typename T>
T* FromCapsule(const py::object& capsule, const char* name) {
  auto* pointer = static_cast<T*>(PyCapsule_GetPointer(capsule.ptr(), name));
  if (pointer == nullptr) throw py::error_already_set();
  return pointer;
}

py::tuple ImportArray(const py::object& schema, const py::object& array) {
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
  m.def("_arrow_array", &ImportArray, py::arg("schema"), py::arg("array"));
  m.def("_arrow_stream", &ImportStream, py::arg("stream"));
}

}  // namespace tfr
