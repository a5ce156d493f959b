// RecordBatch as a Python type, written against CPython's slots, so that making `bytes` of a record costs little more
// than the bytes object itself.

#include <pybind11/numpy.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/boxed.h"

namespace py = pybind11;

namespace tfr {
namespace {

PyTypeObject* batch_type = nullptr;
PyTypeObject* batch_iterator_type = nullptr;
PyTypeObject* view_type = nullptr;

RecordWindow& Window(PyObject* object) { return Unbox<RecordWindow>(object); }

const Bytes& Row(const RecordWindow& window, size_t i) {
  return window.batch
      ->records[static_cast<size_t>(static_cast<ptrdiff_t>(window.start) + static_cast<ptrdiff_t>(i) * window.step)];
}

PyObject* BytesOf(const Bytes& record) {
  return PyBytes_FromStringAndSize(reinterpret_cast<const char*>(record.data), static_cast<Py_ssize_t>(record.size));
}

// A record that other objects may look into through the buffer protocol.
struct RecordView {
  RecordBatchPtr batch;
  Bytes record;
};

int GetBuffer(PyObject* self, Py_buffer* view, int flags) {
  const Bytes& record = Unbox<RecordView>(self).record;
  return PyBuffer_FillInfo(view, self, const_cast<uint8_t*>(record.data), static_cast<Py_ssize_t>(record.size), 1,
                           flags);
}

}  // namespace

bool IsRecordView(py::handle object) { return Py_TYPE(object.ptr()) == view_type; }

namespace {

// Raises IndexError and returns false if there is no row `index`; negative ones count from the end.
bool Resolve(const RecordWindow& window, Py_ssize_t index, size_t* row) {
  const Py_ssize_t size = static_cast<Py_ssize_t>(window.size);
  if (index < 0) index += size;
  if (index < 0 || index >= size) {
    PyErr_Format(PyExc_IndexError, "record index out of range for a batch of %zd", size);
    return false;
  }
  *row = static_cast<size_t>(index);
  return true;
}

Py_ssize_t Length(PyObject* self) { return static_cast<Py_ssize_t>(Window(self).size); }

PyObject* Item(PyObject* self, Py_ssize_t index) {
  size_t row;
  return Resolve(Window(self), index, &row) ? BytesOf(Row(Window(self), row)) : nullptr;
}

PyObject* Slice(PyObject* self, PyObject* slice) {
  Py_ssize_t start, stop, step;
  if (PySlice_Unpack(slice, &start, &stop, &step) < 0) return nullptr;
  const RecordWindow& window = Window(self);
  const Py_ssize_t size = PySlice_AdjustIndices(static_cast<Py_ssize_t>(window.size), &start, &stop, step);
  RecordWindow part = window;
  part.parsed = nullptr;
  part.size = static_cast<size_t>(size);
  if (size > 0) part.start = static_cast<size_t>(static_cast<ptrdiff_t>(window.start) + start * window.step);
  part.step = window.step * step;
  return Box(batch_type, std::move(part));
}

PyObject* Subscript(PyObject* self, PyObject* key) {
  if (PySlice_Check(key)) return Slice(self, key);
  if (!PyIndex_Check(key)) {
    PyErr_Format(PyExc_TypeError, "record indices are integers or slices, not %.200s", Py_TYPE(key)->tp_name);
    return nullptr;
  }
  const Py_ssize_t index = PyNumber_AsSsize_t(key, PyExc_IndexError);
  if (index == -1 && PyErr_Occurred()) return nullptr;
  return Item(self, index);
}

PyObject* View(PyObject* self, PyObject* key) {
  const Py_ssize_t index = PyNumber_AsSsize_t(key, PyExc_IndexError);
  if (index == -1 && PyErr_Occurred()) return nullptr;
  size_t row;
  if (!Resolve(Window(self), index, &row)) return nullptr;
  PyObject* exporter = Box(view_type, RecordView{Window(self).batch, Row(Window(self), row)});
  if (exporter == nullptr) return nullptr;
  PyObject* view = PyMemoryView_FromObject(exporter);
  Py_DECREF(exporter);
  return view;
}

PyObject* ToList(PyObject* self, PyObject*) {
  const RecordWindow& window = Window(self);
  PyObject* list = PyList_New(static_cast<Py_ssize_t>(window.size));
  if (list == nullptr) return nullptr;
  for (size_t i = 0; i < window.size; ++i) {
    PyObject* record = BytesOf(Row(window, i));
    if (record == nullptr) {
      Py_DECREF(list);
      return nullptr;
    }
    PyList_SET_ITEM(list, static_cast<Py_ssize_t>(i), record);
  }
  return list;
}

PyObject* ToArray(PyObject* self, PyObject* args, PyObject* kwargs) {
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
    const RecordWindow& window = Window(self);
    py::array array(py::dtype("O"), std::vector<py::ssize_t>{static_cast<py::ssize_t>(window.size)});
    auto** items = static_cast<PyObject**>(array.mutable_data());
    for (size_t i = 0; i < window.size; ++i) {
      PyObject* record = BytesOf(Row(window, i));
      if (record == nullptr) throw py::error_already_set();
      Py_XSETREF(items[i], record);
    }
    if (dtype != Py_None) return array.attr("astype")(py::handle(dtype)).release().ptr();
    return array.release().ptr();
  });
}

