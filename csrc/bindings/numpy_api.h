// The few functions of NumPy's C interface needed to make an array, called directly: with pybind11's array class,
// wrapping a scalar column of a single record would cost several times as much as parsing it.

#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <vector>

#include "base/element_type.h"
#include "base/records.h"

namespace tfr {

// The NumPy dtype of an element type; object for kBytes. bfloat16 comes from ml_dtypes: if that is missing, throws
// ImportError. Borrowed; lives forever.
PyObject* DtypeOf(ElementType type);

// A new array over `data`, which `owner` keeps alive. Throws.
pybind11::object WrapArray(ElementType type, const std::vector<ptrdiff_t>& shape, void* data, Owner owner);

// A new array with a copy of `data`; a NumPy scalar if the shape is []. Throws.
pybind11::object CopyArray(ElementType type, const std::vector<ptrdiff_t>& shape, const void* data);

}  // namespace tfr
