// Named tuples for what the core returns: tuples for Python, which unpacks them, with a name for every field.

#pragma once

#include <pybind11/pybind11.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

namespace tfr {

// Made once, at file scope; all strings are literals. Of CPython's own kind (struct sequences, such as
// os.stat_result), which is made and read about as fast as a tuple.
template <size_t kFields>
class NamedTuple {
 public:
  // `name`: with the module, "tfrecord_fast._core.NAME".
  constexpr NamedTuple(const char* name, const char* const (&fields)[kFields])
      : name_(name), fields_(std::to_array(fields)) {}

  // Makes the type, and puts it into the module. Throws.
  void Bind(pybind11::module_& m) {
    PyStructSequence_Field fields[kFields + 1] = {};
    for (size_t i = 0; i < kFields; ++i) fields[i].name = fields_[i];
    PyStructSequence_Desc desc = {name_, nullptr, fields, static_cast<int>(kFields)};
    type_ = PyStructSequence_NewType(&desc);
    if (type_ == nullptr) throw pybind11::error_already_set();
    m.attr(std::strrchr(name_, '.') + 1) = pybind11::handle(reinterpret_cast<PyObject*>(type_));
  }

  // One such tuple, with the fields in their order: Python objects, or what pybind11 can turn into one. Throws.
  template <typename... Values>
  pybind11::object operator()(Values&&... values) const {
    static_assert(sizeof...(Values) == kFields);
    auto made = pybind11::reinterpret_steal<pybind11::object>(PyStructSequence_New(type_));
    if (!made) throw pybind11::error_already_set();
    Py_ssize_t at = 0;
    (PyStructSequence_SetItem(made.ptr(), at++, NewReference(std::forward<Values>(values))), ...);
    return made;
  }

 private:
  template <typename Value>
  static PyObject* NewReference(Value&& value) {
    if constexpr (std::is_base_of_v<pybind11::handle, std::decay_t<Value>>) {
      return pybind11::object(std::forward<Value>(value)).release().ptr();
    } else {
      return pybind11::cast(std::forward<Value>(value)).release().ptr();
    }
  }

  const char* name_;
  std::array<const char*, kFields> fields_;
  PyTypeObject* type_ = nullptr;
};

}  // namespace tfr
