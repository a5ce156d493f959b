// Python types written against CPython's slots: a C++ value after an object header. For the few types that are
// made or called once per record, where pybind11's dispatch would cost more than the work.

#pragma once

#include <pybind11/pybind11.h>

#include <new>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/gil.h"

namespace tfr {

template <typename Value>
struct Boxed {
  PyObject_HEAD Value value;
};

template <typename Value>
Value& Unbox(PyObject* object) {
  return reinterpret_cast<Boxed<Value>*>(object)->value;
}

// A new object of `type`, which was made for Boxed<Value>; null with an error set if out of memory.
template <typename Value>
PyObject* Box(PyTypeObject* type, Value value) {
  PyObject* object = type->tp_alloc(type, 0);
  if (object != nullptr) new (&Unbox<Value>(object)) Value(std::move(value));
  return object;
}

template <typename Value>
void Dealloc(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  if (PyType_IS_GC(type)) PyObject_GC_UnTrack(object);
  Unbox<Value>(object).~Value();
  type->tp_free(object);
  Py_DECREF(type);  // an instance of a heap type holds a reference to it
}

// The result of `body`, in a slot that CPython calls. What it throws becomes CPython's error, and the result is null.
template <typename Body>
PyObject* OrError(Body body) {
  try {
    return body();
  } catch (const ForcedUnwind&) {
    StopThisThread();
  } catch (...) {
    SetPythonErrorOfException();
    return nullptr;
  }
}

// A slot or a method, as a whole.
template <auto function>
struct Guard;

template <typename... Arguments, PyObject* (*function)(Arguments...)>
struct Guard<function> {
  static PyObject* Call(Arguments... arguments) {
    return OrError([&] { return function(arguments...); });
  }
};

template <auto function>
constexpr auto Guarded = Guard<function>::Call;

template <typename Function>
void* Slot(Function* function) {
  return reinterpret_cast<void*>(function);
}

// A heap type; throws if CPython refuses. `doc` may be null.
inline PyTypeObject* MakeType(const char* name, size_t size, std::vector<PyType_Slot> slots, const char* doc,
                              unsigned flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION) {
  if (doc != nullptr) slots.push_back({Py_tp_doc, const_cast<char*>(doc)});
  slots.push_back({0, nullptr});
  PyType_Spec spec = {name, static_cast<int>(size), 0, flags, slots.data()};
  PyObject* type = PyType_FromSpec(&spec);
  if (type == nullptr) throw pybind11::error_already_set();
  return reinterpret_cast<PyTypeObject*>(type);
}

}  // namespace tfr
