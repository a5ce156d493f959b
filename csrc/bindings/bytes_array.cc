// The native half of BytesArray; what need not be fast is in tfrecord_fast/values/columns/bytes_array.py, a subclass.

#include "bindings/bytes_array.h"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/buffer.h"
#include "bindings/bindings.h"
#include "bindings/boxed.h"
#include "bindings/gil.h"
#include "bindings/numpy_api.h"
#include "parse/columns.h"

namespace py = pybind11;

namespace tfr {
namespace {

PyTypeObject* base_type = nullptr;    // _core.BytesArrayBase
PyTypeObject* public_type = nullptr;  // tfrecord_fast.BytesArray, once it has been registered
PyTypeObject* view_type = nullptr;
PyTypeObject* iterator_type = nullptr;

BytesArray& Value(PyObject* object) { return Unbox<BytesArray>(object); }
const BytesArray& Value(py::handle object) {
  const BytesArray* array = UnwrapBytes(object);
  if (array == nullptr) throw py::type_error("expected a BytesArray");
  return *array;
}

PyObject* MakeBytes(const Bytes& bytes) {
  return PyBytes_FromStringAndSize(reinterpret_cast<const char*>(bytes.data), static_cast<Py_ssize_t>(bytes.size));
}

// One element, which a memoryview looks into.
struct Element {
  Bytes bytes;
  std::shared_ptr<const std::vector<Owner>> owners;
};

int GetBuffer(PyObject* self, Py_buffer* view, int flags) {
  const Bytes& bytes = Unbox<Element>(self).bytes;
  return PyBuffer_FillInfo(view, self, const_cast<uint8_t*>(bytes.data), static_cast<Py_ssize_t>(bytes.size), 1, flags);
}

}  // namespace

bool IsBytesView(py::handle object) { return Py_TYPE(object.ptr()) == view_type; }

namespace {

bool Resolve(Py_ssize_t length, Py_ssize_t index, size_t* row) {
  if (index < 0) index += length;
  if (index < 0 || index >= length) {
    PyErr_Format(PyExc_IndexError, "index out of range for a BytesArray of %zd", length);
    return false;
  }
  *row = static_cast<size_t>(index);
  return true;
}

Py_ssize_t Length(PyObject* self) {
  const BytesArray& array = Value(self);
  if (!array.shape.empty()) return array.shape[0];
  PyErr_SetString(PyExc_TypeError, "len() of an unsized BytesArray");
  return -1;
}

// `count` rows of the first axis, from `first`.
BytesArray Rows(const BytesArray& array, size_t first, size_t count) {
  BytesArray part = array;
  const size_t row_size = array.shape[0] > 0 ? array.size() / static_cast<size_t>(array.shape[0]) : 0;
  part.views += first * row_size;
  part.shape[0] = static_cast<ptrdiff_t>(count);
  return part;
}

PyObject* Item(PyObject* self, Py_ssize_t index) {
  const BytesArray& array = Value(self);
  const Py_ssize_t length = Length(self);
  size_t row;
  if (length < 0 || !Resolve(length, index, &row)) return nullptr;
  if (array.shape.size() == 1) return MakeBytes(array.views[row]);
  return OrError([&] {
    BytesArray part = Rows(array, row, 1);
    part.shape.erase(part.shape.begin());
    return WrapBytes(std::move(part)).release().ptr();
  });
}

PyObject* Subscript(PyObject* self, PyObject* key) {
  const BytesArray& array = Value(self);
  // An index array offers __index__ as well, but is a sequence.
  if (PyIndex_Check(key) && !PySequence_Check(key) && !array.shape.empty()) {
    const Py_ssize_t index = PyNumber_AsSsize_t(key, PyExc_IndexError);
    if (index == -1 && PyErr_Occurred()) return nullptr;
    return Item(self, index);
  }
  if (PySlice_Check(key) && !array.shape.empty()) {
    Py_ssize_t start, stop, step;
    if (PySlice_Unpack(key, &start, &stop, &step) < 0) return nullptr;
    const Py_ssize_t count = PySlice_AdjustIndices(array.shape[0], &start, &stop, step);
    if (step == 1) {
      return OrError([&] {
        return WrapBytes(Rows(array, static_cast<size_t>(start), static_cast<size_t>(count))).release().ptr();
      });
    }
  }
  return PyObject_CallMethod(self, "_index", "(O)", key);  // the brackets keep a tuple from being spread
}

PyObject* View(PyObject* self, PyObject* key) {
  const BytesArray& array = Value(self);
  const Py_ssize_t index = PyNumber_AsSsize_t(key, PyExc_IndexError);
  if (index == -1 && PyErr_Occurred()) return nullptr;
  size_t row;
  if (!Resolve(static_cast<Py_ssize_t>(array.size()), index, &row)) return nullptr;
  PyObject* exporter = Box(view_type, Element{array.views[row], array.owners});
  if (exporter == nullptr) return nullptr;
  PyObject* view = PyMemoryView_FromObject(exporter);
  Py_DECREF(exporter);
  return view;
}

PyObject* ListOf(const Bytes*& next, const std::vector<ptrdiff_t>& shape, size_t axis) {
  if (axis == shape.size()) return MakeBytes(*next++);
  PyObject* list = PyList_New(shape[axis]);
  if (list == nullptr) return nullptr;
  for (ptrdiff_t i = 0; i < shape[axis]; ++i) {
    PyObject* item = ListOf(next, shape, axis + 1);
    if (item == nullptr) {
      Py_DECREF(list);
      return nullptr;
    }
    PyList_SET_ITEM(list, i, item);
  }
  return list;
}

PyObject* ToList(PyObject* self, PyObject*) {
  const Bytes* next = Value(self).views;
  return ListOf(next, Value(self).shape, 0);
}

struct Cursor {
  PyObject* array;  // owned
  Py_ssize_t next;
};

PyObject* Iterate(PyObject* self) {
  if (Length(self) < 0) return nullptr;
  Py_INCREF(self);
  PyObject* iterator = Box(iterator_type, Cursor{self, 0});
  if (iterator == nullptr) Py_DECREF(self);
  return iterator;
}

PyObject* Next(PyObject* self) {
  Cursor& cursor = Unbox<Cursor>(self);
  return cursor.next < Value(cursor.array).shape[0] ? Item(cursor.array, cursor.next++) : nullptr;
}

void DeallocIterator(PyObject* self) {
  Py_DECREF(Unbox<Cursor>(self).array);
  Dealloc<Cursor>(self);
}

PyObject* GetShape(PyObject* self, void*) {
  const std::vector<ptrdiff_t>& shape = Value(self).shape;
  PyObject* tuple = PyTuple_New(static_cast<Py_ssize_t>(shape.size()));
  if (tuple == nullptr) return nullptr;
  for (size_t i = 0; i < shape.size(); ++i) {
    PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i), PyLong_FromSsize_t(shape[i]));
  }
  return tuple;
}

