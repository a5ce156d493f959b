// The queue of fetches as Python's threads see it: they take what is wanted, and deliver it.
//
// A thread that waits has let go of the GIL. A buffer that is delivered is held, not copied, and freed by one of the
// threads that take.

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "bindings/bindings.h"
#include "bindings/gil.h"
#include "bindings/named_tuple.h"
#include "bindings/owned_once.h"
#include "io/fetch_queue.h"

namespace py = pybind11;

namespace tfr {
namespace {

NamedTuple wanted_type("tfrecord_fast._core.Wanted", {"number", "object", "start", "end", "opens", "more"});

// Waits for bytes that are wanted; None when there will be no more.
py::object TakeWanted(FetchQueue& queue) {
  while (true) {
    FetchQueue::Taken taken;
    {
      GilReleased no_gil;
      taken = queue.Take();
    }
    taken.garbage.clear();
    if (const FetchPtr& fetch = taken.fetch) {
      return wanted_type(fetch->number, fetch->object, fetch->begin, fetch->end, fetch->opens, taken.more);
    }
    if (taken.closed) return py::none();
  }
}

// `object_size`: of the whole object, if `opens` requested it.
void Deliver(FetchQueue& queue, uint64_t number, const py::object& data, std::optional<int64_t> object_size) {
  Bytes bytes;
  Owner owner = HoldBuffer(data, &bytes);
  if (!owner) throw py::type_error("the delivered object is not a contiguous buffer of bytes");
  GilReleased no_gil;
  queue.Deliver(number, bytes, std::move(owner), object_size.value_or(-1));
}

void Fail(FetchQueue& queue, uint64_t number, int error_number, std::string message) {
  Status status = Status::OsError(error_number > 0 ? error_number : EIO, std::move(message));
  GilReleased no_gil;
  queue.Fail(number, std::move(status));
}

void CloseQueue(FetchQueue& queue) {
  if (!queue.InOwnProcess()) return;
  GilReleased no_gil;
  queue.Close();
}

std::shared_ptr<FetchQueue> NewQueue(size_t bytes, size_t block_bytes, size_t requests) {
  // In a forked process its locks may be held by threads that are not there: then it is left as it is.
  return {new FetchQueue({bytes, block_bytes, requests}), [](FetchQueue* queue) {
            if (queue->InOwnProcess()) delete queue;
          }};
}

}  // namespace

void BindFetches(py::module_& m) {
  wanted_type.Bind(m);
  NewClass<FetchQueue, std::shared_ptr<FetchQueue>>(m, "FetchQueue")
      .def(py::init(&NewQueue), py::kw_only(), py::arg("bytes"), py::arg("block_bytes"), py::arg("requests"))
      .def("take", &TakeWanted)
      .def("deliver", &Deliver, py::arg("number"), py::arg("data"), py::arg("object_size") = py::none())
      .def("fail", &Fail, py::arg("number"), py::arg("error_number"), py::arg("message"))
      .def("close", &CloseQueue);
}

}  // namespace tfr
