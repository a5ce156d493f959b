// Columns out of Python, for the encoder and the writer of Examples.

#ifndef TFRECORD_FAST_BINDINGS_ENCODE_H_
#define TFRECORD_FAST_BINDINGS_ENCODE_H_

#include <pybind11/pybind11.h>

#include <cstddef>
#include <vector>

#include "base/records.h"
#include "encode/row_encoder.h"

namespace tfr {

// Fills *encoder with `columns` and `lists`, sequences of tuples (key, element type, values, count, splits, valid,
// steps, row_valid) that tfrecord_fast/examples/columns.py has made and checked. What keeps their memory alive is appended to
// *owners. Throws.
void InitEncoder(const pybind11::sequence& columns, const pybind11::sequence& lists, bool sequence, size_t rows,
                 RowEncoder* encoder, std::vector<Owner>* owners);

}  // namespace tfr

#endif  // TFRECORD_FAST_BINDINGS_ENCODE_H_