PyObject* GetSize(PyObject* self, void*) { return PyLong_FromSize_t(Value(self).size()); }
PyObject* GetNdim(PyObject* self, void*) { return PyLong_FromSize_t(Value(self).shape.size()); }

PyObject* GetNbytes(PyObject* self, void*) {
  const BytesArray& array = Value(self);
  size_t total = 0;
  for (size_t i = 0, n = array.size(); i < n; ++i) total += array.views[i].size;
  return PyLong_FromSize_t(total);
}

PyMethodDef methods[] = {
    {"view", View, METH_O,
     "view(i) -> memoryview\n\nElement i in C order as a read-only memoryview into the record's buffer; no copy. It "
     "keeps the buffer alive."},
    {"tolist", ToList, METH_NOARGS, "tolist() -> list of bytes, nested by shape."},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef properties[] = {{"shape", GetShape, nullptr, "tuple of int.", nullptr},
                            {"size", GetSize, nullptr, "int: number of elements.", nullptr},
                            {"ndim", GetNdim, nullptr, "int: number of axes.", nullptr},
                            {"nbytes", GetNbytes, nullptr, "int: the bytes of all elements together.", nullptr},
                            {nullptr, nullptr, nullptr, nullptr, nullptr}};

// ---- For the subclass in Python ----

py::array_t<int64_t> Lengths(py::handle self) {
  const BytesArray& array = Value(self);
  py::array_t<int64_t> lengths(static_cast<py::ssize_t>(array.size()));
  int64_t* out = lengths.mutable_data();
  for (size_t i = 0, n = array.size(); i < n; ++i) out[i] = static_cast<int64_t>(array.views[i].size);
  return lengths;
}

BytesArray WithViews(const BytesArray& like, size_t count, Bytes** views) {
  Block block;
  if (!AllocateBlock(count, sizeof(Bytes), 0, &block)) throw std::bad_alloc();
  BytesArray made = like;
  *views = block.as<Bytes>();
  made.views = *views;
  made.views_owner = block.owner;
  return made;
}

std::vector<ptrdiff_t> ShapeOf(const py::array& array) {
  return std::vector<ptrdiff_t>(array.shape(), array.shape() + array.ndim());
}

// The elements at `index` (flat positions, checked), in its shape.
py::object Take(py::handle self, const py::array_t<int64_t, py::array::c_style | py::array::forcecast>& index) {
  const BytesArray& array = Value(self);
  const auto count = static_cast<size_t>(index.size());
  Bytes* views;
  BytesArray taken = WithViews(array, count, &views);
  taken.shape = ShapeOf(index);
  const auto size = static_cast<int64_t>(array.size());
  for (size_t i = 0; i < count; ++i) {
    const int64_t at = index.data()[i];
    if (at < 0 || at >= size) throw py::index_error("index out of range for a BytesArray");
    views[i] = array.views[at];
  }
  return WrapBytes(std::move(taken));
}

py::object Reshape(py::handle self, const std::vector<ptrdiff_t>& shape) {
  BytesArray reshaped = Value(self);
  const size_t size = reshaped.size();
  reshaped.shape = shape;
  if (reshaped.size() != size || std::any_of(shape.begin(), shape.end(), [](ptrdiff_t n) { return n < 0; })) {
    throw py::value_error("cannot reshape: the number of elements differs");
  }
  return WrapBytes(std::move(reshaped));
}

// All elements copied end to end into memory of their own.
py::object Copy(py::handle self) {
  const BytesArray& array = Value(self);
  const size_t count = array.size();
  size_t total = 0;
  for (size_t i = 0; i < count; ++i) total += array.views[i].size;
  Bytes* views;
  BytesArray copy = WithViews(array, count, &views);
  std::shared_ptr<Buffer> buffer = Buffer::Allocate(total);
  if (!buffer) throw std::bad_alloc();
  uint8_t* out = buffer->data();
  for (size_t i = 0; i < count; ++i) {
    const Bytes& from = array.views[i];
    if (from.size > 0) std::memcpy(out, from.data, from.size);
    views[i] = {out, from.size};
    out += from.size;
  }
  copy.owners = std::make_shared<std::vector<Owner>>(std::vector<Owner>{std::move(buffer)});
  return WrapBytes(std::move(copy));
}

// All elements end to end as one bytes object.
py::bytes Joined(py::handle self) {
  const BytesArray& array = Value(self);
  size_t total = 0;
  for (size_t i = 0, n = array.size(); i < n; ++i) total += array.views[i].size;
  PyObject* joined = PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(total));
  if (joined == nullptr) throw py::error_already_set();
  char* out = PyBytes_AS_STRING(joined);
  for (size_t i = 0, n = array.size(); i < n; ++i) {
    if (array.views[i].size > 0) std::memcpy(out, array.views[i].data, array.views[i].size);
    out += array.views[i].size;
  }
  return py::reinterpret_steal<py::bytes>(joined);
}

