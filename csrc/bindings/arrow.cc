// Columns to Arrow, without a copy if the layouts allow it: numbers and offsets are shared; byte strings become
// binary_view, with new views (16 bytes per string) into the buffers of the records, or large_binary or binary, with
// copies, if the consumer asks for it.
//
// Spec: https://arrow.apache.org/docs/format/CDataInterface.html and …/Columnar.html.

#include "bindings/arrow.h"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <climits>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/buffer.h"
#include "bindings/bindings.h"
#include "bindings/bytes_array.h"

namespace py = pybind11;

namespace tfr {
namespace {

constexpr int64_t kNullable = 2;  // ARROW_FLAG_NULLABLE
constexpr size_t kInlineBytes = 12;
constexpr size_t kPrefixBytes = 4;
// Strings that lie this close together share one data buffer. Between them are other fields of a record, or the framing
// of two records of a chunk. It is less than a page, so that everything between them is mapped memory.
constexpr size_t kMaxGap = 2048;

// Whether byte strings are exported as views into the records' buffers or as copies, with offsets of 64 or 32 bits.
enum class Strings : uint8_t { kViews, kLarge, kSmall };

// One array and its type, before they are handed out. Children are in Arrow's order.
struct Node {
  std::string format;
  std::string name;
  int64_t length = 0;
  std::vector<const void*> buffers;
  std::vector<Node> children;
  std::vector<Owner> owners;
};

// ---- Handing out ----

struct HeldSchema {
  Node node;
  std::vector<ArrowSchema> children;
  std::vector<ArrowSchema*> pointers;
};

struct HeldArray {
  Node node;
  std::vector<ArrowArray> children;
  std::vector<ArrowArray*> pointers;
};

void ReleaseSchema(ArrowSchema* schema) {
  auto* held = static_cast<HeldSchema*>(schema->private_data);
  for (ArrowSchema& child : held->children) {
    if (child.release) child.release(&child);
  }
  schema->release = nullptr;
  delete held;
}

void ReleaseArray(ArrowArray* array) {
  auto* held = static_cast<HeldArray*>(array->private_data);
  for (ArrowArray& child : held->children) {
    if (child.release) child.release(&child);
  }
  array->release = nullptr;
  delete held;
}

void ExportSchema(const Node& node, ArrowSchema* out) {
  auto* held = new HeldSchema;
  held->node.format = node.format;
  held->node.name = node.name;
  held->children.resize(node.children.size());
  for (size_t i = 0; i < node.children.size(); ++i) {
    ExportSchema(node.children[i], &held->children[i]);
    held->pointers.push_back(&held->children[i]);
  }
  *out = {held->node.format.c_str(),
          held->node.name.c_str(),
          nullptr,
          kNullable,
          static_cast<int64_t>(held->pointers.size()),
          held->pointers.data(),
          nullptr,
          ReleaseSchema,
          held};
}

void ExportArray(Node node, ArrowArray* out) {
  auto* held = new HeldArray;
  held->children.resize(node.children.size());
  for (size_t i = 0; i < node.children.size(); ++i) {
    ExportArray(std::move(node.children[i]), &held->children[i]);
    held->pointers.push_back(&held->children[i]);
  }
  held->node = std::move(node);
  *out = {held->node.length,
          0,
          0,
          static_cast<int64_t>(held->node.buffers.size()),
          static_cast<int64_t>(held->pointers.size()),
          held->node.buffers.data(),
          held->pointers.data(),
          nullptr,
          ReleaseArray,
          held};
}

template <typename T>
void DestroyCapsule(PyObject* capsule) {
  auto* held = static_cast<T*>(PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule)));
  if (held->release) held->release(held);  // not taken by anyone
  delete held;
}

py::tuple Capsules(Node node) {
  auto* schema = new ArrowSchema;
  ExportSchema(node, schema);
  auto schema_capsule =
      py::reinterpret_steal<py::object>(PyCapsule_New(schema, "arrow_schema", DestroyCapsule<ArrowSchema>));
  auto* array = new ArrowArray;
  ExportArray(std::move(node), array);
  auto array_capsule =
      py::reinterpret_steal<py::object>(PyCapsule_New(array, "arrow_array", DestroyCapsule<ArrowArray>));
  if (!schema_capsule || !array_capsule) throw py::error_already_set();
  return py::make_tuple(schema_capsule, array_capsule);
}

// ---- Making nodes ----

