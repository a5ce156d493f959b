// The record writer as a Python type, written against CPython's slots: writing a small record costs little more than
// its copy and its CRC.
//
// A mutex guards the writer, since it may be used from several Python threads. A thread that finds it taken releases
// the GIL before it waits, because the holder may need the GIL (to write into a Python file object).

#include "framing/writer.h"

#include <pybind11/stl.h>

#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/process.h"
#include "bindings/bindings.h"
#include "bindings/boxed.h"
#include "bindings/bytes_like.h"
#include "bindings/encode.h"
#include "bindings/python_io.h"
#include "codec/codec.h"
#include "codec/compressed_sink.h"
#include "encode/write_rows.h"

namespace py = pybind11;

namespace tfr {
namespace {

struct SharedWriter {
  std::mutex mutex;
  RecordWriter writer;
  const uint64_t generation = ForkGeneration();
  explicit SharedWriter(std::unique_ptr<Sink> sink) : writer(std::move(sink)) {}
};

using WriterPtr = std::unique_ptr<SharedWriter>;

py::handle writer_type;  // lives as long as the module

SharedWriter* WriterOf(PyObject* self) {
  SharedWriter* writer = Unbox<WriterPtr>(self).get();
  if (writer == nullptr) PyErr_SetString(PyExc_ValueError, "the writer was not opened");
  return writer;
}

PyObject* NoneOrError(const Status& status) {
  if (status.ok()) Py_RETURN_NONE;
  SetPythonError(status);
  return nullptr;
}

// Called without the GIL. In a forked process, the thread that holds the lock may not exist.
Status LockIn(SharedWriter* writer, std::unique_lock<std::mutex>* lock) {
  *lock = std::unique_lock<std::mutex>(writer->mutex, std::defer_lock);
  if (writer->generation == ForkGeneration()) {
    lock->lock();
  } else if (!lock->try_lock()) {
    return Status::Closed("the writer was in use by another thread when this process was forked");
  }
  return {};
}

template <typename Work>
Status WithoutGil(SharedWriter* writer, Work work) {
  py::gil_scoped_release no_gil;
  std::unique_lock<std::mutex> lock;
  TFR_RETURN_IF_ERROR(LockIn(writer, &lock));
  return work(&writer->writer);
}

Status WriteOne(SharedWriter* writer, Bytes record) {
  {
    std::unique_lock<std::mutex> lock(writer->mutex, std::try_to_lock);
    if (lock.owns_lock() && writer->writer.FitsBuffer(record.size)) return writer->writer.Write(&record, 1);
  }
  return WithoutGil(writer, [&](RecordWriter* w) { return w->Write(&record, 1); });
}

PyObject* Write(PyObject* self, PyObject* record) {
  SharedWriter* writer = WriterOf(self);
  if (writer == nullptr) return nullptr;
  if (PyBytes_Check(record)) {
    return NoneOrError(WriteOne(writer, {reinterpret_cast<const uint8_t*>(PyBytes_AS_STRING(record)),
                                         static_cast<size_t>(PyBytes_GET_SIZE(record))}));
  }
  if (PyUnicode_Check(record)) {
    Py_ssize_t size;
    const char* text = PyUnicode_AsUTF8AndSize(record, &size);
    if (text == nullptr) return nullptr;
    return NoneOrError(WriteOne(writer, {reinterpret_cast<const uint8_t*>(text), static_cast<size_t>(size)}));
  }
  try {
    const HeldBytes held = BytesOfPython(record, "a record");
    return NoneOrError(WriteOne(writer, held.bytes));
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const py::builtin_exception& error) {
    error.set_error();
  }
  return nullptr;
}

PyObject* WriteBatch(PyObject* self, PyObject* records) {
  SharedWriter* writer = WriterOf(self);
  if (writer == nullptr) return nullptr;
  try {
    const RecordBatchPtr batch = RecordsFromPython(records);
    return NoneOrError(
        WithoutGil(writer, [&](RecordWriter* w) { return w->Write(batch->records.data(), batch->size()); }));
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const py::builtin_exception& error) {
    error.set_error();
  }
  return nullptr;
}

PyObject* Flush(PyObject* self, PyObject*) {
  SharedWriter* writer = WriterOf(self);
  return writer == nullptr ? nullptr : NoneOrError(WithoutGil(writer, [](RecordWriter* w) { return w->Flush(); }));
}

PyObject* Close(PyObject* self, PyObject*) {
  SharedWriter* writer = Unbox<WriterPtr>(self).get();
  if (writer == nullptr) Py_RETURN_NONE;
  return NoneOrError(WithoutGil(writer, [](RecordWriter* w) { return w->Close(); }));
}

PyObject* GetClosed(PyObject* self, void*) {
  SharedWriter* writer = Unbox<WriterPtr>(self).get();
  return PyBool_FromLong(writer == nullptr || writer->writer.closed());
}

PyObject* GetRecordsWritten(PyObject* self, void*) {
  SharedWriter* writer = Unbox<WriterPtr>(self).get();
  return PyLong_FromLongLong(writer == nullptr ? 0 : writer->writer.records_written());
}

// A writer is closed when it is dropped, as files are; what goes wrong then can only be reported, not raised. In a
// process forked from the one that opened it, nothing is written: the buffered records belong to the other process.
void DeallocWriter(PyObject* self) {
  WriterPtr& writer = Unbox<WriterPtr>(self);
  if (writer && writer->generation == ForkGeneration() && !writer->writer.closed()) {
    py::error_scope keep;
    const bool said = writer->writer.failed();  // an earlier failure was raised when it happened
    const Status status = WithoutGil(writer.get(), [](RecordWriter* w) { return w->Close(); });
    if (!status.ok() && !said) {
      SetPythonError(status);
      PyErr_WriteUnraisable(nullptr);
    }
  }
  Dealloc<WriterPtr>(self);
}

PyObject* New(PyTypeObject* type, PyObject*, PyObject*) { return Box(type, WriterPtr()); }

CompressionOptions MakeOptions(std::optional<int> level, std::optional<int> window_bits, std::optional<int> method,
                               std::optional<int> mem_level, std::optional<int> strategy,
                               std::optional<int> flush_mode) {
  constexpr int kUnset = CompressionOptions::kUnset;
  return {level.value_or(kUnset),     window_bits.value_or(kUnset), method.value_or(kUnset),
          mem_level.value_or(kUnset), strategy.value_or(kUnset),    flush_mode.value_or(kUnset)};
}

Compression CompressionOf(const std::string& name) {
  const std::optional<Compression> found = FindCompression(name);
  if (!found) throw py::value_error("unknown compression_type \"" + name + "\"");
  return *found;
}

// Opens a writer made by New. `target` is a path as bytes, or a binary file object; `close_file` says whether the
// object is closed with the writer. num_threads 0: as many as the process may use.
void Open(const py::object& self, const py::object& target, const std::string& compression_type,
          const CompressionOptions& options, bool close_file, bool append, size_t num_threads) {
  const Compression compression = CompressionOf(compression_type);
  ThrowIfError(CheckCompression(compression, options));
  std::unique_ptr<Sink> sink;
  const bool is_path = py::isinstance<py::bytes>(target);
  if (is_path) {
    const auto path = target.cast<std::string>();
    Status status;
    {
      py::gil_scoped_release no_gil;
      status = FileSink::Create(path, &sink, append ? FileSink::Open::kAppend : FileSink::Open::kCreate);
    }
    ThrowIfError(status);
  } else {
    sink = NewPythonSink(target, close_file, "");
  }
  const WriteFrom write_from = is_path ? WriteFrom::kAnyThread : WriteFrom::kCallerOnly;
  ThrowIfError(NewCompressedSink(std::move(sink), compression, options, num_threads, write_from, &sink));
  Unbox<WriterPtr>(self.ptr()) = std::make_unique<SharedWriter>(std::move(sink));
}

// Encodes rows of columns into the writers in turn; see encode/write_rows.h. No writer may be given twice.
void WriteColumns(const py::sequence& writers, const py::sequence& columns, size_t rows, uint64_t first,
                  size_t num_threads) {
  std::vector<SharedWriter*> shared;
  std::vector<RecordWriter*> outputs;
  for (const py::handle& object : writers) {
    if (!py::isinstance(object, writer_type)) throw py::type_error("not a RecordWriter");
    shared.push_back(WriterOf(object.ptr()));
    if (shared.back() == nullptr) throw py::error_already_set();
    outputs.push_back(&shared.back()->writer);
  }
  std::vector<Owner> owners;
  RowEncoder encoder;
  InitEncoder(MessageType::kExample, columns, py::list(), rows, &encoder, &owners);
  Status status;
  {
    py::gil_scoped_release no_gil;
    std::vector<std::unique_lock<std::mutex>> locks;
    for (SharedWriter* writer : shared) {
      if (status.ok()) status = LockIn(writer, &locks.emplace_back());
    }
    if (status.ok()) status = WriteRows(encoder, outputs, first, num_threads);
  }
  ThrowIfError(status);
}

PyMethodDef methods[] = {
    {"write", Write, METH_O,
     "write(record)\n\nAppends one record: any bytes-like object, or str, which is encoded as UTF-8.\n\n"
     "Raises FailedPreconditionError after close, OSError (errno and path set) if the file system refuses."},
    {"write_batch", WriteBatch, METH_O,
     "write_batch(records)\n\nAppends all records of a RecordBatch or a sequence of bytes-like objects, in one call "
     "and without the GIL."},
    {"flush", Flush, METH_NOARGS,
     "flush()\n\nWhen it returns, all records written so far have reached the operating system and can be read by "
     "others."},
    {"close", Close, METH_NOARGS, "close()\n\nFlushes and closes the file. Later calls do nothing."},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef properties[] = {
    {"closed", GetClosed, nullptr, "bool: whether the writer was closed.", nullptr},
    {"records_written", GetRecordsWritten, nullptr, "int: the number of records written.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

}  // namespace

void BindWriter(py::module_& m) {
  PyTypeObject* type =
      MakeType("tfrecord_fast._core.RecordWriter", sizeof(Boxed<WriterPtr>),
               {{Py_tp_new, Slot(New)},
                {Py_tp_dealloc, Slot(DeallocWriter)},
                {Py_tp_methods, methods},
                {Py_tp_getset, properties}},
               "Frames records into a file. Opened by _open_writer.", Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE);
  m.attr("RecordWriter") = writer_type = py::handle(reinterpret_cast<PyObject*>(type));
  m.def("write_columns", &WriteColumns, py::arg("writers"), py::arg("columns"), py::arg("rows"), py::arg("first"),
        py::arg("num_threads"));
  py::class_<CompressionOptions>(m, "CompressionOptions")
      .def(py::init(&MakeOptions), py::kw_only(), py::arg("level") = py::none(), py::arg("window_bits") = py::none(),
           py::arg("method") = py::none(), py::arg("mem_level") = py::none(), py::arg("strategy") = py::none(),
           py::arg("flush_mode") = py::none());
  m.def("open_writer", &Open, py::arg("writer"), py::arg("target"), py::arg("compression"), py::arg("options"),
        py::arg("close_file"), py::arg("append"), py::arg("num_threads"));
}

}  // namespace tfr
