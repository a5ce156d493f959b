// The Arrow C data interface for Python: capsules to columns and back; see arrow/import.h and arrow/export.h.

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arrow/export.h"
#include "arrow/import.h"
#include "bindings/bindings.h"
#include "bindings/bytes_array.h"
#include "bindings/gil.h"
#include "bindings/named_tuple.h"
#include "bindings/numpy_api.h"

namespace py = pybind11;

namespace tfr {
namespace {

using Offsets = py::array_t<int64_t, py::array::c_style | py::array::forcecast>;

template <typename T>
T* FromCapsule(const py::handle& capsule, const char* name) {
  auto* pointer = static_cast<T*>(PyCapsule_GetPointer(capsule.ptr(), name));
  if (pointer == nullptr) throw py::error_already_set();
  return pointer;
}

template <typename T>
void DestroyCapsule(PyObject* capsule) {
  auto* held = static_cast<T*>(PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule)));
  if (held->release) held->release(held);  // no consumer took it
  delete held;
}

py::tuple Capsules(ArrowNode node) {
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

ArrowStrings StringsNamed(const std::string& format) {
  if (format == "vz") return ArrowStrings::kViews;
  if (format == "Z") return ArrowStrings::kLarge;
  if (format == "z") return ArrowStrings::kSmall;
  throw py::value_error("expected the format \"vz\", \"Z\" or \"z\", got \"" + format + "\"");
}

ArrowNode ValuesNode(py::handle values, ArrowStrings strings) {
  ArrowNode node;
  if (const BytesArray* array = UnwrapBytes(values)) {
    std::vector<Owner> owners = {array->views_owner, array->owners};
    ThrowIfError(StringsNode(strings, array->views, array->size(), std::move(owners), &node));
    return FixedListsNode(std::move(node), array->shape);
  }
  const auto array = py::array::ensure(values, py::array::c_style);
  if (!array) throw py::type_error("expected an array");
  ElementType type;
  const auto dtype = py::str(array.dtype()).cast<std::string>();
  if (!TypeNamed(dtype, &type)) throw py::type_error("Arrow has no type for dtype " + dtype);
  ThrowIfError(NumbersNode(type, array.data(), static_cast<size_t>(array.size()), OwnerOfPython(array), &node));
  return FixedListsNode(std::move(node), std::vector<ptrdiff_t>(array.shape(), array.shape() + array.ndim()));
}

// Exports a column: its values, and the offsets of the lists around them, the innermost first. `strings` is the format
// of byte strings.
py::tuple Export(py::handle values, const py::list& offsets, const std::string& strings) {
  ArrowNode node = ValuesNode(values, StringsNamed(strings));
  for (const py::handle list : offsets) {
    const Offsets splits = Offsets::ensure(list);
    if (!splits) throw py::error_already_set();
    node = ListNode(splits.data(), static_cast<size_t>(splits.size()) - 1, OwnerOfPython(splits), std::move(node));
  }
  return Capsules(std::move(node));
}

std::string RequestedFormat(const py::capsule& capsule) {
  return InnermostFormat(FromCapsule<const ArrowSchema>(capsule, "arrow_schema"));
}

// ArrowColumn, whose kinds have different fields: for "values" `type` and `values`, an array or a RecordBatch; for
// "list" `splits` and `child`; for "fixed" `size` and `child`; for "struct" `fields`, a list of (name, node); for
// "dictionary" `values`, which are indices, and `child`; for "other" `type`. `valid` is 0 for rows that are null, or
// None.
NamedTuple arrow_node("tfrecord_fast._core.ArrowNode",
                      {"kind", "rows", "valid", "type", "values", "splits", "size", "child", "fields"});

// A read-only array over Arrow's memory, or over that of the import.
py::object WrapBlock(ElementType type, const Block& block) {
  const std::vector<ptrdiff_t> shape = {static_cast<ptrdiff_t>(block.count)};
  if (block.count == 0) return CopyArray(type, shape, nullptr);
  py::object array = WrapArray(type, shape, block.data, block.owner);
  py::detail::array_proxy(array.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return array;
}

py::object WrapNode(ArrowColumn column) {
  using Kind = ArrowColumn::Kind;
  constexpr const char* kKinds[] = {"null", "values", "list", "fixed", "struct", "dictionary", "other"};
  const py::object none = py::none();
  py::object valid = none, type = none, values = none, splits = none, child = none, fields = none;
  if (column.valid.data != nullptr) valid = WrapBlock(ElementType::kUInt8, column.valid);
  switch (column.kind) {
    case Kind::kNull:
      break;
    case Kind::kValues:
      type = py::str(TypeName(column.type));
      if (column.type == ElementType::kBytes) {
        auto batch = std::make_shared<RecordBatch>();
        batch->records = std::move(column.strings);
        batch->owners.push_back(std::move(column.owner));
        values = WrapRecordBatch(std::move(batch));
      } else {
        values = WrapBlock(column.type, column.values);
      }
      break;
    case Kind::kList:
      splits = WrapBlock(ElementType::kInt64, column.splits);
      child = WrapNode(std::move(column.children[0]));
      break;
    case Kind::kFixedList:
      child = WrapNode(std::move(column.children[0]));
      break;
    case Kind::kStruct: {
      py::list named;
      for (size_t i = 0; i < column.children.size(); ++i) {
        named.append(py::make_tuple(column.names[i], WrapNode(std::move(column.children[i]))));
      }
      fields = std::move(named);
      break;
    }
    case Kind::kDictionary:
      values = WrapBlock(ElementType::kInt64, column.values);
      child = WrapNode(std::move(column.children[0]));
      break;
    case Kind::kOther:
      type = py::str(column.format);
      break;
  }
  return arrow_node(kKinds[static_cast<size_t>(column.kind)], column.rows, std::move(valid), std::move(type),
                    std::move(values), std::move(splits), column.width, std::move(child), std::move(fields));
}

// The producer may be Python's.
void ReleaseWithGil(ArrowArray* array) {
  DropWithGil([array] { array->release(array); });
}

py::object ImportArray(const py::object& schema, const py::object& array) {
  auto* source = FromCapsule<ArrowArray>(array, "arrow_array");
  const auto* type = FromCapsule<ArrowSchema>(schema, "arrow_schema");
  ArrowColumn column;
  ThrowIfError(ImportArrow(*type, source, ReleaseWithGil, &column));
  return WrapNode(std::move(column));
}

// The chunks of a stream, one node each.
py::list ImportStream(const py::object& capsule) {
  std::vector<ArrowColumn> chunks;
  ThrowIfError(ImportArrowStream(FromCapsule<ArrowStream>(capsule, "arrow_array_stream"), ReleaseWithGil, &chunks));
  py::list nodes;
  for (ArrowColumn& chunk : chunks) nodes.append(WrapNode(std::move(chunk)));
  return nodes;
}

}  // namespace

void BindArrow(py::module_& m) {
  arrow_node.Bind(m);
  m.def("arrow_export", &Export, py::arg("values"), py::arg("offsets"), py::kw_only(), py::arg("strings"));
  m.def("arrow_requested_format", &RequestedFormat);
  m.def("arrow_array", &ImportArray, py::arg("schema"), py::arg("array"));
  m.def("arrow_stream", &ImportStream, py::arg("stream"));
}

}  // namespace tfr
