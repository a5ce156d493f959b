// Python objects as sources and sinks, and what keeps their memory alive; see python_io.h and bindings.h.

#include "bindings/python_io.h"

#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/bytes_like.h"
#include "bindings/gil.h"

namespace py = pybind11;

namespace tfr {
namespace {

// Takes the exception of a failed Python call, as a status.
Status TakePythonError() {
  py::error_already_set error;
  return PythonErrorAsStatus(error);
}

Status PythonError(PyObject* type, const std::string& message) {
  PyErr_SetString(type, message.c_str());
  return TakePythonError();
}

// True if a method is that of a type of CPython's own, such as BytesIO, which keeps no reference to a buffer that it is
// given and always says how much it took.
bool IsBuiltin(PyObject* method) {
  return PyCFunction_Check(method) && PyCFunction_GET_SELF(method) != nullptr &&
         (Py_TYPE(PyCFunction_GET_SELF(method))->tp_flags & Py_TPFLAGS_HEAPTYPE) == 0;
}

// The number of bytes that a file object's method reports as read or written.
Status CountOf(PyObject* value, const char* method, size_t most, size_t* count) {
  if (!PyIndex_Check(value) || PyBool_Check(value)) {
    return PythonError(PyExc_TypeError, std::string(method) + "() of a file object returned " +
                                            Py_TYPE(value)->tp_name + ", not the number of bytes");
  }
  const Py_ssize_t n = CallPython([value] { return PyNumber_AsSsize_t(value, PyExc_OverflowError); });
  if (n == -1 && PyErr_Occurred() != nullptr) return TakePythonError();
  if (n < 0 || static_cast<size_t>(n) > most) {
    return PythonError(PyExc_ValueError, std::string(method) + "() of a file object returned " + std::to_string(n) +
                                             " for " + std::to_string(most) + " bytes");
  }
  *count = static_cast<size_t>(n);
  return {};
}

// A raw file of Python's reads or writes None if it would have to wait; what else writes None has taken all.
bool IsRaw(PyObject* file) {
  const py::object raw = py::module_::import("io").attr("RawIOBase");
  return PyObject_IsInstance(file, raw.ptr()) == 1;
}

py::object Steal(PyObject* object) { return py::reinterpret_steal<py::object>(object); }

class PythonSource : public Source {
 public:
  PythonSource(const py::object& file, std::shared_ptr<PythonReferences> references)
      : references_(std::move(references)),
        file_(references_->Add(file)),
        readinto_(references_->Add(py::getattr(file, "readinto", py::none()))) {}
  ~PythonSource() override {
    DropWithGil([this] {
      py::error_scope keep;  // an exception that is on its way must not be lost
      Close();
      references_->Drop(readinto_);
      references_->Drop(file_);
    });
  }

  Status Read(uint8_t* out, size_t size, size_t* got) override {
    GilHeld gil;
    *got = 0;
    size = std::min<size_t>(size, PY_SSIZE_T_MAX);
    PyObject* const readinto = references_->Get(readinto_);
    if (readinto == nullptr) return Status::Closed("the file object is gone");
    if (readinto == Py_None) return ReadBytes(out, size, got);
    return IsBuiltin(readinto) ? ReadInto(out, size, got) : ReadCopy(out, size, got);
  }

 private:
  void Close() {
    PyObject* const file = references_->Get(file_);
    if (file == nullptr) return;
    const py::object close = Steal(PyObject_GetAttrString(file, "close"));
    if (!close) return PyErr_Clear();
    const py::object closed = Steal(CallPython([&] { return PyObject_CallNoArgs(close.ptr()); }));
    if (!closed) PyErr_WriteUnraisable(file);
  }

  Status ReadInto(uint8_t* out, size_t size, size_t* got) {
    const py::object view =
        Steal(PyMemoryView_FromMemory(reinterpret_cast<char*>(out), static_cast<Py_ssize_t>(size), PyBUF_WRITE));
    if (!view) return TakePythonError();
    return CallReadInto(view, size, got);
  }

