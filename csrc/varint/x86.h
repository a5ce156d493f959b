// Encoding one value at a time with pdep, which both x86 backends of varint/ come to. Needs BMI2; see varint.h.

#ifndef TFRECORD_FAST_VARINT_X86_H_
#define TFRECORD_FAST_VARINT_X86_H_

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "base/endian.h"
#include "varint/backends.h"

namespace tfr::internal {

#define TFR_PDEP_INLINE __attribute__((target("bmi,bmi2"), always_inline)) inline

// Writes one varint and perhaps garbage in the seven bytes after it; returns the byte after it.
TFR_PDEP_INLINE uint8_t* EncodeLoosely(uint64_t value, uint8_t* out) {
  const uint64_t groups = _pdep_u64(value, ~kTopBits);
  if (value >> 56 != 0) {  // 9 or 10 bytes
    const unsigned tenth = static_cast<unsigned>(value >> 63);
    StoreLE64(out, groups | kTopBits);
    out[8] = static_cast<uint8_t>((value >> 56 & 0x7f) | tenth << 7);
    out[9] = static_cast<uint8_t>(tenth);
    return out + 9 + tenth;
  }
  const size_t size = VarintSize(value);
  StoreLE64(out, groups | _bzhi_u64(kTopBits, static_cast<unsigned>(8 * (size - 1))));
  return out + size;
}

// n varints one by one.
TFR_PDEP_INLINE uint8_t* EncodeOneByOne(const int64_t* values, size_t n, uint8_t* out) {
  size_t i = 0;
  // Each of the seven values to come takes a byte at least, which may hold garbage until then.
  for (; n - i >= 8; ++i) out = EncodeLoosely(static_cast<uint64_t>(values[i]), out);
  for (; i < n; ++i) out = EncodeVarint(static_cast<uint64_t>(values[i]), out);
  return out;
}

}  // namespace tfr::internal

#endif  // TFRECORD_FAST_VARINT_X86_H_
