// The common half of the backends of varint/: the shape of one, and how to store a varint without a loop.

#pragma once

#include <cstddef>
#include <cstdint>

#include "base/endian.h"
#include "varint/varint.h"

namespace tfr::internal {

// The contracts are those of varint.h: DecodeVarintRun, CountVarints, EncodedVarintsSize, EncodeVarints.
struct VarintOps {
  const char* name;
  bool (*supported)();
  const uint8_t* (*decode)(const uint8_t* p, const uint8_t* end, int64_t* out, size_t capacity, size_t* count);
  size_t (*count)(const uint8_t* p, const uint8_t* end);
  size_t (*encoded_size)(const int64_t* values, size_t n);
  uint8_t* (*encode)(const int64_t* values, size_t n, uint8_t* out, const uint8_t* end);
};

extern const VarintOps kPortableVarint;
// The decoder of backends that are not faster with short runs.
const uint8_t* DecodePortably(const uint8_t* p, const uint8_t* end, int64_t* out, size_t capacity, size_t* count);
#if defined(__x86_64__)
extern const VarintOps kBmi2Varint;
extern const VarintOps kAvx2Varint;
extern const VarintOps kAvx512VbmiVarint;
#elif defined(__aarch64__)
extern const VarintOps kNeonVarint;
#endif

constexpr uint64_t kTopBits = 0x8080808080808080;

// Memory that someone else may write to at the same time, as it is now. What follows works on one and the same value.
inline uint64_t ReadOnce(const int64_t* value) {
  return static_cast<uint64_t>(__atomic_load_n(value, __ATOMIC_RELAXED));
}

// Writes one varint if it fits into [out, end); returns the byte after it, or null.
inline uint8_t* StoreIfItFits(uint64_t value, uint8_t* out, const uint8_t* end) {
  return VarintSize(value) <= static_cast<size_t>(end - out) ? EncodeVarint(value, out) : nullptr;
}

// Writes one varint, and perhaps garbage after it, kMaxVarintSize bytes at most; returns the byte after it. `groups` is
// its lowest eight 7-bit groups, one byte each.
inline uint8_t* StoreLoosely(uint64_t value, uint64_t groups, uint8_t* out) {
  if (value >> 56 != 0) {  // 9 or 10 bytes
    const unsigned tenth = static_cast<unsigned>(value >> 63);
    StoreLE64(out, groups | kTopBits);
    out[8] = static_cast<uint8_t>((value >> 56 & 0x7f) | tenth << 7);
    out[9] = static_cast<uint8_t>(tenth);
    return out + 9 + tenth;
  }
  const size_t size = VarintSize(value);
  StoreLE64(out, groups | (kTopBits & ((uint64_t{1} << (8 * (size - 1))) - 1)));
  return out + size;
}

}  // namespace tfr::internal
