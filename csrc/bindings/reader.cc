// Iterators over streams: one bytes object per record, or batches.
//
// The GIL is released while the stream works, and taken only to make the Python objects that are handed out.

#include <pybind11/stl.h>

#include <new>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/interrupt.h"
#include "bindings/bindings.h"
#include "bindings/boxed.h"
#include "bindings/stream.h"
#include "framing/open.h"

namespace py = pybind11;

namespace tfr {
namespace {

PyTypeObject* record_iterator_type = nullptr;
PyTypeObject* batch_iterator_type = nullptr;
PyTypeObject* column_iterator_type = nullptr;

struct RecordIterator {
  std::shared_ptr<SharedStream> stream;  // null at the end
  RecordBatchPtr batch;
  size_t next = 0;
};

PyObject* NextRecordOrThrow(PyObject* self) {
  auto& iterator = Unbox<RecordIterator>(self);
  while (true) {
    if (iterator.batch && iterator.next < iterator.batch->size()) {
      const Bytes& record = iterator.batch->records[iterator.next++];
      return PyBytes_FromStringAndSize(reinterpret_cast<const char*>(record.data),
                                       static_cast<Py_ssize_t>(record.size));
    }
    if (!iterator.stream) return nullptr;
    // The buffers go back before the next ones are asked for.
    if (iterator.batch) iterator.batch.reset();
    const std::shared_ptr<SharedStream> stream = iterator.stream;
    Delivered delivered;
    const bool ok = stream->Next(&delivered);
    if (!ok || delivered.at_end()) {
      iterator.stream.reset();
      if (!ok) return nullptr;
      continue;  // another thread may have left records here
    }
    if (iterator.batch) {
      // Another thread was faster: keep the records of both, in the order in which they came here.
      auto both = std::make_shared<RecordBatch>();
      both->records.assign(iterator.batch->records.begin() + static_cast<ptrdiff_t>(iterator.next),
                           iterator.batch->records.end());
      both->records.insert(both->records.end(), delivered.batch->records.begin(), delivered.batch->records.end());
      both->owners = iterator.batch->owners;
      both->owners.insert(both->owners.end(), delivered.batch->owners.begin(), delivered.batch->owners.end());
      delivered.batch = std::move(both);
    }
    iterator.batch = std::move(delivered.batch);
    iterator.next = 0;
  }
}

PyObject* NextRecord(PyObject* self) {
  try {
    return NextRecordOrThrow(self);
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
}

struct BatchIterator {
  std::shared_ptr<SharedStream> stream;  // null at the end
};

// Null at the end, or with a Python error set.
PyObject* NextDelivered(BatchIterator* iterator, py::object (*wrap)(const SharedStream&, Delivered)) {
  const std::shared_ptr<SharedStream> stream = iterator->stream;
  if (!stream) return nullptr;
  Delivered delivered;
  const bool ok = stream->Next(&delivered);
  if (!ok || delivered.at_end()) {
    iterator->stream.reset();
    return nullptr;
  }
  try {
    return wrap(*stream, std::move(delivered)).release().ptr();
  } catch (py::error_already_set& error) {
    error.restore();
    return nullptr;
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
}

PyObject* NextBatch(PyObject* self) {
  return NextDelivered(&Unbox<BatchIterator>(self), [](const SharedStream& stream, Delivered delivered) -> py::object {
    auto result = std::static_pointer_cast<ParseAhead::Result>(std::move(delivered.result));
    return WrapRecordBatch(std::move(delivered.batch),
                           std::make_shared<ParsedAhead>(ParsedAhead{stream.ahead(), std::move(result)}));
  });
}

// Of its own type, which boxes a BatchIterator too.
PyObject* NextColumns(PyObject* self) {
  return NextDelivered(&Unbox<BatchIterator>(self), [](const SharedStream& stream, Delivered delivered) -> py::object {
    py::object columns = stream.wrap()(delivered.result.get());
    if (!delivered.batch) return columns;
    return py::make_tuple(columns, WrapRecordBatch(std::move(delivered.batch)));
  });
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

template <typename Iterator>
py::object MakeIterator(PyTypeObject* type, Iterator value) {
  PyObject* iterator = Box(type, std::move(value));
  if (iterator == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(iterator);
}

void BindSkipped(py::module_& m) {
  using Skipped = Sequence::SkippedIn;
  py::class_<Skipped>(m, "SkippedStretch", "A damaged stretch that a stream skipped.")
      .def_property_readonly("path",
                             [](const Skipped& skipped) {
                               return py::reinterpret_steal<py::object>(PyUnicode_DecodeFSDefaultAndSize(
                                   skipped.path->data(), static_cast<Py_ssize_t>(skipped.path->size())));
                             })
      .def_property_readonly("offset", [](const Skipped& skipped) { return skipped.what.offset; })
      .def_property_readonly(
          "bytes",
          [](const Skipped& skipped) {
            return skipped.what.bytes < 0 ? std::nullopt : std::optional(skipped.what.bytes);
          },
          "None if that can't be known.")
      .def_property_readonly("reason", [](const Skipped& skipped) { return skipped.what.reason; });
}

}  // namespace

void BindReader(py::module_& m) {
  SetInterruptHook(AskPythonAboutSignals);
  m.def("detect_compression", [](std::string_view head) {
    return CompressionName(DetectCompression(reinterpret_cast<const uint8_t*>(head.data()), head.size()));
  });
  m.def("bytes_to_detect", [](std::string_view head) {
    return BytesToDetect(reinterpret_cast<const uint8_t*>(head.data()), head.size());
  });
  m.def("are_plain_paths", &ArePlainPaths);
  record_iterator_type = IteratorType("tfrecord_fast._core.RecordIterator", sizeof(Boxed<RecordIterator>),
                                      Dealloc<RecordIterator>, NextRecord);
  batch_iterator_type = IteratorType("tfrecord_fast._core.BatchIterator", sizeof(Boxed<BatchIterator>),
                                     Dealloc<BatchIterator>, NextBatch);
  column_iterator_type = IteratorType("tfrecord_fast._core.ColumnIterator", sizeof(Boxed<BatchIterator>),
                                      Dealloc<BatchIterator>, NextColumns);
  BindSkipped(m);
  py::class_<SharedStream, std::shared_ptr<SharedStream>>(m, "RecordStream",
                                                          "Batches of records from a list of files, in order.")
      .def(py::init([](const py::sequence& files, const py::object& state, const py::object& plan, bool keep_batches,
                       const py::kwargs& values) {
             return NewStream(FilesOf(files), OptionsOf(values),
                              state.is_none() ? StreamState() : StateOfPython(state.cast<py::dict>()),
                              plan.is_none() ? StreamParser() : StreamParserOf(plan, keep_batches));
           }),
           py::arg("files"), py::arg("state") = py::none(), py::arg("plan") = py::none(), py::kw_only(),
           py::arg("keep_batches") = false)
      .def(
          "records",
          [](const std::shared_ptr<SharedStream>& stream) {
            if (!stream->ahead()) throw py::type_error("a stream with a plan has columns, not records");
            return MakeIterator(record_iterator_type, RecordIterator{stream, nullptr, 0});
          },
          "An iterator over records, as bytes.")
      .def(
          "batches",
          [](const std::shared_ptr<SharedStream>& stream) {
            if (!stream->ahead()) throw py::type_error("a stream with a plan has columns, not batches");
            return MakeIterator(batch_iterator_type, BatchIterator{stream});
          },
          "An iterator over batches, as RecordBatch.")
      .def(
          "columns",
          [](const std::shared_ptr<SharedStream>& stream) {
            if (!stream->wrap()) throw py::type_error("a stream without a plan has no columns");
            return MakeIterator(column_iterator_type, BatchIterator{stream});
          },
          "An iterator over what the plan makes of each batch, as its own parse gives it; with keep_batches, over "
          "pairs of\n"
          "that and the batch.")
      .def(
          "state", [](SharedStream& stream) { return StateToPython(stream.State()); },
          "The position of the stream after the batches given, as a dict ready for JSON.")
      .def("take_skipped", &SharedStream::TakeSkipped, "The stretches skipped since the last call.");
}

}  // namespace tfr
