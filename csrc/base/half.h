// The two 16-bit floating-point types, from and to the bits of a float32.
//
// half is IEEE 754 binary16: 1 sign bit, 5 bits of exponent (bias 15), 10 of fraction. bfloat16 is the upper half of a
// float32. Narrowing rounds to nearest even; a NaN stays one.

#ifndef TFRECORD_FAST_BASE_HALF_H_
#define TFRECORD_FAST_BASE_HALF_H_

#include <bit>
#include <cstdint>

namespace tfr {

inline uint16_t ToHalf(uint32_t bits) {
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00 | (magnitude >> 13 & 0x1ff);  // NaN
  if (magnitude >= 0x477ff000) return sign | 0x7c00;                             // rounds to 65536 or more
  if (magnitude < 0x33000001) return sign;                                       // 2^-25 and below round to zero
  if (magnitude < 0x38800000) {                                                  // below 2^-14: subnormal
    const uint32_t shift = 126 - (magnitude >> 23);
    const uint32_t mantissa = (magnitude & 0x7fffff) | 0x800000;
    const uint32_t kept = mantissa >> shift;
    const uint32_t rest = mantissa & ((1u << shift) - 1);
    const uint32_t half = 1u << (shift - 1);
    return static_cast<uint16_t>(sign | (kept + (rest > half || (rest == half && (kept & 1)))));
  }
  const uint32_t rounded = magnitude + 0xfff + (magnitude >> 13 & 1);
  return static_cast<uint16_t>(sign | ((rounded - 0x38000000) >> 13));
}

inline float FromHalf(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
  const uint32_t magnitude = half & 0x7fff;
  if (magnitude >= 0x7c00) return std::bit_cast<float>(sign | 0x7f800000 | (magnitude & 0x3ff) << 13);  // infinity, NaN
  // As a float whose exponent is 112 too small, which a multiplication corrects, for subnormal numbers too.
  const float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(scaled) | sign);
}

inline uint16_t ToBFloat16(uint32_t bits) {
  if ((bits & 0x7fffffff) > 0x7f800000) return static_cast<uint16_t>(bits >> 16 | 0x40);  // NaN
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

inline float FromBFloat16(uint16_t upper) { return std::bit_cast<float>(static_cast<uint32_t>(upper) << 16); }

}  // namespace tfr

#endif  // TFRECORD_FAST_BASE_HALF_H_
