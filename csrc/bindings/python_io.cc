// Python objects as sources, sinks and batches of records; see python_io.h and bindings.h.

#include "bindings/python_io.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/frozen.h"

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

std::shared_ptr<HeldBuffer> HoldBuffer(py::handle object) {
  auto held = std::make_shared<HeldBuffer>();
  if (PyObject_GetBuffer(object.ptr(), &held->view, PyBUF_SIMPLE) != 0) throw py::error_already_set();
  return held;
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
      std::shared_ptr<HeldBuffer> held = HoldBuffer(opened);
      const Bytes bytes = {static_cast<const uint8_t*>(held->view.buf), static_cast<size_t>(held->view.len)};
      *source = std::make_unique<MemorySource>(bytes, std::move(held));
    }
    return {};
  } catch (py::error_already_set& error) {
    return PythonErrorAsStatus(error);
  }
}

// References to Python objects, dropped together.
struct HeldObjects {
  std::vector<PyObject*> objects;
  ~HeldObjects() {
    WithGil([this] {
      for (PyObject* object : objects) Py_DECREF(object);
    });
  }
};

int64_t StrideAt(const RecordBatch& batch, size_t row) {
  int64_t stride = 1;
  for (const Origin& origin : batch.origins) {
    if (origin.first_row > row) break;
    stride = origin.stride;
  }
  return stride;
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

Owner OwnerOfPython(py::object object) {
  auto held = std::make_shared<HeldObjects>();
  held->objects.push_back(object.release().ptr());
  return held;
}

RecordBatchPtr RecordsFromPython(py::handle object) {
  RecordWindow window;
  if (UnwrapRecordBatch(object, &window)) {
    if (window.start == 0 && window.step == 1 && window.size == window.batch->size()) return window.batch;
    auto part = std::make_shared<RecordBatch>();
    part->records.reserve(window.size);
    for (size_t i = 0; i < window.size; ++i) {
      const size_t row =
          static_cast<size_t>(static_cast<ptrdiff_t>(window.start) + static_cast<ptrdiff_t>(i) * window.step);
      part->records.push_back(window.batch->records[row]);
      if (i == 0 || window.step != 1) {
        Origin origin = OriginOfRow(*window.batch, row);
        origin.first_row = i;
        if (window.step == 1) origin.stride = StrideAt(*window.batch, row);
        if (origin.path) part->origins.push_back(std::move(origin));
      }
    }
    // A step of one keeps the runs of the whole batch.
    if (window.step == 1) {
      for (const Origin& origin : window.batch->origins) {
        if (origin.first_row > window.start && origin.first_row < window.start + window.size) {
          part->origins.push_back(origin);
          part->origins.back().first_row -= window.start;
        }
      }
    }
    part->owners = window.batch->owners;
    return part;
  }
  if (PyUnicode_Check(object.ptr()) || PyBytes_Check(object.ptr()) || PyDict_Check(object.ptr())) {
    throw py::type_error(std::string("expected a RecordBatch or a sequence of bytes-like records, got ") +
                         Py_TYPE(object.ptr())->tp_name);
  }
  py::object sequence = py::reinterpret_steal<py::object>(
      PySequence_Fast(object.ptr(), "expected a RecordBatch or a sequence of bytes-like records"));
  if (!sequence) throw py::error_already_set();
  auto batch = std::make_shared<RecordBatch>();
  auto held = std::make_shared<HeldObjects>();
  const Py_ssize_t size = PySequence_Fast_GET_SIZE(sequence.ptr());
  batch->records.reserve(static_cast<size_t>(size));
  held->objects.reserve(static_cast<size_t>(size));
  for (Py_ssize_t i = 0; i < size; ++i) {
    // Asking an object for its buffer may run Python code, which may change the list.
    if (PySequence_Fast_GET_SIZE(sequence.ptr()) != size) {
      throw std::runtime_error("the list of records changed while it was read");
    }
    PyObject* item = PySequence_Fast_GET_ITEM(sequence.ptr(), i);
    if (PyBytes_Check(item)) {
      batch->records.push_back(
          {reinterpret_cast<const uint8_t*>(PyBytes_AS_STRING(item)), static_cast<size_t>(PyBytes_GET_SIZE(item))});
      held->objects.push_back(Py_NewRef(item));
    } else if (PyObject_CheckBuffer(item)) {
      std::shared_ptr<HeldBuffer> buffer = HoldBuffer(item);
      Bytes record = {static_cast<const uint8_t*>(buffer->view.buf), static_cast<size_t>(buffer->view.len)};
      Owner owner = std::move(buffer);
      Freeze(item, &record, &owner);
      batch->records.push_back(record);
      batch->owners.push_back(std::move(owner));
    } else {
      throw py::type_error("record " + std::to_string(i) + " is not bytes-like: " + Py_TYPE(item)->tp_name);
    }
  }
  if (!held->objects.empty()) batch->owners.push_back(std::move(held));
  return batch;
}

}  // namespace tfr
