// The record writer as a Python type, written against CPython's slots: writing a small record costs little more than
// its copy and its CRC.

#include "framing/writer.h"

#include <pybind11/stl.h>

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/boxed.h"
#include "bindings/bytes_like.h"
#include "bindings/call_lock.h"
#include "bindings/encode.h"
#include "bindings/gil.h"
#include "bindings/python_io.h"
#include "codec/codec.h"
#include "codec/compressed_sink.h"
#include "encode/write_rows.h"

namespace py = pybind11;

namespace tfr {
namespace {

struct SharedWriter {
  CallLock lock{"the writer", CallLock::AfterFork::kUnusable};
  const std::shared_ptr<PythonReferences> references;  // what the writer holds of Python's
  RecordWriter writer;
  SharedWriter(std::unique_ptr<Sink> sink, std::shared_ptr<PythonReferences> held)
      : references(std::move(held)), writer(std::move(sink)) {}
};

using WriterPtr = std::unique_ptr<SharedWriter>;

py::handle writer_type;  // lives as long as the module

// Those that write to Python's objects, borrowed: they are closed before the interpreter ends, while those can be
// called. Guarded by the GIL.
std::unordered_set<PyObject*>& PythonWriters() {
  static auto* all = new std::unordered_set<PyObject*>;  // never destroyed: writers may live longer
  return *all;
}

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

using Patience = CallLock::Patience;

template <typename Work>
Status Locked(SharedWriter* shared, Work work, Patience patience = Patience::kEndless) {
  return shared->lock.Run([&] { return work(&shared->writer); }, patience);
}

Status WriteOne(SharedWriter* writer, Bytes record) {
  {
    const std::unique_lock<std::mutex> lock = writer->lock.TryLock();
    if (lock && writer->writer.FitsBuffer(record.size)) return writer->writer.Write(&record, 1);
  }
  return Locked(writer, [&](RecordWriter* w) { return w->Write(&record, 1); });
}

PyObject* Write(PyObject* self, PyObject* record) {
  SharedWriter* writer = WriterOf(self);
  if (writer == nullptr) return nullptr;
  Bytes bytes;
  if (PlainBytes(record, &bytes)) return NoneOrError(WriteOne(writer, bytes));
  const HeldBytes held = BytesOfPython(record, "a record");
  return NoneOrError(WriteOne(writer, held.bytes));
}

PyObject* WriteBatch(PyObject* self, PyObject* records) {
  SharedWriter* writer = WriterOf(self);
  if (writer == nullptr) return nullptr;
  const RecordBatchPtr batch = RecordsFromPython(records);
  return NoneOrError(Locked(writer, [&](RecordWriter* w) { return w->Write(batch->records.data(), batch->size()); }));
}

PyObject* Flush(PyObject* self, PyObject*) {
  SharedWriter* writer = WriterOf(self);
  return writer == nullptr ? nullptr : NoneOrError(Locked(writer, [](RecordWriter* w) { return w->Flush(); }));
}

PyObject* Close(PyObject* self, PyObject*) {
  SharedWriter* writer = Unbox<WriterPtr>(self).get();
  if (writer == nullptr) Py_RETURN_NONE;
  if (writer->lock.forked() && writer->writer.closed()) Py_RETURN_NONE;
  return NoneOrError(Locked(writer, [](RecordWriter* w) { return w->Close(); }));
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
void CloseDropped(PyObject* self, Patience patience) {
  SharedWriter* writer = Unbox<WriterPtr>(self).get();
  if (writer == nullptr || writer->lock.forked() || writer->writer.closed()) return;
  py::error_scope keep;
  const bool said = writer->writer.failed();  // an earlier failure was raised when it happened
  const Status status = Locked(writer, [](RecordWriter* w) { return w->Close(); }, patience);
  if (!status.ok() && !said) {
    SetPythonError(status);
    PyErr_WriteUnraisable(nullptr);
  }
}

void Finalize(PyObject* self) { CloseDropped(self, Patience::kEndless); }

void DeallocWriter(PyObject* self) {
  PyObject_GC_UnTrack(self);
  PythonWriters().erase(self);
  WriterPtr& writer = Unbox<WriterPtr>(self);
  if (writer && !writer->references->empty() && InterpreterEnds()) {
    (void)writer.release();  // too late to call Python
  } else {
    Finalize(self);
  }
  Dealloc<WriterPtr>(self);
}

int TraverseWriter(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  const WriterPtr& writer = Unbox<WriterPtr>(self);
  return writer ? writer->references->Traverse(visit, arg) : 0;
}

int ClearWriter(PyObject* self) {
  if (const WriterPtr& writer = Unbox<WriterPtr>(self)) writer->references->Clear();
  return 0;
}

// Before the interpreter ends, while everything can still be called.
void ClosePythonWriters() {
  std::vector<py::object> open;
  for (PyObject* writer : PythonWriters()) open.push_back(py::reinterpret_borrow<py::object>(writer));
  for (const py::object& writer : open) CloseDropped(writer.ptr(), Patience::kShort);
}

PyObject* NewWriter(PyTypeObject* type, PyObject*, PyObject*) { return Box(type, WriterPtr()); }

// By the names of TFRecordOptions; those that are not set are missing.
using OptionValues = std::map<std::string, int>;

CompressionOptions OptionsOf(const OptionValues& values) {
  const auto value = [&](const char* name) {
    const auto found = values.find(name);
    return found == values.end() ? CompressionOptions::kUnset : found->second;
  };
  return {.level = value("compression_level"),
          .window_bits = value("window_bits"),
          .method = value("compression_method"),
          .mem_level = value("mem_level"),
          .strategy = value("compression_strategy"),
          .flush_mode = value("flush_mode")};
}

// Opens a writer made by New. `target` is a path as bytes, or a binary file object; `close_file` decides whether the
// object is closed with the writer. num_threads 0: as many as the process may use.
void Open(const py::object& self, const py::object& target, const std::string& compression_type,
          const OptionValues& option_values, bool close_file, bool append, size_t num_threads) {
  if (Unbox<WriterPtr>(self.ptr())) throw py::value_error("the writer is open already");
  const Compression compression = CompressionNamed(compression_type);
  const CompressionOptions options = OptionsOf(option_values);
  ThrowIfError(CheckCompression(compression, options));
  std::unique_ptr<Sink> sink;
  auto references = std::make_shared<PythonReferences>();
  if (py::isinstance<py::bytes>(target)) {
    const auto path = target.cast<std::string>();
    Status status;
    {
      GilReleased no_gil;
      status = FileSink::Create(path, &sink, append ? FileSink::Open::kAppend : FileSink::Open::kCreate);
    }
    ThrowIfError(status);
  } else {
    sink = NewPythonSink(target, close_file, references);
    if (!close_file) PythonWriters().insert(self.ptr());  // a file that was opened for this is dropped, not completed
  }
  ThrowIfError(NewCompressedSink(std::move(sink), compression, options, num_threads, &sink));
  Unbox<WriterPtr>(self.ptr()) = std::make_unique<SharedWriter>(std::move(sink), std::move(references));
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
    GilReleased no_gil;
    std::deque<CallLock::Held> held;
    for (SharedWriter* writer : shared) {
      if (status.ok()) status = held.emplace_back(&writer->lock).Lock();
    }
    if (status.ok()) status = WriteRows(encoder, outputs, first, num_threads);
  }
  ThrowIfError(status);
}

PyMethodDef writer_methods[] = {
    {"write", Guarded<Write>, METH_O,
     "write(record)\n\nAppends one record: any bytes-like object, or str, which is encoded as UTF-8.\n\n"
     "Raises FailedPreconditionError after close, OSError (errno and path set) if the file system refuses."},
    {"write_batch", Guarded<WriteBatch>, METH_O,
     "write_batch(records)\n\nAppends all records of a RecordBatch or a sequence of bytes-like objects, in one call "
     "and without the GIL."},
    {"flush", Guarded<Flush>, METH_NOARGS,
     "flush()\n\nWhen it returns, all records written so far have reached the operating system and can be read by "
     "others."},
    {"close", Guarded<Close>, METH_NOARGS, "close()\n\nFlushes and closes the file. Later calls do nothing."},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef writer_properties[] = {
    {"closed", GetClosed, nullptr, "bool: whether the writer was closed.", nullptr},
    {"records_written", GetRecordsWritten, nullptr, "int: the number of records written.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

}  // namespace

void BindWriter(py::module_& m) {
  PyTypeObject* type = MakeType("tfrecord_fast._core.RecordWriter", sizeof(Boxed<WriterPtr>),
                                {{Py_tp_new, Slot(NewWriter)},
                                 {Py_tp_dealloc, Slot(DeallocWriter)},
                                 {Py_tp_finalize, Slot(Finalize)},
                                 {Py_tp_traverse, Slot(TraverseWriter)},
                                 {Py_tp_clear, Slot(ClearWriter)},
                                 {Py_tp_methods, writer_methods},
                                 {Py_tp_getset, writer_properties}},
                                "Frames records into a file. Opened by _open_writer.",
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC);
  py::module_::import("atexit").attr("register")(py::cpp_function(ClosePythonWriters));
  m.attr("RecordWriter") = writer_type = py::handle(reinterpret_cast<PyObject*>(type));
  m.def("write_columns", &WriteColumns, py::arg("writers"), py::arg("columns"), py::arg("rows"), py::arg("first"),
        py::arg("num_threads"));
  m.def("open_writer", &Open, py::arg("writer"), py::arg("target"), py::arg("compression"), py::arg("options"),
        py::arg("close_file"), py::arg("append"), py::arg("num_threads"));
}

}  // namespace tfr
