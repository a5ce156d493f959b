// The few functions of NumPy's C interface that making an array costs, called directly: with pybind11's array
// class a scalar column of a single record would cost several times what parsing it does.

#ifndef TFRECORD_FAST_BINDINGS_NUMPY_API_H_
#define TFRECORD_FAST_BINDINGS_NUMPY_API_H_

#include <pybind11/pybind11.h>

#include <cstddef>
#include <vector>

#include "base/records.h"
#include "parse/columns.h"
#include "parse/schema.h"

namespace tfr {

// The NumPy dtype of a column type; object for kBytes. bfloat16 comes from ml_dtypes, whose absence throws
// ImportError. Borrowed, lives for ever.
PyObject* DtypeOf(ColumnType type);

// A new array over `data`, which `owner` keeps alive. Throws.
pybind11::object WrapArray(ColumnType type, const std::vector<ptrdiff_t>& shape, void* data, Owner owner);

// A new array with a copy of `data`; a NumPy scalar where the shape is []. Throws.
pybind11::object CopyArray(ColumnType type, const std::vector<ptrdiff_t>& shape, const void* data);

}  // namespace tfr

#endif  // TFRECORD_FAST_BINDINGS_NUMPY_API_H_
