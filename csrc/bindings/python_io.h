// Python objects as sources and sinks.

#ifndef TFRECORD_FAST_BINDINGS_PYTHON_IO_H_
#define TFRECORD_FAST_BINDINGS_PYTHON_IO_H_

#include <pybind11/pybind11.h>

#include <functional>
#include <memory>
#include <string>

#include "base/status.h"
#include "io/sink.h"
#include "io/source.h"

namespace tfr {

// An OSError with an errno as kIoError; any other exception as kCancelled: it stays set in this thread and is what
// ThrowStatus raises. Called with the GIL held, in the thread that will call ThrowStatus.
Status PythonErrorAsStatus(pybind11::error_already_set& error);

// Opens what `opener()` returns, which is called with the GIL held: a readable binary file object, which is closed when
// the source is destroyed; an int, which is an open file descriptor and only borrowed; or any object with the buffer
// protocol, which is read as memory.
std::function<Status(std::unique_ptr<Source>*)> OpenerOfPython(pybind11::object opener);

// Writes into a binary file object; `close` says whether Close closes it too, or only flushes.
std::unique_ptr<Sink> NewPythonSink(pybind11::object file, bool close, std::string path);

}  // namespace tfr

#endif  // TFRECORD_FAST_BINDINGS_PYTHON_IO_H_
