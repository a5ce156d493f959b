// The casts; see convert.h.

#include "parse/convert.h"

#include <bit>
#include <cstring>

#include "base/endian.h"

namespace tfr {
namespace {

// Two passes' worth in one: the loop has no exit, so that it vectorises; who does not fit is looked for after.
template <typename T>
bool Narrow(const int64_t* values, size_t count, uint8_t* out, int64_t* misfit) {
  uint64_t lost = 0;
  for (size_t i = 0; i < count; ++i) {
    const auto narrow = static_cast<T>(values[i]);
    lost |= static_cast<uint64_t>(static_cast<int64_t>(narrow) ^ values[i]);
    // A uint64 keeps every bit; what it cannot hold is a negative number.
    if constexpr (sizeof(T) == 8) lost |= static_cast<uint64_t>(values[i]) >> 63;
    std::memcpy(out + i * sizeof(T), &narrow, sizeof(T));
  }
  if (lost == 0) return true;
  for (size_t i = 0; i < count; ++i) {
    if (static_cast<int64_t>(static_cast<T>(values[i])) != values[i] || (sizeof(T) == 8 && values[i] < 0)) {
      *misfit = values[i];
      break;
    }
  }
  return false;
}

bool StoreBools(const int64_t* values, size_t count, uint8_t* out, int64_t* misfit) {
  for (size_t i = 0; i < count; ++i) {
    if (static_cast<uint64_t>(values[i]) > 1) {
      *misfit = values[i];
      return false;
    }
    out[i] = static_cast<uint8_t>(values[i]);
  }
  return true;
}

// IEEE 754 binary16, round to nearest even; a NaN stays one.
uint16_t ToHalf(uint32_t bits) {
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00 | (magnitude >> 13 & 0x1ff);  // NaN
  if (magnitude >= 0x477ff000) return sign | 0x7c00;                            // rounds to 65536 or more
  if (magnitude < 0x33000001) return sign;                                      // 2^-25 and below round to zero
  if (magnitude < 0x38800000) {                                                 // below 2^-14: subnormal
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

uint16_t ToBFloat16(uint32_t bits) {
  if ((bits & 0x7fffffff) > 0x7f800000) return static_cast<uint16_t>(bits >> 16 | 0x40);  // a NaN stays one
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

}  // namespace

bool StoreInts(const int64_t* values, size_t count, ColumnType type, uint8_t* out, int64_t* misfit) {
  switch (type) {
    case ColumnType::kInt64:
      if (count > 0) std::memcpy(out, values, count * sizeof *values);
      return true;
    case ColumnType::kBool:
      return StoreBools(values, count, out, misfit);
    case ColumnType::kInt8:
      return Narrow<int8_t>(values, count, out, misfit);
    case ColumnType::kInt16:
      return Narrow<int16_t>(values, count, out, misfit);
    case ColumnType::kInt32:
      return Narrow<int32_t>(values, count, out, misfit);
    case ColumnType::kUInt8:
      return Narrow<uint8_t>(values, count, out, misfit);
    case ColumnType::kUInt16:
      return Narrow<uint16_t>(values, count, out, misfit);
    case ColumnType::kUInt32:
      return Narrow<uint32_t>(values, count, out, misfit);
    case ColumnType::kUInt64:
      return Narrow<uint64_t>(values, count, out, misfit);
    default:
      return false;  // not an integer type; Schema and KindOf keep it from happening
  }
}

void StoreFloats(const uint8_t* values, size_t count, ColumnType type, uint8_t* out) {
  if (count == 0) return;
  switch (type) {
    case ColumnType::kFloat64:
      for (size_t i = 0; i < count; ++i) {
        const double wide = std::bit_cast<float>(LoadLE32(values + 4 * i));
        std::memcpy(out + 8 * i, &wide, 8);
      }
      break;
    case ColumnType::kFloat16:
      for (size_t i = 0; i < count; ++i) {
        const uint16_t half = ToHalf(LoadLE32(values + 4 * i));
        std::memcpy(out + 2 * i, &half, 2);
      }
      break;
    case ColumnType::kBFloat16:
      for (size_t i = 0; i < count; ++i) {
        const uint16_t half = ToBFloat16(LoadLE32(values + 4 * i));
        std::memcpy(out + 2 * i, &half, 2);
      }
      break;
    default:
      std::memcpy(out, values, 4 * count);
      break;
  }
}

}  // namespace tfr
