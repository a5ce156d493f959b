// Memory for the values of one Example; see single_example.h.

#include "parse/single_example.h"

#include "parse/fixed_arrays.h"

namespace tfr {
namespace {

size_t RoundUp(size_t bytes) { return (bytes + 15) / 16 * 16; }

}  // namespace

SingleExample::SingleExample(const SchemaPtr& schema) : parser(schema), targets(schema->size()) {
  size_t bytes = 0;
  for (const FixedArray& array : schema->fixed_arrays()) bytes += RoundUp(array.row_bytes());
  fixed_.resize(bytes / 8 + 2);
  ends_.resize(2 * schema->size());
  auto* next = reinterpret_cast<uint8_t*>(fixed_.data());
  for (const FixedArray& array : schema->fixed_arrays()) {
    PointTo(array, next, targets.data());
    next += RoundUp(array.row_bytes());
  }
  for (size_t f = 0; f < targets.size(); ++f) {
    if (schema->features()[f].layout != Layout::kFixed) targets[f].splits = &ends_[2 * f];
  }
}

}  // namespace tfr