size_t TotalBytes(const RecordWindow& window) {
  size_t total = 0;
  for (size_t i = 0; i < window.size; ++i) total += Row(window, i).size;
  return total;
}

PyObject* GetNbytes(PyObject* self, void*) { return PyLong_FromSize_t(TotalBytes(Window(self))); }

PyObject* GetSizes(PyObject* self, void*) {
  return OrError([&] {
    const RecordWindow& window = Window(self);
    py::array_t<int64_t> sizes(static_cast<py::ssize_t>(window.size));
    int64_t* const out = sizes.mutable_data();
    for (size_t i = 0; i < window.size; ++i) out[i] = static_cast<int64_t>(Row(window, i).size);
    return sizes.release().ptr();
  });
}

PyObject* Repr(PyObject* self) {
  return PyUnicode_FromFormat("<RecordBatch of %zu records, %zu bytes>", Window(self).size, TotalBytes(Window(self)));
}

// Pickled as the records' bytes in one string and their sizes in another.
PyObject* Reduce(PyObject* self, PyObject*) {
  const RecordWindow& window = Window(self);
  PyObject* data = PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(TotalBytes(window)));
  PyObject* sizes = PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(window.size * sizeof(uint64_t)));
  PyObject* core = PyImport_ImportModule("tfrecord_fast._core");
  PyObject* restore = core == nullptr ? nullptr : PyObject_GetAttrString(core, "restore_record_batch");
  PyObject* result = nullptr;
  if (data != nullptr && sizes != nullptr && restore != nullptr) {
    char* to = PyBytes_AS_STRING(data);
    for (size_t i = 0; i < window.size; ++i) {
      const Bytes& record = Row(window, i);
      const uint64_t size = record.size;
      if (size > 0) std::memcpy(to, record.data, size);
      std::memcpy(PyBytes_AS_STRING(sizes) + i * sizeof size, &size, sizeof size);
      to += size;
    }
    result = Py_BuildValue("(O(OO))", restore, data, sizes);
  }
  Py_XDECREF(restore);
  Py_XDECREF(core);
  Py_XDECREF(sizes);
  Py_XDECREF(data);
  return result;
}

