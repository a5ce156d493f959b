// References to Python objects that the garbage collector sees; see python_io.h.

#include <utility>

#include "bindings/gil.h"
#include "bindings/python_io.h"

namespace py = pybind11;

namespace tfr {

PythonReferences::~PythonReferences() {
  DropWithGil([this] { Clear(); });
}

size_t PythonReferences::Add(const py::object& object) {
  size_t number;
  if (free_.empty()) {
    number = objects_.size();
    objects_.push_back(nullptr);
    if (free_.capacity() < objects_.capacity()) free_.reserve(objects_.capacity());  // so that Drop needs no memory
  } else {
    number = free_.back();
    free_.pop_back();
  }
  objects_[number] = Py_NewRef(object.ptr());
  return number;
}

void PythonReferences::Drop(size_t number) {
  PyObject* const object = std::exchange(objects_[number], nullptr);
  free_.push_back(number);
  Py_XDECREF(object);
}

int PythonReferences::Traverse(visitproc visit, void* argument) const {
  for (PyObject* object : objects_) {
    if (object == nullptr) continue;
    if (const int result = visit(object, argument)) return result;
  }
  return 0;
}

void PythonReferences::Clear() {
  for (PyObject*& object : objects_) Py_XDECREF(std::exchange(object, nullptr));
}

}  // namespace tfr
