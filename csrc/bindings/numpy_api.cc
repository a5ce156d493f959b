// Looks up NumPy's table of functions, whose order is part of its ABI; see numpy_api.h.

#include "bindings/numpy_api.h"

#include <pybind11/numpy.h>

#include <cstring>
#include <utility>

namespace py = pybind11;

namespace tfr {
namespace {

// Slots of the table, from NumPy's numpy_api.py; the same in NumPy 1 and 2.
constexpr size_t kArrayType = 2;
constexpr size_t kScalar = 60;
constexpr size_t kNewFromDescr = 94;
constexpr size_t kSetBaseObject = 282;

constexpr int kCarray = 0x0001 | 0x0100 | 0x0400;  // C order, aligned, writable

struct Table {
  PyTypeObject* array_type;
  PyObject* (*scalar)(void* data, PyObject* dtype, PyObject* base);
  PyObject* (*new_from_descr)(PyTypeObject*, PyObject* dtype, int ndim, const Py_ssize_t* shape,
                              const Py_ssize_t* strides, void* data, int flags, PyObject*);
  int (*set_base_object)(PyObject* array, PyObject* base);
};

Table Load() {
  py::object capsule = py::detail::import_numpy_core_submodule("multiarray").attr("_ARRAY_API");
  void** slots = static_cast<void**>(PyCapsule_GetPointer(capsule.ptr(), nullptr));
  if (slots == nullptr) throw py::error_already_set();
  Table table;
  table.array_type = static_cast<PyTypeObject*>(slots[kArrayType]);
  table.scalar = reinterpret_cast<decltype(table.scalar)>(slots[kScalar]);
  table.new_from_descr = reinterpret_cast<decltype(table.new_from_descr)>(slots[kNewFromDescr]);
  table.set_base_object = reinterpret_cast<decltype(table.set_base_object)>(slots[kSetBaseObject]);
  return table;
}

const Table& Numpy() {
  static const Table table = Load();
  return table;
}

void Release(PyObject* capsule) { delete static_cast<Owner*>(PyCapsule_GetPointer(capsule, nullptr)); }

py::object NewArray(ElementType type, const std::vector<ptrdiff_t>& shape, void* data) {
  PyObject* dtype = DtypeOf(type);
  Py_INCREF(dtype);  // NewFromDescr takes it over
  PyObject* array = Numpy().new_from_descr(Numpy().array_type, dtype, static_cast<int>(shape.size()), shape.data(),
                                           nullptr, data, data ? kCarray : 0, nullptr);
  if (array == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(array);
}

PyObject* MakeDtype(ElementType type) {
  if (type == ElementType::kBFloat16) {
    return py::dtype::from_args(py::module_::import("ml_dtypes").attr("bfloat16")).release().ptr();
  }
  const char* name = type == ElementType::kBytes ? "O" : TypeName(type);
  return py::dtype(name).release().ptr();
}

}  // namespace

PyObject* DtypeOf(ElementType type) {
  static PyObject* dtypes[kElementTypes] = {};
  PyObject*& dtype = dtypes[static_cast<size_t>(type)];
  if (dtype == nullptr) dtype = MakeDtype(type);
  return dtype;
}

py::object WrapArray(ElementType type, const std::vector<ptrdiff_t>& shape, void* data, Owner owner) {
  py::object array = NewArray(type, shape, data);
  auto* held = new Owner(std::move(owner));
  PyObject* capsule = PyCapsule_New(held, nullptr, Release);
  if (capsule == nullptr) {
    delete held;
    throw py::error_already_set();
  }
  if (Numpy().set_base_object(array.ptr(), capsule) < 0) throw py::error_already_set();
  return array;
}

py::object CopyArray(ElementType type, const std::vector<ptrdiff_t>& shape, const void* data) {
  if (shape.empty()) {
    PyObject* scalar = Numpy().scalar(const_cast<void*>(data), DtypeOf(type), nullptr);
    if (scalar == nullptr) throw py::error_already_set();
    return py::reinterpret_steal<py::object>(scalar);
  }
  py::object array = NewArray(type, shape, nullptr);
  size_t bytes = ItemSize(type);
  for (const ptrdiff_t size : shape) bytes *= static_cast<size_t>(size);
  if (bytes > 0) std::memcpy(py::array(array).mutable_data(), data, bytes);
  return array;
}

}  // namespace tfr
