// Hashes of values and of bytes, the same in every process: what is counted by hash must not depend on who counts.

#pragma once

#include <cstddef>
#include <cstdint>

#include "base/records.h"

namespace tfr {

constexpr uint64_t kHashFactors[] = {0xff51afd7ed558ccd, 0xc4ceb9fe1a85ec53};

// A bijection: different numbers have different hashes. All bits of the result depend on all of the number's.
inline uint64_t HashNumber(uint64_t x) {
  x ^= x >> 33;
  x *= kHashFactors[0];
  x ^= x >> 33;
  x *= kHashFactors[1];
  return x ^ x >> 33;
}

// Among n different strings, about n * n / 2^65 pairs share a hash, unless the strings were chosen to collide.
uint64_t HashBytes(const Bytes& bytes);

}  // namespace tfr
