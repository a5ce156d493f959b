// The casts; see convert.h.

#include "parse/convert.h"

#include <bit>
#include <cstring>

#include "base/endian.h"
#include "base/float_mode.h"
#include "base/half.h"

namespace tfr {
namespace {

// The loop has no exit, so that it vectorises; a value that does not fit is looked for afterwards.
template <typename T>
bool Narrow(const int64_t* values, size_t count, uint8_t* out, int64_t* misfit) {
  uint64_t lost = 0;
  for (size_t i = 0; i < count; ++i) {
    const auto narrow = static_cast<T>(values[i]);
    lost |= static_cast<uint64_t>(static_cast<int64_t>(narrow) ^ values[i]);
    // A uint64 keeps every bit; what it can't hold is a negative number.
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

// Not inlined: see float_mode.h.
__attribute__((noinline)) void WidenAll(const uint8_t* values, size_t count, uint8_t* out) {
  for (size_t i = 0; i < count; ++i) {
    const double wide = std::bit_cast<float>(LoadLE32(values + 4 * i));
    std::memcpy(out + 8 * i, &wide, 8);
  }
}

}  // namespace

bool StoreInts(const int64_t* values, size_t count, ElementType type, uint8_t* out, int64_t* misfit) {
  switch (type) {
    case ElementType::kInt64:
      if (count > 0) std::memcpy(out, values, count * sizeof *values);
      return true;
    case ElementType::kBool:
      return StoreBools(values, count, out, misfit);
    case ElementType::kInt8:
      return Narrow<int8_t>(values, count, out, misfit);
    case ElementType::kInt16:
      return Narrow<int16_t>(values, count, out, misfit);
    case ElementType::kInt32:
      return Narrow<int32_t>(values, count, out, misfit);
    case ElementType::kUInt8:
      return Narrow<uint8_t>(values, count, out, misfit);
    case ElementType::kUInt16:
      return Narrow<uint16_t>(values, count, out, misfit);
    case ElementType::kUInt32:
      return Narrow<uint32_t>(values, count, out, misfit);
    case ElementType::kUInt64:
      return Narrow<uint64_t>(values, count, out, misfit);
    default:
      return false;  // not an integer type: callers go by KindOf
  }
}

bool StoreFloats(const uint8_t* values, size_t count, ElementType type, uint8_t* out) {
  if (count == 0) return true;
  switch (type) {
    case ElementType::kFloat64:
      if (count == 1) {
        const double wide = FromFloat(LoadLE32(values));
        std::memcpy(out, &wide, 8);
      } else {
        const SubnormalNumbers exact;
        WidenAll(values, count, out);
      }
      break;
    case ElementType::kFloat16:
      for (size_t i = 0; i < count; ++i) {
        const uint32_t bits = LoadLE32(values + 4 * i);
        const uint16_t half = ToHalf(bits);
        if ((half & 0x7fff) == 0x7c00 && (bits & 0x7fffffff) != 0x7f800000) [[unlikely]]
          return false;
        std::memcpy(out + 2 * i, &half, 2);
      }
      break;
    case ElementType::kBFloat16:
      for (size_t i = 0; i < count; ++i) {
        const uint16_t half = ToBFloat16(LoadLE32(values + 4 * i));
        std::memcpy(out + 2 * i, &half, 2);
      }
      break;
    default:
      std::memcpy(out, values, 4 * count);
      break;
  }
  return true;
}

}  // namespace tfr
