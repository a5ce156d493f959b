// Iterators over streams: one bytes object per record, or batches.
//
// The GIL is released while the stream works, and taken only to make the Python objects that are handed out.

#include <pybind11/stl.h>

#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include "base/interrupt.h"
#include "bindings/bindings.h"
#include "bindings/boxed.h"
#include "bindings/bytes_sequence.h"
#include "bindings/gil.h"
#include "bindings/named_tuple.h"
#include "bindings/owned_once.h"
#include "bindings/stream.h"
#include "framing/open.h"

namespace py = pybind11;

namespace tfr {
namespace {

PyTypeObject* record_iterator_type = nullptr;
PyTypeObject* batch_iterator_type = nullptr;
PyTypeObject* column_iterator_type = nullptr;

// Iterators keep the Python object of their stream as well as the stream itself: the garbage collector finds what the
// stream holds through that object, once, however many iterators there are.
struct RecordIterator {
  py::object owner;  // null at the end, as is the stream
  std::shared_ptr<SharedStream> stream;
  RecordBatchPtr batch;
  const Bytes* next = nullptr;  // in the batch, as is `end`
  const Bytes* end = nullptr;
};

// While the GIL is released, another thread may drop the last reference to an iterator that is borrowed here.
py::object Keep(PyObject* self) { return py::reinterpret_borrow<py::object>(self); }

// The stream goes before its object.
template <typename Iterator>
void EndIterator(Iterator* iterator) {
  iterator->stream.reset();
  py::object(std::move(iterator->owner));
}

// The next batch that has records; false at the end, and with Python's error set if there is one. The caller keeps the
// iterator.
bool Refill(PyObject* self) {
  auto& iterator = Unbox<RecordIterator>(self);
  while (iterator.next == iterator.end) {
    if (!iterator.stream) return false;
    // The buffers go back before the next ones are needed.
    if (iterator.batch) iterator.batch.reset();
    const std::shared_ptr<SharedStream> stream = iterator.stream;
    Delivered delivered;
    const SharedStream::Next next = stream->TakeNext(&delivered);
    if (next == SharedStream::Next::kEnd || next == SharedStream::Next::kFailedAtEnd) EndIterator(&iterator);
    if (next == SharedStream::Next::kEnd) continue;  // another thread may have left records here
    if (next != SharedStream::Next::kDelivered) return false;
    if (iterator.batch) {
      // Another thread was faster: keep the records of both, in the order in which they came here.
      auto both = std::make_shared<RecordBatch>();
      both->records.assign(iterator.next, iterator.end);
      both->records.insert(both->records.end(), delivered.batch->records.begin(), delivered.batch->records.end());
      both->owners = iterator.batch->owners;
      both->owners.insert(both->owners.end(), delivered.batch->owners.begin(), delivered.batch->owners.end());
      delivered.batch = std::move(both);
    }
    iterator.batch = std::move(delivered.batch);
    iterator.next = iterator.batch->records.data();
    iterator.end = iterator.next + iterator.batch->size();
  }
  return true;
}

PyObject* NextRecordOfNextBatch(PyObject* self) {
  const py::object kept = Keep(self);
  return Refill(self) ? MakeBytes(*Unbox<RecordIterator>(self).next++) : nullptr;
}

// Nearly all calls find a record here, and have nothing else to do: the rest is kept out of their way.
PyObject* NextRecord(PyObject* self) {
  auto& iterator = Unbox<RecordIterator>(self);
  if (iterator.next == iterator.end) [[unlikely]]
    return NextRecordOfNextBatch(self);
  return MakeBytes(*iterator.next++);
}

struct BatchIterator {
  py::object owner;  // null at the end, as is the stream
  std::shared_ptr<SharedStream> stream;
};

// Null at the end, or with a Python error set.
PyObject* NextDelivered(PyObject* self, py::object (*wrap)(const SharedStream&, Delivered)) {
  const py::object kept = Keep(self);
  auto& iterator = Unbox<BatchIterator>(self);
  const std::shared_ptr<SharedStream> stream = iterator.stream;
  if (!stream) return nullptr;
  Delivered delivered;
  const SharedStream::Next next = stream->TakeNext(&delivered);
  if (next == SharedStream::Next::kEnd || next == SharedStream::Next::kFailedAtEnd) EndIterator(&iterator);
  if (next != SharedStream::Next::kDelivered) return nullptr;
  return wrap(*stream, std::move(delivered)).release().ptr();
}

PyObject* NextBatch(PyObject* self) {
  return NextDelivered(self, [](const SharedStream& stream, Delivered delivered) -> py::object {
    auto result = std::static_pointer_cast<ParseAhead::Result>(std::move(delivered.result));
    return WrapRecordBatch(std::move(delivered.batch),
                           std::make_shared<ParsedAhead>(ParsedAhead{stream.ahead(), std::move(result)}));
  });
}

// tp_iternext of its own type, which also boxes a BatchIterator.
PyObject* NextColumns(PyObject* self) {
  return NextDelivered(self, [](const SharedStream& stream, Delivered delivered) -> py::object {
    py::object columns = stream.wrap()(delivered.result.get());
    if (!delivered.batch) return columns;
    return py::make_tuple(columns, WrapRecordBatch(std::move(delivered.batch)));
  });
}

Status AskPythonAboutSignals() {
  if (InterpreterEnds()) return {};
  GilHeld gil;
  return CallPython([] { return PyErr_CheckSignals(); }) == 0 ? Status() : Status::Cancelled();
}

template <typename Iterator>
int Traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(Unbox<Iterator>(self).owner.ptr());
  return 0;
}

template <typename Iterator>
int Clear(PyObject* self) {
  EndIterator(&Unbox<Iterator>(self));
  return 0;
}

template <typename Iterator, PyObject* (*next)(PyObject*)>
PyTypeObject* IteratorType(const char* name) {
  return MakeType(name, sizeof(Boxed<Iterator>),
                  {{Py_tp_dealloc, Slot(Dealloc<Iterator>)},
                   {Py_tp_traverse, Slot(Traverse<Iterator>)},
                   {Py_tp_clear, Slot(Clear<Iterator>)},
                   {Py_tp_iter, Slot(PyObject_SelfIter)},
                   {Py_tp_iternext, Slot(Guarded<next>)}},
                  nullptr, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_HAVE_GC);
}

enum class Yields : uint8_t { kRecords, kColumns };

template <typename Iterator, PyTypeObject** type, Yields yields>
py::object MakeIterator(py::object owner) {
  auto stream = owner.cast<std::shared_ptr<SharedStream>>();
  const bool has_plan = !stream->ahead();
  if (has_plan && yields == Yields::kRecords) throw py::type_error("a stream with a plan has columns, not records");
  if (!has_plan && yields == Yields::kColumns) throw py::type_error("a stream without a plan has no columns");
  Iterator made;
  made.owner = std::move(owner);
  made.stream = std::move(stream);
  PyObject* iterator = Box(*type, std::move(made));
  if (iterator == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(iterator);
}

// For the garbage collector: what the stream in a Python object holds of Python's; null before its __init__.
PythonReferences* ReferencesOf(PyObject* self) {
  const auto holder = reinterpret_cast<py::detail::instance*>(self)->get_value_and_holder();
  return holder.holder_constructed() ? &holder.holder<std::shared_ptr<SharedStream>>()->references() : nullptr;
}

int TraverseStream(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  const PythonReferences* references = ReferencesOf(self);
  return references == nullptr ? 0 : references->Traverse(visit, arg);
}

int ClearStream(PyObject* self) {
  if (PythonReferences* references = ReferencesOf(self)) references->Clear();
  return 0;
}

void CollectStreams(PyHeapTypeObject* heap_type) {
  PyTypeObject& type = heap_type->ht_type;
  type.tp_flags |= Py_TPFLAGS_HAVE_GC;
  type.tp_traverse = TraverseStream;
  type.tp_clear = ClearStream;
}

// A damaged stretch that a stream skipped; `bytes` is None if the size can't be known.
NamedTuple skipped_stretch("tfrecord_fast._core.SkippedStretch", {"path", "offset", "bytes", "reason"});

py::list TakeSkipped(SharedStream& stream) {
  py::list stretches;
  for (const auto& [path, skipped] : stream.TakeSkipped()) {
    const py::object bytes = skipped.bytes < 0 ? py::object(py::none()) : py::int_(skipped.bytes);
    stretches.append(skipped_stretch(PathText(*path), skipped.offset, bytes, skipped.reason));
  }
  return stretches;
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
  record_iterator_type = IteratorType<RecordIterator, NextRecord>("tfrecord_fast._core.RecordIterator");
  batch_iterator_type = IteratorType<BatchIterator, NextBatch>("tfrecord_fast._core.BatchIterator");
  column_iterator_type = IteratorType<BatchIterator, NextColumns>("tfrecord_fast._core.ColumnIterator");
  m.attr("RecordIterator") = py::handle(reinterpret_cast<PyObject*>(record_iterator_type));
  skipped_stretch.Bind(m);
  NewClass<SharedStream, std::shared_ptr<SharedStream>>(m, "RecordStream", py::custom_type_setup(CollectStreams))
      .def(py::init([](const py::sequence& files, const py::object& state, const py::object& plan, bool keep_batches,
                       const py::kwargs& values) {
             StreamOptions options = OptionsOf(values);
             options.lane.keep_checkpoints = files.size() <= options.num_threads;
             return NewStream(
                 FilesOf(files), options, state.is_none() ? StreamState() : StateOfPython(state.cast<py::dict>()),
                 plan.is_none() ? StreamParser() : StreamParserOf(plan, keep_batches, options.sequence.seed));
           }),
           py::arg("files"), py::arg("state") = py::none(), py::arg("plan") = py::none(), py::kw_only(),
           py::arg("keep_batches") = false)
      .def("records", &MakeIterator<RecordIterator, &record_iterator_type, Yields::kRecords>)
      .def("batches", &MakeIterator<BatchIterator, &batch_iterator_type, Yields::kRecords>)
      .def("columns", &MakeIterator<BatchIterator, &column_iterator_type, Yields::kColumns>)
      .def("state", [](SharedStream& stream) { return StateToPython(stream.State()); })
      .def("take_skipped", &TakeSkipped);
}

}  // namespace tfr
