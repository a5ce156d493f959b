// Columns from Python, for the encoder and for the writer of Examples.

#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <vector>

#include "base/records.h"
#include "encode/row_encoder.h"

namespace tfr {

void BindBytesViews(pybind11::module_& m);

// Fills *encoder with `columns` and `lists`, sequences of _core.EncodeColumn, of messages of that type. What keeps
// their memory alive is appended to *owners. Throws.
void InitEncoder(MessageType type, const pybind11::sequence& columns, const pybind11::sequence& lists, size_t rows,
                 RowEncoder* encoder, std::vector<Owner>* owners);

}  // namespace tfr