std::shared_ptr<Buffer> NewBuffer(size_t size) {
  std::shared_ptr<Buffer> buffer = Buffer::Allocate(size);
  if (!buffer) throw std::bad_alloc();
  return buffer;
}

const char* FormatOf(const py::dtype& dtype) {
  const char kind = dtype.kind();
  switch (dtype.itemsize()) {
    case 1:
      return kind == 'b' ? "b" : kind == 'i' ? "c" : "C";
    case 2:
      return kind == 'i' ? "s" : kind == 'u' ? "S" : kind == 'f' ? "e" : nullptr;
    case 4:
      return kind == 'i' ? "i" : kind == 'u' ? "I" : kind == 'f' ? "f" : nullptr;
    case 8:
      return kind == 'i' ? "l" : kind == 'u' ? "L" : kind == 'f' ? "g" : nullptr;
    default:
      return nullptr;
  }
}

Node FromNumbers(const py::array& array) {
  const char* format = FormatOf(array.dtype());
  if (format == nullptr) throw py::type_error("no Arrow type for dtype " + py::str(array.dtype()).cast<std::string>());
  py::array flat = py::array::ensure(array, py::array::c_style);
  Node node;
  node.format = format;
  node.length = flat.size();
  node.owners.push_back(OwnerOfPython(flat));
  node.buffers = {nullptr, flat.data()};
  if (array.dtype().kind() == 'b') {  // Arrow packs eight to a byte
    const auto count = static_cast<size_t>(flat.size());
    std::shared_ptr<Buffer> bits = NewBuffer((count + 7) / 8);
    std::memset(bits->data(), 0, (count + 7) / 8);
    const auto* bytes = static_cast<const uint8_t*>(flat.data());
    for (size_t i = 0; i < count; ++i) bits->data()[i / 8] |= static_cast<uint8_t>((bytes[i] != 0) << i % 8);
    node.buffers[1] = bits->data();
    node.owners = {bits};
  }
  return node;
}

template <typename Offset>
Node Copies(const BytesArray& array) {
  constexpr size_t kMost = std::numeric_limits<Offset>::max();
  const size_t count = array.size();
  std::shared_ptr<Buffer> offsets = NewBuffer((count + 1) * sizeof(Offset));
  auto* ends = reinterpret_cast<Offset*>(offsets->data());
  ends[0] = 0;
  size_t total = 0;
  for (size_t i = 0; i < count; ++i) {
    total += array.views[i].size;
    if (total > kMost) {
      ThrowStatus(Status::InvalidArgument(
          "the strings of one column take more bytes than one Arrow array of binary holds, 2 GiB: a smaller batch_size "
          "makes more arrays of them"));
    }
    ends[i + 1] = static_cast<Offset>(total);
  }
  std::shared_ptr<Buffer> data = NewBuffer(total);
  for (size_t i = 0; i < count; ++i) {
    if (array.views[i].size > 0) std::memcpy(data->data() + ends[i], array.views[i].data, array.views[i].size);
  }
  Node node;
  node.format = sizeof(Offset) == sizeof(int64_t) ? "Z" : "z";
  node.length = static_cast<int64_t>(count);
  node.buffers = {nullptr, ends, data->data()};
  node.owners = {offsets, data};
  return node;
}

// A view is { int32 size, then 12 bytes of data } or { int32 size, 4 bytes of prefix, int32 buffer, int32 offset }.
Node BinaryView(const BytesArray& array) {
  const size_t count = array.size();
  std::shared_ptr<Buffer> views = NewBuffer(count * 16);
  std::vector<const void*> data;
  std::vector<int64_t> sizes;
  const uint8_t* start = nullptr;  // of the data buffer that is being extended
  const uint8_t* end = nullptr;
  for (size_t i = 0; i < count; ++i) {
    const Bytes& bytes = array.views[i];
    if (bytes.size > INT32_MAX) return Copies<int64_t>(array);  // too long for a view
    uint8_t* view = views->data() + 16 * i;
    std::memset(view, 0, 16);
    const auto size = static_cast<int32_t>(bytes.size);
    std::memcpy(view, &size, 4);
    if (bytes.size <= kInlineBytes) {
      if (bytes.size > 0) std::memcpy(view + 4, bytes.data, bytes.size);
      continue;
    }
    const bool near = start != nullptr && bytes.data >= start &&
                      (bytes.data <= end || static_cast<size_t>(bytes.data - end) <= kMaxGap) &&
                      bytes.data + bytes.size - start <= INT32_MAX;
    if (!near) {
      if (data.size() >= INT32_MAX) return Copies<int64_t>(array);
      start = end = bytes.data;
      data.push_back(start);
      sizes.push_back(0);
    }
    if (bytes.data + bytes.size > end) end = bytes.data + bytes.size;
    sizes.back() = end - start;
    const auto buffer = static_cast<int32_t>(data.size() - 1);
    const auto offset = static_cast<int32_t>(bytes.data - start);
    std::memcpy(view + 4, bytes.data, kPrefixBytes);
    std::memcpy(view + 8, &buffer, 4);
    std::memcpy(view + 12, &offset, 4);
  }
  std::shared_ptr<Buffer> lengths = NewBuffer(sizes.size() * sizeof(int64_t));
  if (!sizes.empty()) std::memcpy(lengths->data(), sizes.data(), sizes.size() * sizeof(int64_t));
  Node node;
  node.format = "vz";
  node.length = static_cast<int64_t>(count);
  node.buffers = {nullptr, views->data()};
  node.buffers.insert(node.buffers.end(), data.begin(), data.end());
  node.buffers.push_back(lengths->data());
  node.owners = {views, lengths, array.views_owner, array.owners};
  return node;
}

