// Byte strings on their way to the encoder: views and what keeps them valid, as a Python object that users never see.

#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <vector>

#include "base/records.h"

namespace tfr {

struct BytesViews {
  std::vector<Bytes> views;
  std::vector<Owner> owners;
};

using BytesViewsPtr = std::shared_ptr<BytesViews>;

void BindBytesViews(pybind11::module_& m);

}  // namespace tfr
