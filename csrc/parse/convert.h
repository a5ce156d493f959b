// From the wire's int64 and float values to the other types that a column can have: integers of any width, bool, half,
// bfloat16 and double.

#pragma once

#include <cstddef>
#include <cstdint>

#include "base/element_type.h"

namespace tfr {

// Writes `count` integers as `type` (an integer type or bool). False if one does not fit: the first such one is then in
// *misfit, and `out` is undefined.
bool StoreInts(const int64_t* values, size_t count, ElementType type, uint8_t* out, int64_t* misfit);

// Writes `count` little-endian floats, at any alignment, as `type` (a float type), rounding to nearest even. False if a
// finite one is too large for a half; `out` is then undefined.
bool StoreFloats(const uint8_t* values, size_t count, ElementType type, uint8_t* out);

}  // namespace tfr
