// Facts about the hashes of a block of numbers: the rank of each for the estimate of how many different ones there are,
// and which may be among those that are counted. The same on every processor.

#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "stats/moments.h"

namespace tfr {

// A number as Counts and hashes take it: of an int64 all bits, of a float32 the lower 32. -0.0 is 0.0.
inline uint64_t BitsOfValue(int64_t value) { return static_cast<uint64_t>(value); }
inline uint64_t BitsOfValue(float value) { return std::bit_cast<uint32_t>(value == 0 ? 0.0f : value); }

struct BlockHashes {
  uint16_t registers[kBlock];  // of Distinct, by value
  uint8_t ranks[kBlock];
  uint16_t kept[kBlock + 8];  // which values Counts may keep, in order
  size_t num_kept;
};

// At most kBlock values; `filter` is that of Counts.
void HashBlock(const int64_t* values, size_t n, const uint64_t* filter, BlockHashes* made);
void HashBlock(const float* values, size_t n, const uint64_t* filter, BlockHashes* made);

}  // namespace tfr
