// Shared by the binding files: one Bind… function per room, called by module.cc, and the few conversions
// that more than one of them needs. Everything here is called with the GIL held unless stated otherwise.

#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/records.h"
#include "base/status.h"
#include "bindings/gil.h"

namespace tfr {

void BindErrors(pybind11::module_& m);  // makes pybind11's failed allocations MemoryErrors
void BindBuildInfo(pybind11::module_& m);
void BindCrc32c(pybind11::module_& m);
void BindRecordBatch(pybind11::module_& m);
void BindFetches(pybind11::module_& m);
void BindReader(pybind11::module_& m);
void BindIteration(pybind11::module_& m);
void BindWriter(pybind11::module_& m);
void BindBytesArray(pybind11::module_& m);
void BindParse(pybind11::module_& m);
void BindArrow(pybind11::module_& m);
void BindSurvey(pybind11::module_& m);
void BindStats(pybind11::module_& m);
void BindVarint(pybind11::module_& m);
void BindEncode(pybind11::module_& m);
void BindEncodeOne(pybind11::module_& m);
void BindIndex(pybind11::module_& m);
void BindRows(pybind11::module_& m);
void BindImages(pybind11::module_& m);
void BindImageFiles(pybind11::module_& m);

// Throws the Python exception for a status that is not OK (bindings/status.cc):
// kDataLoss → errors.DataLossError, kInvalidArgument → errors.InvalidArgumentError,
// kIoError → OSError (its subclass by errno, with errno and filename), kClosed → errors.FailedPreconditionError,
// kOutOfMemory → MemoryError.
// SetPythonError only sets CPython's error indicator, for code written against its slots.
void SetPythonError(const Status& status);
[[noreturn]] void ThrowStatus(const Status& status);
inline void ThrowIfError(const Status& status) {
  if (!status.ok()) ThrowStatus(status);
}

// Runs `work`, which returns a Status, without the GIL, and throws its error.
template <typename Work>
void RunWithoutGil(Work work) {
  Status status;
  {
    GilReleased no_gil;
    status = work();
  }
  ThrowIfError(status);
}

// A path or another text for people, which need not be UTF-8, as a str.
pybind11::object PathText(const std::string& text);

// For code written against CPython's slots, in a catch block: sets the Python exception for the C++ exception.
void SetPythonErrorOfException();

struct ParsedAhead;  // parse_ahead.h

// The value in a Python RecordBatch: a window, so that slicing copies nothing.
struct PyRecordBatch : RecordWindow {
  std::shared_ptr<ParsedAhead> parsed;  // of a whole batch from a stream; else null
};

// A new Python RecordBatch over all of `batch`.
pybind11::object WrapRecordBatch(RecordBatchPtr batch, std::shared_ptr<ParsedAhead> parsed = nullptr);

// The value in a Python RecordBatch, or null if `object` is something else. Lives as long as the object.
const PyRecordBatch* UnwrapRecordBatch(pybind11::handle object);

// References to Python objects, dropped together, from any thread.
struct HeldObjects {
  std::vector<PyObject*> objects;

  HeldObjects() = default;
  ~HeldObjects();
  HeldObjects(const HeldObjects&) = delete;
  HeldObjects& operator=(const HeldObjects&) = delete;
};

// Keeps a Python object alive for the core; may be dropped without the GIL.
Owner OwnerOfPython(pybind11::object object);

// Keeps an object's buffer, and sets *bytes to it; null if it is not contiguous, or not of single bytes. Throws what
// the object raises.
Owner HoldBuffer(pybind11::handle object, Bytes* bytes);

// Any batch of serialized records as one core batch whose owners keep the memory alive: views into a RecordBatch, or
// into several byte strings by the rules of bytes_like.h. Throws TypeError naming the type and position of an object
// that is neither. The batch may be used without the GIL, and freed without it.
RecordBatchPtr RecordsFromPython(pybind11::handle object);

}  // namespace tfr
