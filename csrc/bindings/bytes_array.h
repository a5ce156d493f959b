// BytesArray: an array of byte strings that are views into record buffers, as a Python type.

#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <vector>

#include "base/records.h"

namespace tfr {

struct BytesArray {
  Owner views_owner;  // keeps `views` alive
  const Bytes* views = nullptr;
  std::vector<ptrdiff_t> shape;
  std::shared_ptr<const std::vector<Owner>> owners;  // keep what the views look into alive

  size_t size() const {
    size_t count = 1;
    for (const ptrdiff_t length : shape) count *= static_cast<size_t>(length);
    return count;
  }
};

// A new Python BytesArray; of the shape [], the bytes themselves. Throws.
pybind11::object WrapBytes(BytesArray array);

// The value in a Python BytesArray, or null if `object` is something else. Lives as long as the object.
const BytesArray* UnwrapBytes(pybind11::handle object);

void BindBytesArray(pybind11::module_& m);

}  // namespace tfr
