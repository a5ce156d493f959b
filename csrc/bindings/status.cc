// Turns a Status into a Python exception, and a Python exception inside a callback into a Status.

#include <new>
#include <stdexcept>
#include <string>

#include "bindings/bindings.h"
#include "bindings/gil.h"

namespace py = pybind11;

namespace tfr {
namespace {

py::object IntOrNone(int64_t value) { return value < 0 ? py::object(py::none()) : py::object(py::int_(value)); }

py::object TextOrNone(const std::string& text) { return text.empty() ? py::object(py::none()) : PathText(text); }

py::object Errors(const char* name) { return py::module_::import("tfrecord_fast.errors").attr(name); }

void SetPythonErrorOf(const Status& status) {
  const Status::Detail& detail = status.detail();
  py::object error;
  switch (detail.code) {
    case StatusCode::kCancelled:
      if (PyErr_Occurred()) return;  // the exception that cancelled is already set
      error = Errors("FailedPreconditionError")("an exception in an earlier call has left this object unusable");
      break;
    case StatusCode::kOutOfMemory:
      PyErr_SetString(PyExc_MemoryError, status.ToString().c_str());
      return;
    case StatusCode::kIoError: {
      // OSError picks its own subclass by errno: FileNotFoundError, IsADirectoryError, BrokenPipeError, …
      py::object strerror = PathText(detail.message);
      error = py::reinterpret_borrow<py::object>(PyExc_OSError)(detail.error_number, strerror, TextOrNone(detail.path));
      break;
    }
    case StatusCode::kDataLoss:
      error = Errors("DataLossError")(TextOrNone(detail.path), IntOrNone(detail.offset), IntOrNone(detail.record_index),
                                      PathText(detail.message));
      if (detail.offset == 0) {  // of a file that may be no TFRecord file
        error = py::module_::import("tfrecord_fast.files.naming.foreign_formats").attr("with_format")(error);
      }
      break;
    case StatusCode::kClosed:
      error = Errors("FailedPreconditionError")(PathText(status.ToString()));
      break;
    case StatusCode::kOk:
    case StatusCode::kInvalidArgument:
      error = Errors("InvalidArgumentError")(PathText(status.ToString()));
      break;
  }
  PyErr_SetObject(py::type::handle_of(error).ptr(), error.ptr());
}

// pybind11 throws "Could not allocate …", a runtime_error, for an object that Python could not allocate.
bool MemoryErrorIsSet() { return PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_MemoryError); }

}  // namespace

py::object PathText(const std::string& text) {
  return py::reinterpret_steal<py::object>(
      PyUnicode_DecodeFSDefaultAndSize(text.data(), static_cast<Py_ssize_t>(text.size())));
}

void SetPythonError(const Status& status) {
  try {
    SetPythonErrorOf(status);
  } catch (const ForcedUnwind&) {
    StopThisThread();
  } catch (...) {
    SetPythonErrorOfException();
  }
}

void SetPythonErrorOfException() {
  try {
    throw;
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const py::builtin_exception& error) {
    error.set_error();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::length_error&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    if (!MemoryErrorIsSet()) PyErr_SetString(PyExc_RuntimeError, error.what());
  }
}

void BindErrors(py::module_&) {
  py::register_local_exception_translator([](std::exception_ptr thrown) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::runtime_error&) {
      if (!MemoryErrorIsSet()) throw;
    }
  });
}

void ThrowStatus(const Status& status) {
  SetPythonError(status);
  throw py::error_already_set();
}

}  // namespace tfr