// Copies every element into a row of `rows` (uint8 [size, width]); shorter ones are padded with zeros, longer ones are
// cut. If `exact`, stops at the first element of another size and returns its index; else returns -1.
int64_t CopyRows(py::handle self, py::array_t<uint8_t, py::array::c_style> rows, bool exact) {
  const BytesArray& array = Value(self);
  const size_t count = array.size();
  const auto width = static_cast<size_t>(rows.shape(1));
  uint8_t* out = rows.mutable_data();
  GilReleased release;
  for (size_t i = 0; i < count; ++i, out += width) {
    const Bytes& from = array.views[i];
    if (exact && from.size != width) return static_cast<int64_t>(i);
    const size_t size = std::min(from.size, width);
    if (size > 0) std::memcpy(out, from.data, size);
    if (size < width) std::memset(out + size, 0, width - size);
  }
  return -1;
}

// A BytesArray over a list of bytes objects.
py::object FromList(const py::handle& list, std::vector<ptrdiff_t> shape) {
  const RecordBatchPtr batch = RecordsFromPython(list);
  BytesArray array;
  array.shape = std::move(shape);
  if (array.size() != batch->size()) throw py::value_error("the shape does not fit the number of elements");
  array.views = batch->records.data();
  array.views_owner = batch;
  array.owners = std::shared_ptr<const std::vector<Owner>>(batch, &batch->owners);
  return WrapBytes(std::move(array));
}

}  // namespace

