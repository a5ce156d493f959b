// Python objects as sources and sinks.

#pragma once

#include <pybind11/pybind11.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "codec/codec.h"
#include "io/remote_file.h"
#include "io/sink.h"
#include "io/source.h"

namespace tfr {

// An OSError with an errno as kIoError; any other exception as kCancelled: it stays set in this thread and is what
// ThrowStatus raises. Called with the GIL held, in the thread that will call ThrowStatus.
Status PythonErrorAsStatus(pybind11::error_already_set& error);

// References to Python objects that C++ holds for one object of Python, which shows them to the garbage collector: a
// file may refer to what reads it. All is called with the GIL held, except for the destructor.
class PythonReferences {
 public:
  PythonReferences() = default;
  ~PythonReferences();
  PythonReferences(const PythonReferences&) = delete;
  PythonReferences& operator=(const PythonReferences&) = delete;

  // Holds the object until it is dropped; returns its number.
  size_t Add(const pybind11::object& object);
  // Borrowed; null after Clear.
  PyObject* Get(size_t number) const { return objects_[number]; }
  void Drop(size_t number);
  bool empty() const { return objects_.empty(); }

  // The owner's tp_traverse and tp_clear call these.
  int Traverse(visitproc visit, void* argument) const;
  void Clear();

 private:
  std::vector<PyObject*> objects_;
  std::vector<size_t> free_;  // numbers
};

// The compression of this name; ValueError if none has it.
Compression CompressionNamed(const std::string& name);

// `object` has `number` and `size`: which of the queue's objects it is, and its bytes, or None. Nothing for None.
std::optional<RemoteObject> RemoteObjectOf(const pybind11::object& object);

// Opens what `opener()` returns, which is called with the GIL held: a readable binary file object, which is closed when
// the source is destroyed; an int, which is an open file descriptor and only borrowed; or any object with the buffer
// protocol, which is read as memory.
std::function<Status(std::unique_ptr<Source>*)> OpenerOfPython(const pybind11::object& opener,
                                                               std::shared_ptr<PythonReferences> references);

// Writes into a binary file object; Close closes it if `close`, else only flushes it.
std::unique_ptr<Sink> NewPythonSink(const pybind11::object& file, bool close,
                                    std::shared_ptr<PythonReferences> references);

}  // namespace tfr
