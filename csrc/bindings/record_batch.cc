// RecordBatch as a Python type, written against CPython's slots, so that making `bytes` of a record costs little more
// than the bytes object itself.

#include <pybind11/numpy.h>

#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/boxed.h"
#include "bindings/bytes_sequence.h"

namespace py = pybind11;

namespace tfr {
namespace {

constexpr char kBatchName[] = "a RecordBatch";

PyTypeObject* batch_type = nullptr;

PyRecordBatch& BatchIn(PyObject* object) { return Unbox<PyRecordBatch>(object); }

ByteStrings RowsOf(const RecordWindow& window) {
  return {window.batch->records.data() + window.start, window.size, window.step};
}

const PyRecordBatch& BatchOfObject(py::handle object) {
  const PyRecordBatch* batch = UnwrapRecordBatch(object);
  if (batch == nullptr) {
    throw py::type_error(std::string("expected a RecordBatch, got ") + Py_TYPE(object.ptr())->tp_name);
  }
  return *batch;
}

Py_ssize_t BatchLength(PyObject* self) { return static_cast<Py_ssize_t>(BatchIn(self).size); }

PyObject* BatchItem(PyObject* self, Py_ssize_t number) {
  const PyRecordBatch& batch = BatchIn(self);
  size_t row;
  return ResolveIndex(number, batch.size, kBatchName, &row) ? MakeBytes(RowsOf(batch)[row]) : nullptr;
}

PyObject* BatchSlice(PyObject* self, PyObject* slice) {
  Py_ssize_t start, stop, step;
  if (PySlice_Unpack(slice, &start, &stop, &step) < 0) return nullptr;
  PyRecordBatch rows = BatchIn(self);
  const Py_ssize_t size = PySlice_AdjustIndices(static_cast<Py_ssize_t>(rows.size), &start, &stop, step);
  rows.parsed = nullptr;
  rows.size = static_cast<size_t>(size);
  if (size > 0) rows.start = static_cast<size_t>(static_cast<ptrdiff_t>(rows.start) + start * rows.step);
  rows.step *= step;
  return Box(batch_type, std::move(rows));
}

PyObject* BatchSubscript(PyObject* self, PyObject* key) {
  if (PySlice_Check(key)) return BatchSlice(self, key);
  if (!PyIndex_Check(key)) {
    PyErr_Format(PyExc_TypeError, "record indices are integers or slices, not %.200s", Py_TYPE(key)->tp_name);
    return nullptr;
  }
  const Py_ssize_t number = PyNumber_AsSsize_t(key, PyExc_IndexError);
  if (number == -1 && PyErr_Occurred()) return nullptr;
  return BatchItem(self, number);
}

PyObject* BatchView(PyObject* self, PyObject* key) {
  const PyRecordBatch& batch = BatchIn(self);
  return ViewOf(key, RowsOf(batch), kBatchName, batch.batch);
}

PyObject* BatchToList(PyObject* self, PyObject*) { return ListOf(RowsOf(BatchIn(self))); }

PyObject* BatchToArray(PyObject* self, PyObject* args, PyObject* kwargs) {
  PyObject* dtype = Py_None;
  PyObject* copy = Py_None;
  static const char* names[] = {"dtype", "copy", nullptr};
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OO:__array__", const_cast<char**>(names), &dtype, &copy))
    return nullptr;
  if (copy == Py_False) {
    PyErr_SetString(PyExc_ValueError,
                    "a RecordBatch holds no Python objects: an array of its records is always a copy");
    return nullptr;
  }
  return OrError([&] {
    const ByteStrings rows = RowsOf(BatchIn(self));
    py::array array(py::dtype("O"), std::vector<py::ssize_t>{static_cast<py::ssize_t>(rows.size)});
    auto** items = static_cast<PyObject**>(array.mutable_data());
    for (size_t i = 0; i < rows.size; ++i) {
      PyObject* record = MakeBytes(rows[i]);
      if (record == nullptr) throw py::error_already_set();
      Py_XSETREF(items[i], record);
    }
    if (dtype != Py_None) return array.attr("astype")(py::handle(dtype)).release().ptr();
    return array.release().ptr();
  });
}

PyObject* BatchNbytes(PyObject* self, void*) { return PyLong_FromSize_t(TotalBytes(RowsOf(BatchIn(self)))); }

PyObject* BatchSizes(PyObject* self, void*) {
  return OrError([&] { return SizesOf(RowsOf(BatchIn(self))).release().ptr(); });
}

PyObject* BatchRepr(PyObject* self) {
  const ByteStrings rows = RowsOf(BatchIn(self));
  return PyUnicode_FromFormat("<RecordBatch of %zu records, %zu bytes>", rows.size, TotalBytes(rows));
}

// Pickles the records' bytes in one string and their sizes in another.
PyObject* BatchReduce(PyObject* self, PyObject*) {
  return OrError([&] {
    const ByteStrings rows = RowsOf(BatchIn(self));
    const py::object restore = py::module_::import("tfrecord_fast._core").attr("restore_record_batch");
    const py::object sizes = SizesOf(rows).attr("tobytes")();
    return py::make_tuple(restore, py::make_tuple(Joined(rows), sizes)).release().ptr();
  });
}

py::object Restore(const py::bytes& data, const py::bytes& sizes) {
  const std::string_view bytes = data, size_bytes = sizes;
  auto batch = std::make_shared<RecordBatch>();
  size_t used = 0;
  for (size_t i = 0; i + 8 <= size_bytes.size(); i += 8) {
    uint64_t size;
    std::memcpy(&size, size_bytes.data() + i, sizeof size);
    if (size > bytes.size() - used) throw py::value_error("damaged pickle of a RecordBatch");
    batch->records.push_back({reinterpret_cast<const uint8_t*>(bytes.data()) + used, static_cast<size_t>(size)});
    used += size;
  }
  if (size_bytes.size() % 8 != 0 || used != bytes.size()) throw py::value_error("damaged pickle of a RecordBatch");
  batch->owners.push_back(OwnerOfPython(data));
  return WrapRecordBatch(std::move(batch));
}

// One batch of the records of several; views into the same buffers, which it keeps.
py::object ConcatenateBatches(const py::sequence& batches) {
  auto joined = std::make_shared<RecordBatch>();
  for (const py::handle& object : batches) {
    const PyRecordBatch& batch = BatchOfObject(object);
    const ByteStrings rows = RowsOf(batch);
    AppendOrigins(batch, joined->records.size(), &joined->origins);
    for (size_t i = 0; i < rows.size; ++i) joined->records.push_back(rows[i]);
    joined->owners.push_back(batch.batch);
  }
  return WrapRecordBatch(std::move(joined));
}

// A batch of these rows of another, in this order; views into the same buffers, without origins.
py::object TakeRows(py::handle object, const py::array_t<int64_t, py::array::c_style>& rows) {
  const PyRecordBatch& batch = BatchOfObject(object);
  const auto count = static_cast<size_t>(rows.size());
  auto taken = std::make_shared<RecordBatch>();
  taken->records.resize(count);
  TakeStrings(RowsOf(batch), rows.data(), count, kBatchName, taken->records.data());
  taken->owners.push_back(batch.batch);
  return WrapRecordBatch(std::move(taken));
}

PyObject* BatchIterate(PyObject* self) { return IteratorOf(self, RowsOf(BatchIn(self))); }

PyMethodDef batch_methods[] = {
    {"view", BatchView, METH_O,
     "view(i) -> memoryview\n\nRecord i as a read-only memoryview into the batch's buffer; no copy. It keeps the "
     "buffer alive."},
    {"tolist", BatchToList, METH_NOARGS, "tolist() -> list of bytes, one per record."},
    {"__array__", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(BatchToArray)), METH_VARARGS | METH_KEYWORDS,
     "__array__(dtype=None, copy=None) -> ndarray [n], dtype object, of bytes."},
    {"__reduce__", BatchReduce, METH_NOARGS, "Pickles the records' bytes."},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef batch_properties[] = {
    {"nbytes", BatchNbytes, nullptr, "int: the size in bytes of all records together, without framing.", nullptr},
    {"sizes", BatchSizes, nullptr,
     "ndarray [n], int64: the size in bytes of each record, without framing. A new array each time.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

constexpr char kBatchDoc[] =
    "n serialized records that share one refcounted buffer, or several.\n\n"
    "len(batch) is n, batch[i] bytes, batch.view(i) a read-only memoryview without a copy, batch[a:b:c] another batch\n"
    "without a copy; iterating yields bytes, np.asarray(batch) an object array [n] of bytes. Immutable; pickles.\n\n"
    ">>> import tfrecord_fast as tf\n"
    ">>> batch = tf.encode_examples({\"id\": [1, 2, 3]})\n"
    ">>> len(batch), len(batch[1:]), type(batch[0])\n"
    "(3, 2, <class 'bytes'>)";

}  // namespace

py::object WrapRecordBatch(RecordBatchPtr batch, std::shared_ptr<ParsedAhead> parsed) {
  const size_t size = batch->size();
  PyObject* object = Box(batch_type, PyRecordBatch{{std::move(batch), 0, 1, size}, std::move(parsed)});
  if (object == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(object);
}

const PyRecordBatch* UnwrapRecordBatch(py::handle object) {
  return Py_TYPE(object.ptr()) == batch_type ? &BatchIn(object.ptr()) : nullptr;
}

void BindRecordBatch(py::module_& m) {
  BindBytesSequence();
  batch_type = MakeType("tfrecord_fast.RecordBatch", sizeof(Boxed<PyRecordBatch>),
                        {{Py_tp_dealloc, Slot(Dealloc<PyRecordBatch>)},
                         {Py_sq_length, Slot(BatchLength)},
                         {Py_sq_item, Slot(BatchItem)},
                         {Py_mp_length, Slot(BatchLength)},
                         {Py_mp_subscript, Slot(BatchSubscript)},
                         {Py_tp_iter, Slot(BatchIterate)},
                         {Py_tp_repr, Slot(BatchRepr)},
                         {Py_tp_methods, batch_methods},
                         {Py_tp_getset, batch_properties}},
                        kBatchDoc);
  m.attr("RecordBatch") = py::handle(reinterpret_cast<PyObject*>(batch_type));
  m.def("concatenate", &ConcatenateBatches, py::arg("batches"));
  m.def("take_rows", &TakeRows, py::arg("batch"), py::arg("rows"));
  m.def("restore_record_batch", &Restore);
  m.def("record_batch", [](py::handle records) { return WrapRecordBatch(RecordsFromPython(records)); });
}

}  // namespace tfr
