// Iterations that end when a signal handler raises.
//
// A handler may raise in the middle of iterators that are written in Python. They would then go on without the element
// that they were making. So the iterator that a user gets is wrapped once, around all others: it ends after such an
// exception.

#pragma once

#include <pybind11/pybind11.h>

namespace tfr {

void BindIteration(pybind11::module_& m);

}  // namespace tfr