// A list of `length` with the items of `child`, cut at int64 `offsets`.
Node LargeList(const py::array_t<int64_t, py::array::c_style | py::array::forcecast>& offsets, Node child) {
  child.name = "item";
  Node node;
  node.format = "+L";
  node.length = offsets.size() - 1;
  node.buffers = {nullptr, offsets.data()};
  node.owners.push_back(OwnerOfPython(offsets));
  node.children.push_back(std::move(child));
  return node;
}

// Fixed-size lists of `shape` around the flat values, without the outermost axis.
Node WithShape(Node node, const std::vector<ptrdiff_t>& shape) {
  for (size_t axis = shape.size(); axis-- > 1;) {
    int64_t length = 1;
    for (size_t i = 0; i < axis; ++i) length *= shape[i];
    Node list;
    list.format = "+w:" + std::to_string(shape[axis]);
    list.length = length;
    list.buffers = {nullptr};
    node.name = "item";
    list.children.push_back(std::move(node));
    node = std::move(list);
  }
  return node;
}

Node FromValues(py::handle values, Strings strings) {
  if (const BytesArray* array = UnwrapBytes(values)) {
    Node flat = strings == Strings::kViews   ? BinaryView(*array)
                : strings == Strings::kLarge ? Copies<int64_t>(*array)
                                             : Copies<int32_t>(*array);
    return WithShape(std::move(flat), array->shape);
  }
  const auto array = py::array::ensure(values);
  if (!array) throw py::type_error("expected an array");
  return WithShape(FromNumbers(array), std::vector<ptrdiff_t>(array.shape(), array.shape() + array.ndim()));
}

Strings StringsNamed(const std::string& format) {
  if (format == "vz") return Strings::kViews;
  if (format == "Z") return Strings::kLarge;
  if (format == "z") return Strings::kSmall;
  throw py::value_error("no strings of the format '" + format + "'");
}

// A column given as its values and the offsets of the lists around them, the innermost first. `strings` is the format
// of byte strings.
py::tuple Export(py::handle values, const py::list& offsets, const std::string& strings) {
  Node node = FromValues(values, StringsNamed(strings));
  for (const py::handle splits : offsets) {
    node = LargeList(py::array_t<int64_t, py::array::c_style | py::array::forcecast>::ensure(splits), std::move(node));
  }
  return Capsules(std::move(node));
}

// The innermost format of a schema that a consumer asks for, or "".
std::string RequestedFormat(const py::capsule& capsule) {
  const auto* schema = static_cast<const ArrowSchema*>(PyCapsule_GetPointer(capsule.ptr(), "arrow_schema"));
  if (schema == nullptr) throw py::error_already_set();
  constexpr int kMostDepth = 64;  // children may point in a circle
  for (int depth = 0; depth < kMostDepth && schema->release != nullptr; ++depth) {
    if (schema->n_children != 1 || schema->children == nullptr || schema->children[0] == nullptr) {
      return schema->format ? schema->format : "";
    }
    schema = schema->children[0];
  }
  throw py::value_error("an Arrow schema that was released, or whose children have no end");
}

}  // namespace

void BindArrow(py::module_& m) {
  m.def("arrow_export", &Export, py::arg("values"), py::arg("offsets"), py::kw_only(), py::arg("strings"));
  m.def("arrow_requested_format", &RequestedFormat);
}

}  // namespace tfr
