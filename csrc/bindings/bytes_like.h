// The definition of bytes-like, for all byte strings and serialized records that Python passes to the core.
//
// One byte string is: bytes (np.bytes_ too); str, as UTF-8; bytearray, memoryview and every other contiguous buffer of
// format B, b or c; a NumPy array of uint8 or int8, whatever its shape; a NumPy array without dimensions of strings or
// of an object that is one of these; another library's tensor whose numpy() is one of these. All else is not: numbers,
// other arrays, and what a masked array hides.
//
// Several are: a RecordBatch, a BytesArray, a NumPy array of strings or objects with a dimension or more (its
// elements), an array of uint8 or int8 with two or more (its rows), a tensor that is one of these, or an iterable of
// byte strings.
//
// A string in an array of dtype S or U ends where NumPy ends it: before the zeros that fill it up.

#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <string>

#include "base/records.h"
#include "bindings/bindings.h"

namespace tfr {

struct HeldBytes {
  Bytes bytes;
  Owner owner;  // keeps them valid; may be dropped without the GIL
};

// Memory that others may write to is copied, unless the caller reads each byte once.
enum class Memory : uint8_t { kFrozen, kShared };

// Sets *bytes for a bytes object or a str; false for other objects. Throws for a str that has no UTF-8.
bool PlainBytes(PyObject* object, Bytes* bytes);

// One byte string, without a copy where its memory allows. Throws TypeError, which begins with `what` and names the
// type, for any other object.
HeldBytes BytesOfPython(pybind11::handle object, const std::string& what, Memory memory = Memory::kFrozen);

// True for a NumPy array of anything but strings and objects.
bool IsNumericArray(pybind11::handle object);

void BindBytesLike(pybind11::module_& m);

}  // namespace tfr