  // Copies through memory that Python owns: keeping a reference to it does no harm.
  Status ReadCopy(uint8_t* out, size_t size, size_t* got) {
    const py::object buffer = Steal(PyByteArray_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size)));
    if (!buffer) return TakePythonError();
    const py::object view = Steal(PyMemoryView_FromObject(buffer.ptr()));
    if (!view) return TakePythonError();
    TFR_RETURN_IF_ERROR(CallReadInto(view, size, got));
    std::memcpy(out, PyByteArray_AS_STRING(buffer.ptr()), *got);
    return {};
  }

  Status CallReadInto(const py::object& view, size_t size, size_t* got) {
    const py::object method = py::reinterpret_borrow<py::object>(references_->Get(readinto_));
    const py::object count = Steal(CallPython([&] { return PyObject_CallOneArg(method.ptr(), view.ptr()); }));
    if (!count) return TakePythonError();
    if (count.is_none()) return Status::Errno(EAGAIN, "read");  // a non-blocking file without data
    return CountOf(count.ptr(), "readinto", size, got);
  }

  Status ReadBytes(uint8_t* out, size_t size, size_t* got) {
    const py::object file = py::reinterpret_borrow<py::object>(references_->Get(file_));
    const py::object data =
        Steal(CallPython([&] { return PyObject_CallMethod(file.ptr(), "read", "n", static_cast<Py_ssize_t>(size)); }));
    if (!data) return TakePythonError();
    if (data.is_none() && IsRaw(file.ptr())) return Status::Errno(EAGAIN, "read");
    Py_buffer view;
    if (PyObject_GetBuffer(data.ptr(), &view, PyBUF_SIMPLE | PyBUF_FORMAT) != 0) return TakePythonError();
    Status status;
    if (view.itemsize != 1) {
      status = PythonError(PyExc_TypeError, std::string("read() of a file object returned ") +
                                                Py_TYPE(data.ptr())->tp_name + ", not bytes");
    } else if (static_cast<size_t>(view.len) > size) {
      status = PythonError(PyExc_ValueError, "read() of a file object returned " + std::to_string(view.len) +
                                                 " bytes, but " + std::to_string(size) + " were requested");
    } else {
      *got = static_cast<size_t>(view.len);
      if (*got > 0) std::memcpy(out, view.buf, *got);
    }
    PyBuffer_Release(&view);
    return status;
  }

  const std::shared_ptr<PythonReferences> references_;
  const size_t file_;
  const size_t readinto_;
};

class PythonSink : public Sink {
 public:
  PythonSink(const py::object& file, bool close, std::shared_ptr<PythonReferences> references)
      : references_(std::move(references)),
        file_(references_->Add(file)),
        write_(references_->Add(file.attr("write"))),
        close_(close) {}
  ~PythonSink() override {
    DropWithGil([this] {
      references_->Drop(write_);
      references_->Drop(file_);
    });
  }

  bool caller_only() const override { return true; }

  // After a failure it is not known what the object has taken: it is given nothing more.
  Status Write(const Bytes* parts, size_t count) override {
    if (failed_) return Status::Cancelled();
    GilHeld gil;
    for (size_t i = 0; i < count; ++i) {
      Status status = WritePart(parts[i]);
      if (status.ok()) continue;
      failed_ = true;
      return status;
    }
    return {};
  }

  Status Flush() override { return Call("flush"); }

  Status Close() override {
    Status flushed = failed_ ? Status() : Call("flush");
    Status closed = close_ ? Call("close") : Status();
    return flushed.ok() ? std::move(closed) : std::move(flushed);
  }

 private:
  // A raw file may take only a part, and returns how much.
  Status WritePart(Bytes part) {
    while (part.size > 0) {
      const py::object write = py::reinterpret_borrow<py::object>(references_->Get(write_));
      if (!write) return Status::Closed("the file object is gone");
      const auto* data = reinterpret_cast<const char*>(part.data);
      const auto size = static_cast<Py_ssize_t>(part.size);
      // Bytes for those who may keep them.
      const py::object argument =
          Steal(IsBuiltin(write.ptr()) ? PyMemoryView_FromMemory(const_cast<char*>(data), size, PyBUF_READ)
                                       : PyBytes_FromStringAndSize(data, size));
      if (!argument) return TakePythonError();
      const py::object wrote = Steal(CallPython([&] { return PyObject_CallOneArg(write.ptr(), argument.ptr()); }));
      if (!wrote) return TakePythonError();
      size_t n = part.size;
      if (!wrote.is_none()) {
        TFR_RETURN_IF_ERROR(CountOf(wrote.ptr(), "write", part.size, &n));
      } else if (IsRaw(references_->Get(file_))) {
        return Status::Errno(EAGAIN, "write");
      }
      if (n == 0) return Status::Errno(ENOSPC, "write() accepted no bytes");
      part.data += n;
      part.size -= n;
    }
    return {};
  }

