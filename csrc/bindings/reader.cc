// Iterators over many files: bytes objects a record, or batches.
//
// The GIL is released while the stream reads, and taken only to make the Python objects that are handed out.

#include <pybind11/stl.h>

#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/boxed.h"
#include "bindings/python_io.h"
#include "pipeline/record_stream.h"

namespace py = pybind11;

namespace tfr {
namespace {

PyTypeObject* record_iterator_type = nullptr;
PyTypeObject* stream_batch_iterator_type = nullptr;

// A stream that several Python threads may ask in turn. The lock is only taken without the GIL.
class SharedStream {
 public:
  SharedStream(std::vector<InputFile> files, const StreamOptions& options) : stream_(std::move(files), options) {}

  // False with a Python error set; *batch is null at the end.
  bool Next(size_t max_records, RecordBatchPtr* batch) {
    Status status;
    {
      py::gil_scoped_release no_gil;
      std::lock_guard<std::mutex> lock(mutex_);
      status = stream_.Next(max_records, batch);
    }
    if (status.ok()) return true;
    SetPythonError(status);
    return false;
  }

 private:
  std::mutex mutex_;
  RecordStream stream_;
};

// Joining the stream's threads must not hold up others who want the GIL.
std::shared_ptr<SharedStream> NewStream(std::vector<InputFile> files, const StreamOptions& options) {
  return std::shared_ptr<SharedStream>(new SharedStream(std::move(files), options), [](SharedStream* stream) {
    if (PyGILState_Check()) {
      py::gil_scoped_release no_gil;
      delete stream;
    } else {
      delete stream;
    }
  });
}

struct RecordIterator {
  std::shared_ptr<SharedStream> stream;  // null at the end
  RecordBatchPtr batch;
  size_t next = 0;
};

PyObject* NextRecord(PyObject* self) {
  auto& iterator = Unbox<RecordIterator>(self);
  while (true) {
    if (iterator.batch && iterator.next < iterator.batch->size()) {
      const Bytes& record = iterator.batch->records[iterator.next++];
      return PyBytes_FromStringAndSize(reinterpret_cast<const char*>(record.data), static_cast<Py_ssize_t>(record.size));
    }
    if (!iterator.stream) return nullptr;
    // The buffers go back before the next are asked for.
    if (iterator.batch) iterator.batch.reset();
    const std::shared_ptr<SharedStream> stream = iterator.stream;
    RecordBatchPtr fresh;
    const bool ok = stream->Next(RecordStream::kAsTheyCome, &fresh);
    if (!ok || !fresh) {
      iterator.stream.reset();
      if (!ok) return nullptr;
      continue;  // another thread may have left records here
    }
    if (!iterator.batch) {
      iterator.batch = std::move(fresh);
      iterator.next = 0;
    } else {
      // Another thread was faster: keep the records of both, in the order in which they came here.
      auto both = std::make_shared<RecordBatch>();
      both->records.assign(iterator.batch->records.begin() + static_cast<ptrdiff_t>(iterator.next), iterator.batch->records.end());
      both->records.insert(both->records.end(), fresh->records.begin(), fresh->records.end());
      both->owners = iterator.batch->owners;
      both->owners.insert(both->owners.end(), fresh->owners.begin(), fresh->owners.end());
      iterator.batch = std::move(both);
      iterator.next = 0;
    }
  }
}

struct StreamBatchIterator {
  std::shared_ptr<SharedStream> stream;  // null at the end
  size_t batch_size;                     // RecordStream::kAsTheyCome for as they come
  bool drop_remainder;
};

PyObject* NextBatch(PyObject* self) {
  auto& iterator = Unbox<StreamBatchIterator>(self);
  const std::shared_ptr<SharedStream> stream = iterator.stream;
  if (!stream) return nullptr;
  RecordBatchPtr batch;
  const bool ok = stream->Next(iterator.batch_size, &batch);
  if (!ok || !batch || (iterator.drop_remainder && batch->size() < iterator.batch_size)) {
    iterator.stream.reset();
    return nullptr;
  }
  try {
    return WrapRecordBatch(std::move(batch)).release().ptr();
  } catch (py::error_already_set& error) {
    error.restore();
    return nullptr;
  }
}

CompressionChoice CompressionOf(const py::object& name) {
  if (name.is_none()) return std::nullopt;
  const auto text = name.cast<std::string>();
  for (Compression known : {Compression::kNone, Compression::kGzip, Compression::kZlib, Compression::kZstd}) {
    if (text == CompressionName(known)) return known;
  }
  throw py::value_error("unknown compression_type \"" + text + "\"");
}

// A file is (path as bytes, None) or (name as bytes, opener); see OpenerOfPython.
std::shared_ptr<SharedStream> StreamOf(const py::sequence& files, const py::object& compression, size_t cycle_length,
                                       size_t block_length, size_t num_threads, size_t chunk_bytes,
                                       size_t prefetch_bytes, bool verify_crc) {
  std::vector<InputFile> inputs;
  inputs.reserve(files.size());
  for (const py::handle& file : files) {
    const auto pair = py::cast<py::tuple>(file);
    InputFile input;
    input.path = std::make_shared<const std::string>(pair[0].cast<std::string>());
    if (!pair[1].is_none()) input.open = OpenerOfPython(pair[1]);
    inputs.push_back(std::move(input));
  }
  StreamOptions options;
  options.lane.compression = CompressionOf(compression);
  options.lane.verify_data = verify_crc;
  options.lane.chunk_bytes = std::max<size_t>(chunk_bytes, 64);
  options.cycle_length = cycle_length;
  options.block_length = std::max<size_t>(block_length, 1);
  options.num_threads = num_threads;
  options.prefetch_bytes = prefetch_bytes;
  return NewStream(std::move(inputs), options);
}

Status AskPythonAboutSignals() {
  py::gil_scoped_acquire gil;
  return PyErr_CheckSignals() == 0 ? Status() : Status::Cancelled();
}

PyTypeObject* IteratorType(const char* name, size_t size, destructor dealloc, iternextfunc next) {
  return MakeType(name, size,
                  {{Py_tp_dealloc, Slot(dealloc)}, {Py_tp_iter, Slot(PyObject_SelfIter)}, {Py_tp_iternext, Slot(next)}},
                  nullptr);
}

}  // namespace

void BindReader(py::module_& m) {
  SetInterruptHook(AskPythonAboutSignals);
  record_iterator_type = IteratorType("tfrecord_fast._core.RecordIterator", sizeof(Boxed<RecordIterator>),
                                      Dealloc<RecordIterator>, NextRecord);
  stream_batch_iterator_type = IteratorType("tfrecord_fast._core.StreamBatchIterator", sizeof(Boxed<StreamBatchIterator>),
                                            Dealloc<StreamBatchIterator>, NextBatch);
  py::class_<SharedStream, std::shared_ptr<SharedStream>>(m, "RecordStream")
      .def(py::init(&StreamOf), py::arg("files"), py::arg("compression") = py::none(), py::kw_only(),
           py::arg("cycle_length") = 1, py::arg("block_length") = 1, py::arg("num_threads") = 1,
           py::arg("chunk_bytes") = 512 << 10, py::arg("prefetch_bytes") = 8 << 20, py::arg("verify_crc") = true)
      .def("records",
           [](const std::shared_ptr<SharedStream>& stream) {
             PyObject* iterator = Box(record_iterator_type, RecordIterator{stream, nullptr, 0});
             if (iterator == nullptr) throw py::error_already_set();
             return py::reinterpret_steal<py::object>(iterator);
           })
      .def(
          "batches",
          [](const std::shared_ptr<SharedStream>& stream, size_t batch_size, bool drop_remainder) {
            PyObject* iterator = Box(stream_batch_iterator_type, StreamBatchIterator{stream, batch_size, drop_remainder});
            if (iterator == nullptr) throw py::error_already_set();
            return py::reinterpret_steal<py::object>(iterator);
          },
          py::arg("batch_size"), py::arg("drop_remainder") = false);
}

}  // namespace tfr
