// Elements, views and iterators of byte strings; see bytes_sequence.h.

#include "bindings/bytes_sequence.h"

#include <cstring>
#include <string>
#include <utility>

#include "bindings/boxed.h"

namespace py = pybind11;

namespace tfr {
namespace {

PyTypeObject* bytes_view_type = nullptr;
PyTypeObject* bytes_iterator_type = nullptr;

// An element that memoryviews look into.
struct Viewed {
  Bytes bytes;
  Owner owner;
};

int GetBuffer(PyObject* self, Py_buffer* view, int flags) {
  const Bytes& bytes = Unbox<Viewed>(self).bytes;
  return PyBuffer_FillInfo(view, self, const_cast<uint8_t*>(bytes.data), static_cast<Py_ssize_t>(bytes.size), 1, flags);
}

struct Cursor {
  py::object sequence;
  ByteStrings strings;
  size_t next = 0;
};

PyObject* NextBytes(PyObject* self) {
  Cursor& cursor = Unbox<Cursor>(self);
  return cursor.next < cursor.strings.size ? MakeBytes(cursor.strings[cursor.next++]) : nullptr;
}

}  // namespace

bool ResolveIndex(Py_ssize_t number, size_t size, const char* type, size_t* index) {
  const auto length = static_cast<Py_ssize_t>(size);
  if (number < 0) number += length;
  if (number < 0 || number >= length) {
    PyErr_Format(PyExc_IndexError, "index out of range for %s of %zd", type, length);
    return false;
  }
  *index = static_cast<size_t>(number);
  return true;
}

PyObject* ViewOf(PyObject* number, const ByteStrings& strings, const char* type, Owner owner) {
  const Py_ssize_t signed_index = PyNumber_AsSsize_t(number, PyExc_IndexError);
  if (signed_index == -1 && PyErr_Occurred()) return nullptr;
  size_t index;
  if (!ResolveIndex(signed_index, strings.size, type, &index)) return nullptr;
  PyObject* exporter = Box(bytes_view_type, Viewed{strings[index], std::move(owner)});
  if (exporter == nullptr) return nullptr;
  PyObject* view = PyMemoryView_FromObject(exporter);
  Py_DECREF(exporter);
  return view;
}

bool IsBytesView(py::handle object) { return Py_TYPE(object.ptr()) == bytes_view_type; }

PyObject* ListOf(const ByteStrings& strings) {
  PyObject* list = PyList_New(static_cast<Py_ssize_t>(strings.size));
  for (size_t i = 0; list != nullptr && i < strings.size; ++i) {
    PyObject* item = MakeBytes(strings[i]);
    if (item == nullptr) {
      Py_CLEAR(list);
    } else {
      PyList_SET_ITEM(list, static_cast<Py_ssize_t>(i), item);
    }
  }
  return list;
}

PyObject* IteratorOf(PyObject* sequence, const ByteStrings& strings) {
  return Box(bytes_iterator_type, Cursor{py::reinterpret_borrow<py::object>(sequence), strings});
}

size_t TotalBytes(const ByteStrings& strings) {
  size_t total = 0;
  for (size_t i = 0; i < strings.size; ++i) total += strings[i].size;
  return total;
}

py::array_t<int64_t> SizesOf(const ByteStrings& strings) {
  py::array_t<int64_t> sizes(static_cast<py::ssize_t>(strings.size));
  int64_t* const out = sizes.mutable_data();
  for (size_t i = 0; i < strings.size; ++i) out[i] = static_cast<int64_t>(strings[i].size);
  return sizes;
}

void CopyJoined(const ByteStrings& strings, uint8_t* out) {
  for (size_t i = 0; i < strings.size; ++i) {
    const Bytes& bytes = strings[i];
    if (bytes.size > 0) std::memcpy(out, bytes.data, bytes.size);
    out += bytes.size;
  }
}

py::bytes Joined(const ByteStrings& strings) {
  PyObject* joined = PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(TotalBytes(strings)));
  if (joined == nullptr) throw py::error_already_set();
  CopyJoined(strings, reinterpret_cast<uint8_t*>(PyBytes_AS_STRING(joined)));
  return py::reinterpret_steal<py::bytes>(joined);
}

void TakeStrings(const ByteStrings& strings, const int64_t* numbers, size_t count, const char* type, Bytes* out) {
  for (size_t i = 0; i < count; ++i) {
    if (numbers[i] < 0 || static_cast<size_t>(numbers[i]) >= strings.size) {
      throw py::index_error("index " + std::to_string(numbers[i]) + " is out of range for " + type + " of " +
                            std::to_string(strings.size));
    }
    out[i] = strings[static_cast<size_t>(numbers[i])];
  }
}

void BindBytesSequence() {
  bytes_view_type = MakeType("tfrecord_fast._core.BytesView", sizeof(Boxed<Viewed>),
                             {{Py_tp_dealloc, Slot(Dealloc<Viewed>)}, {Py_bf_getbuffer, Slot(GetBuffer)}}, nullptr);
  bytes_iterator_type = MakeType("tfrecord_fast._core.BytesIterator", sizeof(Boxed<Cursor>),
                                 {{Py_tp_dealloc, Slot(Dealloc<Cursor>)},
                                  {Py_tp_iter, Slot(PyObject_SelfIter)},
                                  {Py_tp_iternext, Slot(NextBytes)}},
                                 nullptr);
}

}  // namespace tfr
