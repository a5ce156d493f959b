// Encoding one value at a time with pdep, which both x86 backends of varint/ come to. Needs BMI2; see varint.h.

#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "varint/backends.h"

namespace tfr::internal {

#define TFR_PDEP_INLINE __attribute__((target("bmi,bmi2"), always_inline)) inline

// See StoreLoosely.
TFR_PDEP_INLINE uint8_t* EncodeLoosely(uint64_t value, uint8_t* out) {
  return StoreLoosely(value, _pdep_u64(value, ~kTopBits), out);
}

// n varints one by one; see EncodeVarints.
TFR_PDEP_INLINE uint8_t* EncodeOneByOne(const int64_t* values, size_t n, uint8_t* out, const uint8_t* end) {
  size_t i = 0;
  for (; i < n && static_cast<size_t>(end - out) >= kMaxVarintSize; ++i) out = EncodeLoosely(ReadOnce(values + i), out);
  for (; i < n && out != nullptr; ++i) out = StoreIfItFits(ReadOnce(values + i), out, end);
  return out;
}

}  // namespace tfr::internal
