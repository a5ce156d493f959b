// Mends what pybind11 does when memory runs out: an object that can't be wrapped is an error, and is freed only once.

#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <utility>

namespace tfr {

// Instead of py::init<Arguments…>: pybind11 registers what that makes outside of its own try block, where an exception
// ends the process. For classes made with NewClass.
template <typename T, typename... Arguments>
auto InitOf() {
  return pybind11::init(
      [](Arguments... arguments) { return std::make_unique<T>(std::forward<Arguments>(arguments)...); });
}

// For each class whose objects come to pybind11 in the hands of a smart pointer, be it from a constructor or as a
// result. pybind11 notes the object before it takes the pointer over: if noting it fails, the pointer frees the object,
// and the half-made Python object, which already has the address, would free it again.
template <typename T>
void FreeOnce() {
  using Init = void (*)(pybind11::detail::instance*, const void*);
  static Init init = nullptr;
  pybind11::detail::type_info* type = pybind11::detail::get_type_info(typeid(T));
  init = type->init_instance;
  type->init_instance = [](pybind11::detail::instance* instance, const void* holder) {
    try {
      init(instance, holder);
    } catch (...) {
      pybind11::detail::value_and_holder half = instance->get_value_and_holder();
      if (half.instance_registered()) {
        pybind11::detail::deregister_instance(instance, half.value_ptr(), half.type);
        half.set_instance_registered(false);
      }
      half.value_ptr() = nullptr;
      throw;
    }
  };
}

// Instead of py::class_: its objects are freed only once.
template <typename T, typename... Holder, typename... Extra>
pybind11::class_<T, Holder...> NewClass(pybind11::module_& m, const char* name, const Extra&... extra) {
  pybind11::class_<T, Holder...> type(m, name, extra...);
  FreeOnce<T>();
  return type;
}

}  // namespace tfr
