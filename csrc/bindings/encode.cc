// encode_examples; see encode.h. The GIL is held while columns are looked at and let go of while they are encoded.

#include "bindings/encode.h"

#include <pybind11/numpy.h>

#include <string>
#include <utility>

#include "bindings/bindings.h"
#include "bindings/bytes_views.h"
#include "encode/encode.h"

namespace py = pybind11;

namespace tfr {
namespace {

template <typename T>
const T* OptionalArray(const py::handle& object, size_t size, const char* what, std::vector<Owner>* owners) {
  if (object.is_none()) return nullptr;
  auto array = py::cast<py::array_t<T, py::array::c_style>>(object);
  if (static_cast<size_t>(array.size()) < size) throw py::value_error(std::string(what) + " is too short");
  const T* data = array.data();
  owners->push_back(OwnerOfPython(std::move(array)));
  return data;
}

EncodeColumn ColumnOf(const py::tuple& from, size_t rows, std::vector<Owner>* owners) {
  EncodeColumn column;
  column.key = from[0].cast<std::string>();
  const auto type = from[1].cast<std::string>();
  if (!ElementTypeOf(type, &column.type)) throw py::type_error("feature '" + column.key + "': no element type " + type);
  if (column.type == ElementType::kBytes) {
    auto views = from[2].cast<BytesViewsPtr>();
    column.values = views->views.data();
    column.value_count = views->views.size();
    owners->push_back(std::move(views));
  } else {
    auto values = from[2].cast<py::array>();
    if (!(values.flags() & py::array::c_style)) throw py::value_error("feature '" + column.key + "': not contiguous");
    column.values = values.data();
    column.value_count = static_cast<size_t>(values.size());
    owners->push_back(OwnerOfPython(std::move(values)));
  }
  column.count = from[3].cast<size_t>();
  column.steps = OptionalArray<int64_t>(from[6], rows + 1, "steps", owners);
  column.row_valid = OptionalArray<uint8_t>(from[7], rows, "row_valid", owners);
  const size_t items = column.ItemCount(rows);
  column.splits = OptionalArray<int64_t>(from[4], items + 1, "splits", owners);
  column.valid = OptionalArray<uint8_t>(from[5], items, "valid", owners);
  return column;
}

std::vector<EncodeColumn> ColumnsOf(const py::sequence& from, size_t rows, std::vector<Owner>* owners) {
  std::vector<EncodeColumn> columns;
  for (const py::handle column : from) columns.push_back(ColumnOf(py::cast<py::tuple>(column), rows, owners));
  return columns;
}

py::object Encode(const py::sequence& columns, const py::sequence& lists, bool sequence, size_t rows, size_t num_threads) {
  std::vector<Owner> owners;
  RowEncoder encoder;
  InitEncoder(columns, lists, sequence, rows, &encoder, &owners);
  RecordBatchPtr batch;
  Status status;
  {
    py::gil_scoped_release no_gil;
    status = EncodeRows(encoder, num_threads, &batch);
  }
  ThrowIfError(status);
  return WrapRecordBatch(std::move(batch));
}

}  // namespace

void InitEncoder(const py::sequence& columns, const py::sequence& lists, bool sequence, size_t rows, RowEncoder* encoder,
                 std::vector<Owner>* owners) {
  std::vector<EncodeColumn> first = ColumnsOf(columns, rows, owners);
  std::vector<EncodeColumn> second = ColumnsOf(lists, rows, owners);
  Status status;
  {
    py::gil_scoped_release no_gil;
    status = encoder->Init(std::move(first), std::move(second), sequence, rows);
  }
  ThrowIfError(status);
}

void BindEncode(py::module_& m) {
  BindBytesViews(m);
  BindArrowImport(m);
  m.def("_encode_rows", &Encode, py::arg("columns"), py::arg("lists"), py::arg("sequence"), py::arg("rows"), py::arg("num_threads"));
}

}  // namespace tfr
