// Encoding columns; see encode.h. The GIL is held while columns are looked at, and released while they are encoded.

#include "bindings/encode.h"

#include <pybind11/numpy.h>

#include <string>
#include <string_view>
#include <utility>

#include "bindings/bindings.h"
#include "bindings/boxed.h"
#include "bindings/bytes_like.h"
#include "bindings/gil.h"
#include "encode/encode.h"

namespace py = pybind11;

namespace tfr {
namespace {

// An array that may be None, as it lies in memory.
template <typename T>
struct OptionalArray {
  const T* data = nullptr;
  size_t size = 0;
  Owner owner;

  explicit OptionalArray(py::handle object) {
    if (object.is_none()) return;
    auto array = py::cast<py::array_t<T, py::array::c_style>>(object);
    data = array.data();
    size = static_cast<size_t>(array.size());
    owner = OwnerOfPython(std::move(array));
  }

  // The array, for a column that needs `needed` of its values.
  const T* Of(size_t needed, const char* name, std::vector<Owner>* owners) const {
    if (data == nullptr) return nullptr;
    if (size < needed) throw py::value_error(std::string(name) + " is too short");
    owners->push_back(owner);
    return data;
  }
};

// A column as Python passes it: how long its arrays must be depends on the rows, which are known later. A type of
// CPython's slots, as one is made per column and call. Splits and steps are arrays that no one else writes to: see
// EncodeColumn.
struct PyEncodeColumn {
  EncodeColumn column;  // without the optional arrays
  Owner values_owner;
  OptionalArray<int64_t> splits, steps;
  OptionalArray<uint8_t> valid, row_valid;

  PyEncodeColumn(std::string_view key, const char* type, py::handle values, size_t count, py::handle splits,
                 py::handle valid, py::handle steps, py::handle row_valid)
      : splits(splits), steps(steps), valid(valid), row_valid(row_valid) {
    column.key = key;
    column.count = count;
    if (!TypeNamed(type, &column.type))
      throw py::type_error("feature '" + column.key + "': unknown element type " + type);
    if (column.type == ElementType::kBytes) {
      const PyRecordBatch* const window = UnwrapRecordBatch(values);
      if (window == nullptr) throw py::type_error("feature '" + column.key + "': not a RecordBatch");
      RecordBatchPtr strings = BatchOf(*window);
      column.values = strings->records.data();
      column.value_count = strings->size();
      values_owner = std::move(strings);
    } else {
      auto array = values.cast<py::array>();
      if (!(array.flags() & py::array::c_style)) throw py::value_error("feature '" + column.key + "': not contiguous");
      // Values of another size would be read as if they were these, and beyond their end.
      if (static_cast<size_t>(array.itemsize()) != ItemSize(column.type)) {
        throw py::type_error("feature '" + column.key + "': not values of type " + type);
      }
      column.values = array.data();
      column.value_count = static_cast<size_t>(array.size());
      values_owner = OwnerOfPython(std::move(array));
    }
  }

  EncodeColumn OfRows(size_t rows, std::vector<Owner>* owners) const {
    EncodeColumn whole = column;
    owners->push_back(values_owner);
    whole.steps = steps.Of(rows + 1, "steps", owners);
    whole.row_valid = row_valid.Of(rows, "row_valid", owners);
    const size_t items = whole.ItemCount(rows);
    whole.splits = splits.Of(items + 1, "splits", owners);
    whole.valid = valid.Of(items, "valid", owners);
    return whole;
  }
};

PyTypeObject* column_type = nullptr;

// EncodeColumn(*, key, type, values, count=1, splits=None, valid=None, steps=None, row_valid=None)
PyObject* NewColumn(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"key", "type", "values", "count", "splits", "valid", "steps", "row_valid", nullptr};
  Py_ssize_t count = 1, key_size;
  const char* element = nullptr;
  PyObject *name = nullptr, *values = nullptr, *splits = Py_None, *valid = Py_None, *steps = Py_None,
           *row_valid = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$UsOnOOOO:EncodeColumn", const_cast<char**>(names), &name, &element,
                                   &values, &count, &splits, &valid, &steps, &row_valid)) {
    return nullptr;
  }
  if (name == nullptr || element == nullptr || values == nullptr) {
    PyErr_SetString(PyExc_TypeError, "EncodeColumn needs key, type and values");
    return nullptr;
  }
  const char* const key = PyUnicode_AsUTF8AndSize(name, &key_size);
  if (key == nullptr) return nullptr;
  if (count < 0) throw py::value_error("count is negative");
  try {
    return Box(type, PyEncodeColumn({key, static_cast<size_t>(key_size)}, element, values, static_cast<size_t>(count),
                                    splits, valid, steps, row_valid));
  } catch (const py::cast_error& error) {
    throw py::type_error(error.what());
  }
}

std::vector<EncodeColumn> ColumnsOf(const py::sequence& given, size_t rows, std::vector<Owner>* owners) {
  std::vector<EncodeColumn> columns;
  for (const py::handle column : given) {
    if (Py_TYPE(column.ptr()) != column_type) throw py::type_error("not an EncodeColumn");
    columns.push_back(Unbox<PyEncodeColumn>(column.ptr()).OfRows(rows, owners));
  }
  return columns;
}

py::object Encode(MessageType type, const py::sequence& columns, const py::sequence& lists, size_t rows,
                  size_t num_threads) {
  std::vector<Owner> owners;
  RowEncoder encoder;
  InitEncoder(type, columns, lists, rows, &encoder, &owners);
  RecordBatchPtr batch;
  RunWithoutGil([&] { return EncodeRows(encoder, num_threads, &batch); });
  return WrapRecordBatch(std::move(batch));
}

py::object EncodeExamples(const py::sequence& columns, size_t rows, size_t num_threads) {
  return Encode(MessageType::kExample, columns, py::list(), rows, num_threads);
}

py::object EncodeSequenceExamples(const py::sequence& context, const py::sequence& lists, size_t rows,
                                  size_t num_threads) {
  return Encode(MessageType::kSequenceExample, context, lists, rows, num_threads);
}

}  // namespace

void InitEncoder(MessageType type, const py::sequence& columns, const py::sequence& lists, size_t rows,
                 RowEncoder* encoder, std::vector<Owner>* owners) {
  std::vector<EncodeColumn> first = ColumnsOf(columns, rows, owners);
  std::vector<EncodeColumn> second = ColumnsOf(lists, rows, owners);
  RunWithoutGil([&] { return encoder->Init(type, std::move(first), std::move(second), rows); });
}

void BindEncode(py::module_& m) {
  BindBytesLike(m);
  BindBytesViews(m);
  column_type = MakeType("tfrecord_fast._core.EncodeColumn", sizeof(Boxed<PyEncodeColumn>),
                         {{Py_tp_new, Slot(Guarded<NewColumn>)}, {Py_tp_dealloc, Slot(Dealloc<PyEncodeColumn>)}},
                         "One feature of all rows, for the encoder.", Py_TPFLAGS_DEFAULT);
  m.attr("EncodeColumn") = py::handle(reinterpret_cast<PyObject*>(column_type));
  m.def("encode_examples", &EncodeExamples, py::arg("columns"), py::arg("rows"), py::arg("num_threads"));
  m.def("encode_sequence_examples", &EncodeSequenceExamples, py::arg("context"), py::arg("lists"), py::arg("rows"),
        py::arg("num_threads"));
}

}  // namespace tfr