py::object Restore(const py::bytes& data, const py::bytes& sizes) {
  char* bytes;
  Py_ssize_t total;
  char* size_bytes;
  Py_ssize_t sizes_total;
  if (PyBytes_AsStringAndSize(data.ptr(), &bytes, &total) < 0) throw py::error_already_set();
  if (PyBytes_AsStringAndSize(sizes.ptr(), &size_bytes, &sizes_total) < 0) throw py::error_already_set();
  auto batch = std::make_shared<RecordBatch>();
  size_t used = 0;
  for (Py_ssize_t i = 0; i + 8 <= sizes_total; i += 8) {
    uint64_t size;
    std::memcpy(&size, size_bytes + i, sizeof size);
    if (size > static_cast<size_t>(total) - used) throw py::value_error("damaged pickle of a RecordBatch");
    batch->records.push_back({reinterpret_cast<const uint8_t*>(bytes) + used, static_cast<size_t>(size)});
    used += size;
  }
  if (sizes_total % 8 != 0 || used != static_cast<size_t>(total))
    throw py::value_error("damaged pickle of a RecordBatch");
  batch->owners.push_back(OwnerOfPython(data));
  return WrapRecordBatch(std::move(batch));
}

// Appends where the rows of a window come from to a batch whose next row is `first`.
void AppendOrigins(const RecordWindow& window, size_t first, std::vector<Origin>* origins) {
  const std::vector<Origin>& known = window.batch->origins;
  if (known.empty() || window.step <= 0) {
    for (size_t i = 0; i < window.size && !known.empty(); ++i) {
      Origin origin = OriginOfRow(*window.batch, window.start - i * static_cast<size_t>(-window.step));
      origin.first_row = first + i;
      origins->push_back(std::move(origin));
    }
    if (known.empty() && !origins->empty()) origins->push_back({first, nullptr, -1});
    return;
  }
  const size_t step = static_cast<size_t>(window.step);
  size_t i = 0;
  for (size_t run = 0; run < known.size() && i < window.size; ++run) {
    const size_t end = run + 1 < known.size() ? known[run + 1].first_row : window.batch->size();
    const size_t row = window.start + i * step;
    if (row >= end) continue;
    // Each run is looked at once: an interleaved batch has one for every few records.
    Origin origin = row < known[run].first_row ? Origin{row, nullptr, -1} : OriginOfRow(known[run], row);
    origin.first_row = first + i;
    origin.stride = known[run].stride * window.step;
    origins->push_back(std::move(origin));
    i += (end - row + step - 1) / step;
  }
}

// One batch of the records of several; views into the same buffers, which it keeps.
py::object Concatenate(const py::sequence& batches) {
  auto joined = std::make_shared<RecordBatch>();
  for (const py::handle& object : batches) {
    RecordWindow window;
    if (!UnwrapRecordBatch(object, &window)) throw py::type_error("only RecordBatches can be concatenated");
    AppendOrigins(window, joined->records.size(), &joined->origins);
    for (size_t i = 0; i < window.size; ++i) joined->records.push_back(Row(window, i));
    joined->owners.push_back(window.batch);
  }
  return WrapRecordBatch(std::move(joined));
}

// A batch of these rows of another, in this order; views into the same buffers. Where they come from is not kept.
py::object TakeRows(py::handle batch, const py::array_t<int64_t, py::array::c_style>& rows) {
  RecordWindow window;
  if (!UnwrapRecordBatch(batch, &window)) throw py::type_error("only of a RecordBatch rows can be taken");
  auto taken = std::make_shared<RecordBatch>();
  const int64_t* const row = rows.data();
  const size_t count = static_cast<size_t>(rows.size());
  taken->records.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    if (row[i] < 0 || static_cast<size_t>(row[i]) >= window.size)
      throw py::index_error("row " + std::to_string(row[i]) + " of a batch of " + std::to_string(window.size));
    taken->records.push_back(Row(window, static_cast<size_t>(row[i])));
  }
  taken->owners.push_back(window.batch);
  return WrapRecordBatch(std::move(taken));
}

struct Cursor {
  RecordWindow window;
  size_t next = 0;
};

PyObject* Iterate(PyObject* self) {
  RecordWindow window = Window(self);
  window.parsed = nullptr;
  return Box(batch_iterator_type, Cursor{std::move(window), 0});
}

