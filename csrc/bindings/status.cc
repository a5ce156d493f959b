// Turns a Status into a Python exception, and a Python exception inside a callback into a Status.

#include <new>
#include <string>

#include "bindings/bindings.h"

namespace py = pybind11;

namespace tfr {
namespace {

py::object IntOrNone(int64_t value) { return value < 0 ? py::object(py::none()) : py::object(py::int_(value)); }

// Paths and raw bytes in messages need not be UTF-8.
py::object Text(const std::string& text) {
  return py::reinterpret_steal<py::object>(
      PyUnicode_DecodeFSDefaultAndSize(text.data(), static_cast<Py_ssize_t>(text.size())));
}

py::object TextOrNone(const std::string& text) { return text.empty() ? py::object(py::none()) : Text(text); }

}  // namespace

void SetPythonError(const Status& status) {
  const Status::Detail& detail = status.detail();
  try {
    py::object error;
    switch (detail.code) {
      case StatusCode::kCancelled:
        if (PyErr_Occurred()) return;  // the exception that cancelled is already set
        PyErr_SetString(PyExc_RuntimeError, "an exception in an earlier call has left this object unusable");
        return;
      case StatusCode::kOutOfMemory:
        PyErr_SetString(PyExc_MemoryError, status.ToString().c_str());
        return;
      case StatusCode::kIoError: {
        // OSError picks its own subclass by errno: FileNotFoundError, IsADirectoryError, BrokenPipeError, …
        py::object strerror = Text(detail.message);
        error =
            py::reinterpret_borrow<py::object>(PyExc_OSError)(detail.error_number, strerror, TextOrNone(detail.path));
        break;
      }
      case StatusCode::kDataLoss:
        error = py::module_::import("tfrecord_fast.errors")
                    .attr("DataLossError")(TextOrNone(detail.path), IntOrNone(detail.offset),
                                           IntOrNone(detail.record_index), Text(detail.message));
        break;
      case StatusCode::kClosed:
        error = py::module_::import("tfrecord_fast.errors").attr("FailedPreconditionError")(Text(status.ToString()));
        break;
      case StatusCode::kOk:
      case StatusCode::kInvalidArgument:
        error = py::module_::import("tfrecord_fast.errors").attr("InvalidArgumentError")(Text(status.ToString()));
        break;
    }
    PyErr_SetObject(py::type::handle_of(error).ptr(), error.ptr());
  } catch (py::error_already_set& inner) {
    inner.restore();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  }
}

void ThrowStatus(const Status& status) {
  SetPythonError(status);
  throw py::error_already_set();
}

}  // namespace tfr
