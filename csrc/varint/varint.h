// Protobuf varints (https://protobuf.dev/programming-guides/encoding/#varints): one, and packed runs of int64.
//
// A varint is 1 to 10 bytes of 7 bits each, lowest first; the top bit of a byte is set if another follows. Of a
// tenth byte only the lowest bit counts. Encodings longer than necessary are accepted; an eleventh byte, or a
// run that ends inside a varint, is malformed. int64 values are two's complement: a negative one takes 10 bytes.
//
// The functions on runs have several backends, chosen at first use: the fastest that the processor has, or what
// the environment variable TFRECORD_FAST_VARINT or SetVarintBackend names. All return the same results. None reads
// outside [p, end) or writes outside the capacity it is given, whatever the bytes.

#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/endian.h"

namespace tfr {

constexpr size_t kMaxVarintSize = 10;  // ceil(64 / 7)

namespace internal {

// The slow paths of the inline functions below.
const uint8_t* DecodeLongVarint(const uint8_t* p, const uint8_t* end, uint64_t* value);
const uint8_t* DecodeLongRun(const uint8_t* p, const uint8_t* end, int64_t* out, size_t capacity, size_t* count);
size_t CountLongRun(const uint8_t* p, const uint8_t* end);

// Eight 7-bit groups, lowest first, without the top bits of their bytes, as one number.
inline uint64_t JoinGroups(uint64_t x) {
  x = (x & 0x007f007f007f007f) | ((x & 0x7f007f007f007f00) >> 1);
  x = (x & 0x00003fff00003fff) | ((x & 0x3fff00003fff0000) >> 2);
  return (x & 0x000000000fffffff) | ((x & 0x0fffffff00000000) >> 4);
}

// How many of the `size` bytes at p, 5 to 16, have their top bit set: two loads that may overlap.
inline size_t TopBitsIn5To16(const uint8_t* p, size_t size) {
  constexpr uint64_t kLowBits = 0x0101010101010101;
  if (size > 8) {
    const uint64_t rest = LoadLE64(p + size - 8) >> (8 * (16 - size));
    return ((LoadLE64(p) >> 7 & kLowBits) + (rest >> 7 & kLowBits)) * kLowBits >> 56;
  }
  const uint64_t rest = LoadLE32(p + size - 4) >> (8 * (8 - size));
  return ((LoadLE32(p) >> 7 & kLowBits) + (rest >> 7 & kLowBits)) * kLowBits >> 56;
}

}  // namespace internal

// ---- One varint ----

// Decodes the varint at p; returns the byte after it, or null if it is malformed or [p, end) is empty.
inline const uint8_t* DecodeVarint(const uint8_t* p, const uint8_t* end, uint64_t* value) {
  if (p < end && *p < 0x80) {
    *value = *p;
    return p + 1;
  }
  return internal::DecodeLongVarint(p, end, value);
}

// Decodes a run that is expected to be a single varint: true only if the `size` bytes at p are exactly one; false
// calls for DecodeVarintRun. For 1 to 8 bytes it does not branch on the size, which may be as good as random
// from record to record. For this it looks at the 8 bytes before p + size, if they lie above `readable_begin`: in a
// record they do, since tags and lengths come before.
inline bool DecodeOneVarint(const uint8_t* readable_begin, const uint8_t* p, size_t size, int64_t* value) {
  constexpr uint64_t kTopBits = 0x8080808080808080;
  if (size - 1 <= 7 && p + size - readable_begin >= 8) {
    const unsigned others = static_cast<unsigned>(64 - 8 * size);
    const uint64_t x = LoadLE64(p + size - 8) >> others;
    *value = static_cast<int64_t>(internal::JoinGroups(x & ~kTopBits));
    return (x & kTopBits) == kTopBits >> others >> 8;  // set on all bytes but the last
  }
  if (size == 9 || size == 10) {
    const uint64_t x = LoadLE64(p);
    const uint64_t tenth = size == 10 ? p[9] : 0;
    const uint64_t high = (p[8] & uint64_t{0x7f}) | (tenth & 1) << 7;
    *value = static_cast<int64_t>(internal::JoinGroups(x & ~kTopBits) | high << 56);
    return (x & kTopBits) == kTopBits && (p[8] >= 0x80) == (size == 10) && tenth < 0x80;
  }
  uint64_t bits;
  const uint8_t* const after = DecodeVarint(p, p + size, &bits);
  if (after == nullptr || after != p + size) return false;
  *value = static_cast<int64_t>(bits);
  return true;
}

// ---- Packed runs ----

// Decodes varints from p into out until `end` is reached or `capacity` values are written. Returns the byte after
// the last one, null if one of them is malformed; *count is how many, undefined after null. Bytes after the
// capacity-th varint don't matter. out[*count, capacity) is left undefined.
//
// If n values are expected: with capacity n, the run fits if the result is `end` and *count is n.
// If any number is: a run of `size` bytes holds at most `size` values, so one call is enough with room for that many;
// else CountVarints counts them, at a cost that matters for short runs.
inline const uint8_t* DecodeVarintRun(const uint8_t* p, const uint8_t* end, int64_t* out, size_t capacity,
                                      size_t* count) {
  if (capacity == 1 || end - p == 1) {
    *count = capacity != 0 && p != end;
    return *count != 0 ? DecodeVarint(p, end, reinterpret_cast<uint64_t*>(out)) : p;
  }
  return internal::DecodeLongRun(p, end, out, capacity, count);
}

// Decodes exactly `count` varints; null if one is malformed or there are fewer.
inline const uint8_t* DecodeVarints(const uint8_t* p, const uint8_t* end, int64_t* out, size_t count) {
  size_t decoded;
  p = DecodeVarintRun(p, end, out, count, &decoded);
  return p != nullptr && decoded == count ? p : nullptr;
}

// The number of varints that end in [p, end): of bytes whose top bit is clear. That is the number in the run unless
// the run is malformed, which decoding notices.
inline size_t CountVarints(const uint8_t* p, const uint8_t* end) {
  const size_t size = static_cast<size_t>(end - p);
  if (size > 16) return internal::CountLongRun(p, end);
  if (size > 4) return size - internal::TopBitsIn5To16(p, size);
  size_t count = 0;
  for (; p < end; ++p) count += *p < 0x80;
  return count;
}

// The same, but false if `end` cuts the last varint.
inline bool CountVarints(const uint8_t* p, const uint8_t* end, size_t* count) {
  *count = CountVarints(p, end);
  return p == end || end[-1] < 0x80;
}

// ---- Encoding ----

// Bytes of the shortest encoding, 1 to 10.
constexpr size_t VarintSize(uint64_t value) {
  // ceil(bits / 7) without a division: 9 / 64 is a little more than 1 / 7, and right up to 64 bits.
  return (static_cast<size_t>(std::bit_width(value | 1)) * 9 + 64) / 64;
}
static_assert(VarintSize(0) == 1 && VarintSize(127) == 1 && VarintSize(128) == 2 && VarintSize(~0ull) == 10);

// Writes one varint; returns the byte after it. Needs VarintSize(value) bytes at out.
inline uint8_t* EncodeVarint(uint64_t value, uint8_t* out) {
  while (value >= 0x80) {
    *out++ = static_cast<uint8_t>(value | 0x80);
    value >>= 7;
  }
  *out++ = static_cast<uint8_t>(value);
  return out;
}

// The sum of VarintSize over n values.
size_t EncodedVarintsSize(const int64_t* values, size_t n);

// Writes n varints, each as short as possible, and returns the byte after the last one; null if they do not fit into
// [out, end). All of [out, end) may be written to, wherever the varints end. Each value is read once, so that values
// that someone changes at the same time make varints, if not those that were expected.
uint8_t* EncodeVarints(const int64_t* values, size_t n, uint8_t* out, const uint8_t* end);

// ---- Backends ----

// The backends that this processor can run, fastest first; "portable" is always among them.
std::vector<const char*> VarintBackends();

const char* VarintBackend();

// Returns false and changes nothing if this processor lacks the backend.
bool SetVarintBackend(const char* name);

}  // namespace tfr