  Status Call(const char* name) {
    GilHeld gil;
    const py::object file = py::reinterpret_borrow<py::object>(references_->Get(file_));
    if (!file) return Status::Closed("the file object is gone");
    const py::object method = Steal(PyObject_GetAttrString(file.ptr(), name));
    if (!method) {
      if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return TakePythonError();
      PyErr_Clear();
      return {};
    }
    const py::object result = Steal(CallPython([&] { return PyObject_CallNoArgs(method.ptr()); }));
    return result ? Status() : TakePythonError();
  }

  const std::shared_ptr<PythonReferences> references_;
  const size_t file_;
  const size_t write_;
  const bool close_;
  bool failed_ = false;
};

// A Python object's memory, held through the buffer protocol.
struct HeldBuffer {
  Py_buffer view = {};
  ~HeldBuffer() {
    DropWithGil([this] { PyBuffer_Release(&view); });
  }
};

// True if each element of a buffer is one byte: B, b or c, in any of the byte orders, which mean nothing for it.
bool IsOfBytes(const Py_buffer& view) {
  const char* format = view.format == nullptr ? "B" : view.format;
  if (*format != 0 && std::strchr("@=<>!", *format) != nullptr) ++format;
  return view.itemsize == 1 && (*format == 'B' || *format == 'b' || *format == 'c') && format[1] == 0;
}

Status OpenPython(PyObject* opener, const std::shared_ptr<PythonReferences>& references,
                  std::unique_ptr<Source>* source) {
  if (opener == nullptr) return Status::Closed("the file object is gone");
  const py::object opened = Steal(CallPython([opener] { return PyObject_CallNoArgs(opener); }));
  if (!opened) return TakePythonError();
  if (PyLong_Check(opened.ptr())) {
    const long descriptor = PyLong_AsLong(opened.ptr());
    if (descriptor == -1 && PyErr_Occurred() != nullptr) return TakePythonError();
    if (descriptor < 0 || descriptor > INT_MAX) return Status::Errno(EBADF, "open");
    std::shared_ptr<File> file;
    TFR_RETURN_IF_ERROR(File::FromDescriptor(static_cast<int>(descriptor), Descriptor::kBorrowed, &file));
    const off_t position = file->regular() ? ::lseek(static_cast<int>(descriptor), 0, SEEK_CUR) : 0;
    *source = std::make_unique<FileSource>(std::move(file), std::max<off_t>(position, 0));
  } else if (py::hasattr(opened, "read")) {
    *source = std::make_unique<PythonSource>(opened, references);
  } else {
    HeldBytes held = BytesOfPython(opened, "the opened object", Memory::kShared);
    *source = std::make_unique<MemorySource>(held.bytes, std::move(held.owner));
  }
  return {};
}

// The filename of an OSError, such as a URL, or "".
std::string FilenameOf(const PyOSErrorObject* error) {
  if (error->filename == nullptr || !PyUnicode_CheckExact(error->filename)) return {};
  const py::object encoded = Steal(PyUnicode_EncodeFSDefault(error->filename));
  if (!encoded) {
    PyErr_Clear();
    return {};
  }
  return {PyBytes_AS_STRING(encoded.ptr()), static_cast<size_t>(PyBytes_GET_SIZE(encoded.ptr()))};
}

}  // namespace

