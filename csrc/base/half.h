// Floating-point types of other widths, from and to a float32.
//
// half is IEEE 754 binary16: 1 sign bit, 5 bits of exponent (bias 15), 10 of fraction. bfloat16 is the upper half of a
// float32. Narrowing rounds to nearest even; a NaN stays one.
//
// A thread of the host may treat subnormal numbers as zeros (PyTorch's set_flush_denormal, libraries built with
// -ffast-math). Values are data here, not terms of a sum: they are made of integers where they are subnormal.

#pragma once

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
  // A normal number's exponent is 112 larger; a subnormal one is a multiple of 2^-24.
  const uint32_t bits = magnitude >= 0x400 ? (magnitude << 13) + (112u << 23)
                                           : std::bit_cast<uint32_t>(static_cast<float>(magnitude) * 0x1p-24f);
  return std::bit_cast<float>(bits | sign);
}

inline uint16_t ToBFloat16(uint32_t bits) {
  if ((bits & 0x7fffffff) > 0x7f800000) return static_cast<uint16_t>(bits >> 16 | 0x40);  // NaN
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// A float32's bits as a float64.
inline double FromFloat(uint32_t bits) {
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude == 0 || magnitude >= 0x800000) return std::bit_cast<float>(bits);
  const double value = static_cast<double>(magnitude) * 0x1p-149;
  return (bits >> 31) != 0 ? -value : value;
}

inline float ToFloat(double value) {
  const auto bits = std::bit_cast<uint64_t>(value);
  const uint64_t magnitude = bits & ~(uint64_t{1} << 63);
  constexpr uint64_t kLeastNormal = uint64_t{1023 - 126} << 52;  // 2^-126
  if (magnitude >= kLeastNormal) return static_cast<float>(value);
  const auto sign = static_cast<uint32_t>(bits >> 32) & 0x80000000;
  if (magnitude <= uint64_t{1023 - 150} << 52) return std::bit_cast<float>(sign);  // 2^-150 and below round to zero
  // In units of 2^-149, the last bit of a subnormal float32.
  const uint64_t shift = 1023 - 97 - (magnitude >> 52);
  const uint64_t mantissa = (magnitude & ((uint64_t{1} << 52) - 1)) | uint64_t{1} << 52;
  const uint64_t kept = mantissa >> shift;
  const uint64_t rest = mantissa & ((uint64_t{1} << shift) - 1);
  const uint64_t half = uint64_t{1} << (shift - 1);
  return std::bit_cast<float>(sign | static_cast<uint32_t>(kept + (rest > half || (rest == half && (kept & 1)))));
}

inline float FromBFloat16(uint16_t upper) { return std::bit_cast<float>(static_cast<uint32_t>(upper) << 16); }

}  // namespace tfr