PyObject* Next(PyObject* self) {
  Cursor& cursor = Unbox<Cursor>(self);
  return cursor.next < cursor.window.size ? BytesOf(Row(cursor.window, cursor.next++)) : nullptr;
}

PyMethodDef batch_methods[] = {
    {"view", View, METH_O,
     "view(i) -> memoryview\n\nRecord i as a read-only memoryview into the batch's buffer; no copy. It keeps the "
     "buffer alive."},
    {"tolist", ToList, METH_NOARGS, "tolist() -> list of bytes, one per record."},
    {"__array__", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(ToArray)), METH_VARARGS | METH_KEYWORDS,
     "__array__(dtype=None, copy=None) -> ndarray [n], dtype object, of bytes."},
    {"__reduce__", Reduce, METH_NOARGS, "Pickles the records' bytes."},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef batch_properties[] = {
    {"nbytes", GetNbytes, nullptr, "int: the size in bytes of all records together, without framing.", nullptr},
    {"sizes", GetSizes, nullptr,
     "ndarray [n], int64: the size in bytes of each record, without framing. A new array each time.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

constexpr char kBatchDoc[] =
    "n serialized records that share one refcounted buffer, or several.\n\n"
    "len(batch) is n, batch[i] bytes, batch.view(i) a read-only memoryview without a copy, batch[a:b:c] another batch\n"
    "without a copy; iterating gives bytes, np.asarray(batch) an object array [n] of bytes. Immutable; pickles.";

}  // namespace

py::object WrapRecordBatch(RecordBatchPtr batch, std::shared_ptr<ParsedAhead> parsed) {
  const size_t size = batch->size();
  PyObject* object = Box(batch_type, RecordWindow{std::move(batch), 0, 1, size, std::move(parsed)});
  if (object == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(object);
}

bool UnwrapRecordBatch(py::handle object, RecordWindow* window) {
  if (Py_TYPE(object.ptr()) != batch_type) return false;
  *window = Window(object.ptr());
  return true;
}

void BindRecordBatch(py::module_& m) {
  batch_type = MakeType("tfrecord_fast.RecordBatch", sizeof(Boxed<RecordWindow>),
                        {{Py_tp_dealloc, Slot(Dealloc<RecordWindow>)},
                         {Py_sq_length, Slot(Length)},
                         {Py_sq_item, Slot(Item)},
                         {Py_mp_length, Slot(Length)},
                         {Py_mp_subscript, Slot(Subscript)},
                         {Py_tp_iter, Slot(Iterate)},
                         {Py_tp_repr, Slot(Repr)},
                         {Py_tp_methods, batch_methods},
                         {Py_tp_getset, batch_properties}},
                        kBatchDoc);
  batch_iterator_type = MakeType(
      "tfrecord_fast._core.RecordBatchIterator", sizeof(Boxed<Cursor>),
      {{Py_tp_dealloc, Slot(Dealloc<Cursor>)}, {Py_tp_iter, Slot(PyObject_SelfIter)}, {Py_tp_iternext, Slot(Next)}},
      nullptr);
  view_type = MakeType("tfrecord_fast._core.RecordView", sizeof(Boxed<RecordView>),
                       {{Py_tp_dealloc, Slot(Dealloc<RecordView>)}, {Py_bf_getbuffer, Slot(GetBuffer)}}, nullptr);
  m.attr("RecordBatch") = py::handle(reinterpret_cast<PyObject*>(batch_type));
  m.def("concatenate", &Concatenate, py::arg("batches"));
  m.def("take_rows", &TakeRows, py::arg("batch"), py::arg("rows"));
  m.def("restore_record_batch", &Restore);
  m.def(
      "record_batch", [](py::handle records) { return WrapRecordBatch(RecordsFromPython(records)); },
      "A RecordBatch of a sequence of bytes-like objects.");
}

}  // namespace tfr
