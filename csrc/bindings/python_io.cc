// Python objects as sources and sinks, and what keeps their memory alive; see python_io.h and bindings.h.

#include "bindings/python_io.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/bytes_like.h"

namespace py = pybind11;

namespace tfr {
namespace {

// Drops Python objects, from any thread; at interpreter exit, when that is no longer possible, leaves them.
template <typename Release>
void WithGil(Release release) {
  if (!Py_IsInitialized()) return;
  py::gil_scoped_acquire gil;
  release();
}

class PythonSource : public Source {
 public:
  explicit PythonSource(py::object file)
      : file_(std::move(file)), readinto_(py::getattr(file_, "readinto", py::none())) {}
  ~PythonSource() override {
    WithGil([this] {
      py::error_scope keep;  // an exception that is on its way must not be lost
      try {
        if (py::hasattr(file_, "close")) file_.attr("close")();
      } catch (py::error_already_set& error) {
        error.discard_as_unraisable("closing a file that was read");
      }
      readinto_ = {};
      file_ = {};
    });
  }

  Status Read(uint8_t* out, size_t size, size_t* got) override {
    py::gil_scoped_acquire gil;
    *got = 0;
    try {
      if (!readinto_.is_none()) {
        py::object count = readinto_(py::memoryview::from_memory(out, static_cast<py::ssize_t>(size)));
        if (count.is_none()) return Status::Errno(EAGAIN, "read");  // a non-blocking file without data
        *got = std::min(count.cast<size_t>(), size);
        return {};
      }
      py::object data = file_.attr("read")(size);
      Py_buffer view;
      if (PyObject_GetBuffer(data.ptr(), &view, PyBUF_SIMPLE) != 0) throw py::error_already_set();
      *got = std::min(static_cast<size_t>(view.len), size);
      std::memcpy(out, view.buf, *got);
      PyBuffer_Release(&view);
      return {};
    } catch (py::error_already_set& error) {
      return PythonErrorAsStatus(error);
    }
  }

 private:
  py::object file_;
  py::object readinto_;
};

class PythonSink : public Sink {
 public:
  PythonSink(py::object file, bool close, std::string path)
      : file_(std::move(file)), write_(file_.attr("write")), close_(close), path_(std::move(path)) {}
  ~PythonSink() override {
    WithGil([this] {
      write_ = {};
      file_ = {};
    });
  }

  Status Write(const Bytes* parts, size_t count) override {
    py::gil_scoped_acquire gil;
    try {
      for (size_t i = 0; i < count; ++i) TFR_RETURN_IF_ERROR(WritePart(parts[i]));
      return {};
    } catch (py::error_already_set& error) {
      return PythonErrorAsStatus(error);
    }
  }

  Status Flush() override { return Call("flush"); }

  Status Close() override {
    Status flushed = Call("flush");
    Status closed = close_ ? Call("close") : Status();
    return flushed.ok() ? std::move(closed) : std::move(flushed);
  }

 private:
  // A raw file may take only a part, and returns how much.
  Status WritePart(Bytes part) {
    while (part.size > 0) {
      py::object wrote = write_(py::memoryview::from_memory(part.data, static_cast<py::ssize_t>(part.size)));
      if (wrote.is_none()) return Status::Errno(EAGAIN, "write").WithPath(path_);
      const size_t n = std::min(wrote.cast<size_t>(), part.size);
      if (n == 0) return Status::Errno(ENOSPC, "write took nothing").WithPath(path_);
      part.data += n;
      part.size -= n;
    }
    return {};
  }

  Status Call(const char* method) {
    py::gil_scoped_acquire gil;
    try {
      if (py::hasattr(file_, method)) file_.attr(method)();
      return {};
    } catch (py::error_already_set& error) {
      return PythonErrorAsStatus(error);
    }
  }

  py::object file_;
  py::object write_;
  bool close_;
  std::string path_;
};

// A Python object's memory, held through the buffer protocol.
struct HeldBuffer {
  Py_buffer view = {};
  ~HeldBuffer() {
    WithGil([this] { PyBuffer_Release(&view); });
  }
};

// Whether each element of a buffer is one byte: B, b or c, in any of the byte orders, which mean nothing for it.
bool IsOfBytes(const Py_buffer& view) {
  const char* format = view.format == nullptr ? "B" : view.format;
  if (*format != 0 && std::strchr("@=<>!", *format) != nullptr) ++format;
  return view.itemsize == 1 && (*format == 'B' || *format == 'b' || *format == 'c') && format[1] == 0;
}

Status OpenPython(const py::object& opener, std::unique_ptr<Source>* source) {
  py::gil_scoped_acquire gil;
  try {
    py::object opened = opener();
    if (py::isinstance<py::int_>(opened)) {
      const int descriptor = opened.cast<int>();
      std::shared_ptr<File> file;
      TFR_RETURN_IF_ERROR(File::FromDescriptor(descriptor, Descriptor::kBorrowed, &file));
      const off_t position = file->regular() ? ::lseek(descriptor, 0, SEEK_CUR) : 0;
      *source = std::make_unique<FileSource>(std::move(file), std::max<off_t>(position, 0));
    } else if (py::hasattr(opened, "read")) {
      *source = std::make_unique<PythonSource>(std::move(opened));
    } else {
      HeldBytes held = BytesOfPython(opened, "what is read from memory");
      *source = std::make_unique<MemorySource>(held.bytes, std::move(held.owner));
    }
    return {};
  } catch (py::error_already_set& error) {
    return PythonErrorAsStatus(error);
  }
}

}  // namespace

Status PythonErrorAsStatus(py::error_already_set& error) {
  if (error.matches(PyExc_OSError)) {
    const py::object number = py::getattr(error.value(), "errno", py::none());
    const py::object text = py::getattr(error.value(), "strerror", py::none());
    if (py::isinstance<py::int_>(number) && py::isinstance<py::str>(text)) {
      return Status::OsError(number.cast<int>(), text.cast<std::string>());
    }
  }
  error.restore();
  return Status::Cancelled();
}

std::function<Status(std::unique_ptr<Source>*)> OpenerOfPython(py::object opener) {
  std::shared_ptr<py::object> held(new py::object(std::move(opener)),
                                   [](py::object* object) { WithGil([object] { delete object; }); });
  return [held](std::unique_ptr<Source>* source) { return OpenPython(*held, source); };
}

std::unique_ptr<Sink> NewPythonSink(py::object file, bool close, std::string path) {
  return std::make_unique<PythonSink>(std::move(file), close, std::move(path));
}

HeldObjects::~HeldObjects() {
  WithGil([this] {
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