py::object WrapBytes(BytesArray array) {
  PyObject* object =
      array.shape.empty() ? MakeBytes(*array.views) : Box(public_type ? public_type : base_type, std::move(array));
  if (object == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(object);
}

const BytesArray* UnwrapBytes(py::handle object) {
  if (!PyObject_TypeCheck(object.ptr(), base_type)) return nullptr;
  return &Value(object.ptr());
}

void BindBytesArray(py::module_& m) {
  base_type = MakeType("tfrecord_fast._core.BytesArrayBase", sizeof(Boxed<BytesArray>),
                       {{Py_tp_dealloc, Slot(Dealloc<BytesArray>)},
                        {Py_sq_length, Slot(Length)},
                        {Py_sq_item, Slot(Item)},
                        {Py_mp_length, Slot(Length)},
                        {Py_mp_subscript, Slot(Subscript)},
                        {Py_tp_iter, Slot(Iterate)},
                        {Py_tp_methods, methods},
                        {Py_tp_getset, properties}},
                       "Byte strings that are views into record buffers.",
                       Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION);
  view_type = MakeType("tfrecord_fast._core.BytesView", sizeof(Boxed<Element>),
                       {{Py_tp_dealloc, Slot(Dealloc<Element>)}, {Py_bf_getbuffer, Slot(GetBuffer)}}, nullptr);
  iterator_type = MakeType(
      "tfrecord_fast._core.BytesArrayIterator", sizeof(Boxed<Cursor>),
      {{Py_tp_dealloc, Slot(DeallocIterator)}, {Py_tp_iter, Slot(PyObject_SelfIter)}, {Py_tp_iternext, Slot(Next)}},
      nullptr);
  m.attr("BytesArrayBase") = py::handle(reinterpret_cast<PyObject*>(base_type));
  m.def("register_bytes_array",
        [](const py::type& type) { public_type = reinterpret_cast<PyTypeObject*>(type.inc_ref().ptr()); });
  m.def("bytes_lengths", &Lengths);
  m.def("bytes_take", &Take);
  m.def("bytes_reshape", &Reshape);
  m.def("bytes_copy", &Copy);
  m.def("bytes_joined", &Joined);
  m.def("bytes_copy_rows", &CopyRows, py::arg("array"), py::arg("rows"), py::kw_only(), py::arg("exact"));
  m.def("bytes_from_list", &FromList);
}

}  // namespace tfr