Status PythonErrorAsStatus(py::error_already_set& error) {
  // A class of the user's own may say more than an errno: it is raised as it is.
  const bool plain = (reinterpret_cast<PyTypeObject*>(error.type().ptr())->tp_flags & Py_TPFLAGS_HEAPTYPE) == 0;
  if (plain && error.matches(PyExc_OSError)) {
    const auto* value = reinterpret_cast<PyOSErrorObject*>(error.value().ptr());
    Py_ssize_t size = 0;
    int overflow = 0;
    const long number = value->myerrno != nullptr && PyLong_CheckExact(value->myerrno)
                            ? PyLong_AsLongAndOverflow(value->myerrno, &overflow)
                            : -1;
    const char* text = value->strerror != nullptr && PyUnicode_CheckExact(value->strerror)
                           ? PyUnicode_AsUTF8AndSize(value->strerror, &size)
                           : nullptr;
    if (text != nullptr && number > 0 && number < INT_MAX && overflow == 0) {
      return Status::OsError(static_cast<int>(number), std::string(text, static_cast<size_t>(size)))
          .WithPath(FilenameOf(value));
    }
    PyErr_Clear();
  }
  error.restore();
  return Status::Cancelled();
}

Compression CompressionNamed(const std::string& name) {
  const std::optional<Compression> compression = FindCompression(name);
  if (!compression) throw py::value_error("unknown compression_type \"" + name + "\"");
  return *compression;
}

std::optional<RemoteObject> RemoteObjectOf(const py::object& object) {
  if (object.is_none()) return std::nullopt;
  const py::object size = object.attr("size");
  return RemoteObject{object.attr("number").cast<uint32_t>(), size.is_none() ? -1 : size.cast<int64_t>()};
}

std::function<Status(std::unique_ptr<Source>*)> OpenerOfPython(const py::object& opener,
                                                               std::shared_ptr<PythonReferences> references) {
  const size_t slot = references->Add(opener);
  return [references = std::move(references), slot](std::unique_ptr<Source>* source) {
    GilHeld gil;
    try {
      const py::object held = py::reinterpret_borrow<py::object>(references->Get(slot));
      return OpenPython(held.ptr(), references, source);
    } catch (py::error_already_set& error) {
      return PythonErrorAsStatus(error);
    } catch (const py::builtin_exception& error) {
      error.set_error();
      return TakePythonError();
    }
  };
}

std::unique_ptr<Sink> NewPythonSink(const py::object& file, bool close, std::shared_ptr<PythonReferences> references) {
  return std::make_unique<PythonSink>(file, close, std::move(references));
}

PythonReferences::~PythonReferences() {
  DropWithGil([this] { Clear(); });
}

size_t PythonReferences::Add(const py::object& object) {
  size_t number;
  if (free_.empty()) {
    number = objects_.size();
    objects_.push_back(nullptr);
    if (free_.capacity() < objects_.capacity()) free_.reserve(objects_.capacity());  // so that Drop needs no memory
  } else {
    number = free_.back();
    free_.pop_back();
  }
  objects_[number] = Py_NewRef(object.ptr());
  return number;
}

void PythonReferences::Drop(size_t number) {
  PyObject* const object = std::exchange(objects_[number], nullptr);
  free_.push_back(number);
  Py_XDECREF(object);
}

int PythonReferences::Traverse(visitproc visit, void* argument) const {
  for (PyObject* object : objects_) {
    if (object == nullptr) continue;
    if (const int result = visit(object, argument)) return result;
  }
  return 0;
}

void PythonReferences::Clear() {
  for (PyObject*& object : objects_) Py_XDECREF(std::exchange(object, nullptr));
}

HeldObjects::~HeldObjects() {
  DropWithGil([this] {
    for (PyObject* object : objects) Py_DECREF(object);
  });
}

Owner HoldBuffer(py::handle object, Bytes* bytes) {
  auto held = std::make_shared<HeldBuffer>();
  if (PyObject_GetBuffer(object.ptr(), &held->view, PyBUF_CONTIG_RO | PyBUF_FORMAT) != 0) {
    if (!PyErr_ExceptionMatches(PyExc_BufferError)) throw py::error_already_set();
    PyErr_Clear();  // not contiguous
    return nullptr;
  }
  if (!IsOfBytes(held->view)) return nullptr;
  *bytes = {static_cast<const uint8_t*>(held->view.buf), static_cast<size_t>(held->view.len)};
  return held;
}

Owner OwnerOfPython(py::object object) {
  auto held = std::make_shared<HeldObjects>();
  held->objects.push_back(object.release().ptr());
  return held;
}

}  // namespace tfr
