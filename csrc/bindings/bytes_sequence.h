// Sequences of byte strings for Python, over memory that others own: the common half of RecordBatch and BytesArray.

#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>

#include "base/records.h"

namespace tfr {

// Every `step`th of some byte strings.
struct ByteStrings {
  const Bytes* first;
  size_t size;
  ptrdiff_t step = 1;

  const Bytes& operator[](size_t i) const { return first[static_cast<ptrdiff_t>(i) * step]; }
};

inline PyObject* MakeBytes(const Bytes& bytes) {
  return PyBytes_FromStringAndSize(reinterpret_cast<const char*>(bytes.data), static_cast<Py_ssize_t>(bytes.size));
}

// Sets *index to element `number`, counted from the end if negative. False, with IndexError set, if it is out of range;
// the error names the sequence by `type`, such as "a RecordBatch".
bool ResolveIndex(Py_ssize_t number, size_t size, const char* type, size_t* index);

// The element that a Python number selects, as a memoryview; `owner` keeps its memory. Null with an error set.
PyObject* ViewOf(PyObject* number, const ByteStrings& strings, const char* type, Owner owner);

// True for the objects that ViewOf's memoryviews look into.
bool IsBytesView(pybind11::handle object);

// A list of bytes objects. Null with an error set.
PyObject* ListOf(const ByteStrings& strings);

// An iterator that makes bytes objects and keeps `sequence`, which owns the strings. Null with an error set.
PyObject* IteratorOf(PyObject* sequence, const ByteStrings& strings);

size_t TotalBytes(const ByteStrings& strings);
pybind11::array_t<int64_t> SizesOf(const ByteStrings& strings);

// Copies all strings end to end.
void CopyJoined(const ByteStrings& strings, uint8_t* out);
pybind11::bytes Joined(const ByteStrings& strings);

// Writes the strings at these numbers to `out`. Throws IndexError.
void TakeStrings(const ByteStrings& strings, const int64_t* numbers, size_t count, const char* type, Bytes* out);

void BindBytesSequence();

}  // namespace tfr
