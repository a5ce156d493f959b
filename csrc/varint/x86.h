// Encoding one value at a time with pdep, which both x86 backends of varint/ come to. Needs BMI2; see varint.h.

#ifndef TFRECORD_FAST_VARINT_X86_H_
#define TFRECORD_FAST_VARINT_X86_H_

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "varint/backends.h"

namespace tfr::internal {

#define TFR_PDEP_INLINE __attribute__((target("bmi,bmi2"), always_inline)) inline

// See StoreLoosely.
TFR_PDEP_INLINE uint8_t* EncodeLoosely(int64_t value, uint8_t* out) {
  const uint64_t bits = static_cast<uint64_t>(value);
  return StoreLoosely(bits, _pdep_u64(bits, ~kTopBits), out);
}

// n varints one by one.
TFR_PDEP_INLINE uint8_t* EncodeOneByOne(const int64_t* values, size_t n, uint8_t* out) {
  size_t i = 0;
  // Each of the seven values to come takes a byte at least, which may hold garbage until then.
  for (; n - i >= 8; ++i) out = EncodeLoosely(values[i], out);
  for (; i < n; ++i) out = EncodeVarint(static_cast<uint64_t>(values[i]), out);
  return out;
}

}  // namespace tfr::internal

#endif  // TFRECORD_FAST_VARINT_X86_H_
