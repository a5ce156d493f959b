// The native half of BytesArray; what need not be fast is in tfrecord_fast/values/columns/bytes_array.py, a subclass.

#include "bindings/bytes_array.h"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/block.h"
#include "base/buffer.h"
#include "bindings/bindings.h"
#include "bindings/boxed.h"
#include "bindings/bytes_sequence.h"
#include "bindings/gil.h"

namespace py = pybind11;

namespace tfr {
namespace {

PyTypeObject* base_type = nullptr;    // _core.BytesArrayBase
PyTypeObject* public_type = nullptr;  // tfrecord_fast.BytesArray, once it has been registered

BytesArray& Value(PyObject* object) { return Unbox<BytesArray>(object); }
const BytesArray& Value(py::handle object) {
  const BytesArray* array = UnwrapBytes(object);
  if (array == nullptr) throw py::type_error("expected a BytesArray");
  return *array;
}

constexpr char kArrayName[] = "a BytesArray";

ByteStrings StringsOf(const BytesArray& array) { return {array.views, array.size()}; }

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
  if (length < 0 || !ResolveIndex(index, static_cast<size_t>(length), kArrayName, &row)) return nullptr;
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
  return ViewOf(key, StringsOf(array), kArrayName, array.owners);
}

PyObject* NestedList(const Bytes*& next, const std::vector<ptrdiff_t>& shape, size_t axis) {
  if (axis == shape.size()) return MakeBytes(*next++);
  const auto length = static_cast<size_t>(shape[axis]);
  if (axis + 1 == shape.size()) return ListOf({std::exchange(next, next + length), length});
  PyObject* list = PyList_New(shape[axis]);
  for (ptrdiff_t i = 0; list != nullptr && i < shape[axis]; ++i) {
    PyObject* item = NestedList(next, shape, axis + 1);
    if (item == nullptr) {
      Py_CLEAR(list);
    } else {
      PyList_SET_ITEM(list, i, item);
    }
  }
  return list;
}

PyObject* ToList(PyObject* self, PyObject*) {
  const Bytes* next = Value(self).views;
  return NestedList(next, Value(self).shape, 0);
}

PyObject* Iterate(PyObject* self) {
  const BytesArray& array = Value(self);
  if (Length(self) < 0) return nullptr;
  if (array.shape.size() == 1) return IteratorOf(self, StringsOf(array));
  return PySeqIter_New(self);
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

PyObject* GetNbytes(PyObject* self, void*) { return PyLong_FromSize_t(TotalBytes(StringsOf(Value(self)))); }

PyMethodDef bytes_array_methods[] = {
    {"view", View, METH_O,
     "view(i) -> memoryview\n\nElement i in C order as a read-only memoryview into the record's buffer; no copy. It "
     "keeps the buffer alive."},
    {"tolist", ToList, METH_NOARGS, "tolist() -> list of bytes, nested by shape."},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef bytes_array_properties[] = {
    {"shape", GetShape, nullptr, "tuple of int.", nullptr},
    {"size", GetSize, nullptr, "int: number of elements.", nullptr},
    {"ndim", GetNdim, nullptr, "int: number of axes.", nullptr},
    {"nbytes", GetNbytes, nullptr, "int: the bytes of all elements together.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

// ---- For the subclass in Python ----

py::array_t<int64_t> ByteLengths(py::handle self) { return SizesOf(StringsOf(Value(self))); }

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
py::object TakeElements(py::handle self, const py::array_t<int64_t, py::array::c_style | py::array::forcecast>& index) {
  const BytesArray& array = Value(self);
  const auto count = static_cast<size_t>(index.size());
  Bytes* views;
  BytesArray taken = WithViews(array, count, &views);
  taken.shape = ShapeOf(index);
  TakeStrings(StringsOf(array), index.data(), count, kArrayName, views);
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
  const ByteStrings strings = StringsOf(array);
  Bytes* views;
  BytesArray copy = WithViews(array, strings.size, &views);
  std::shared_ptr<Buffer> buffer = Buffer::Allocate(TotalBytes(strings));
  if (!buffer) throw std::bad_alloc();
  CopyJoined(strings, buffer->data());
  const uint8_t* next = buffer->data();
  for (size_t i = 0; i < strings.size; ++i) {
    const size_t size = strings[i].size;
    views[i] = {std::exchange(next, next + size), size};
  }
  copy.owners = std::make_shared<std::vector<Owner>>(std::vector<Owner>{std::move(buffer)});
  return WrapBytes(std::move(copy));
}

py::bytes JoinedElements(py::handle self) { return Joined(StringsOf(Value(self))); }

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
                        {Py_tp_methods, bytes_array_methods},
                        {Py_tp_getset, bytes_array_properties}},
                       "Byte strings that are views into record buffers.",
                       Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION);
  m.attr("BytesArrayBase") = py::handle(reinterpret_cast<PyObject*>(base_type));
  m.def("register_bytes_array",
        [](const py::type& type) { public_type = reinterpret_cast<PyTypeObject*>(type.inc_ref().ptr()); });
  m.def("bytes_lengths", &ByteLengths);
  m.def("bytes_take", &TakeElements);
  m.def("bytes_reshape", &Reshape);
  m.def("bytes_copy", &Copy);
  m.def("bytes_joined", &JoinedElements);
  m.def("bytes_copy_rows", &CopyRows, py::arg("array"), py::arg("rows"), py::kw_only(), py::arg("exact"));
  m.def("bytes_from_list", &FromList);
}

}  // namespace tfr
