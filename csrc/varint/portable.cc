// Varint runs in plain C++, eight bytes at a time; the reference for the other backends. See varint.h.

#include <bit>

#include "base/endian.h"
#include "varint/backends.h"

namespace tfr::internal {
namespace {

// Decodes the varints that end in the eight bytes at p, at least one; returns the end of the last. `ends` is the top
// bits of the bytes that end one.
inline const uint8_t* DecodeWord(const uint8_t* p, uint64_t x, uint64_t ends, int64_t** out) {
  int64_t* o = *out;
  unsigned start = 0;  // bit where the next varint starts
  do {
    const unsigned top = static_cast<unsigned>(std::countr_zero(ends));
    const uint64_t groups = (x >> start) & ((uint64_t{1} << (top - start)) - 1);
    *o++ = static_cast<int64_t>(JoinGroups(groups));
    start = top + 1;
    ends &= ends - 1;
  } while (ends != 0);
  *out = o;
  return p + start / 8;
}

size_t Count(const uint8_t* p, const uint8_t* end) {
  size_t more = 0;  // bytes that do not end a varint
  const uint8_t* const start = p;
  // Their top bits are summed bytewise; 255 words may pass before a byte's sum could overflow.
  while (end - p >= 8) {
    uint64_t sums = 0;
    const ptrdiff_t words = (end - p) / 8 < 255 ? (end - p) / 8 : 255;
    for (ptrdiff_t i = 0; i < words; ++i, p += 8) sums += (LoadLE64(p) & kTopBits) >> 7;
    sums = (sums & 0x00ff00ff00ff00ff) + ((sums >> 8) & 0x00ff00ff00ff00ff);
    more += static_cast<size_t>((sums * 0x0001000100010001) >> 48);
  }
  for (; p < end; ++p) more += *p >> 7;
  return static_cast<size_t>(end - start) - more;
}

size_t EncodedSize(const int64_t* values, size_t n) {
  size_t size = 0;
  for (size_t i = 0; i < n; ++i) size += VarintSize(static_cast<uint64_t>(values[i]));
  return size;
}

// The inverse of JoinGroups.
inline uint64_t SplitGroups(uint64_t x) {
  x = (x & 0x000000000fffffff) | ((x << 4) & 0x0fffffff00000000);
  x = (x & 0x00003fff00003fff) | ((x << 2) & 0x3fff00003fff0000);
  return (x & 0x007f007f007f007f) | ((x << 1) & 0x7f007f007f007f00);
}

uint8_t* Encode(const int64_t* values, size_t n, uint8_t* out, const uint8_t* end) {
  size_t i = 0;
  for (; i < n && static_cast<size_t>(end - out) >= kMaxVarintSize; ++i) {
    const uint64_t value = ReadOnce(values + i);
    if (value < 0x80) {
      *out++ = static_cast<uint8_t>(value);
    } else {
      out = StoreLoosely(value, SplitGroups(value), out);
    }
  }
  for (; i < n && out != nullptr; ++i) out = StoreIfItFits(ReadOnce(values + i), out, end);
  return out;
}

}  // namespace

const uint8_t* DecodePortably(const uint8_t* p, const uint8_t* end, int64_t* out, size_t capacity, size_t* count) {
  int64_t* o = out;
  int64_t* const limit = out + capacity;
  while (end - p >= 8 && limit - o >= 8) {
    const uint64_t x = LoadLE64(p);
    const uint64_t ends = ~x & kTopBits;
    if (ends == kTopBits) {
      for (int i = 0; i < 8; ++i) o[i] = p[i];
      o += 8;
      p += 8;
    } else if (ends != 0) {
      p = DecodeWord(p, x, ends, &o);
    } else {  // 9 or 10 bytes, or malformed
      uint64_t value;
      p = DecodeLongVarint(p, end, &value);
      if (p == nullptr) return nullptr;
      *o++ = static_cast<int64_t>(value);
    }
  }
  while (p < end && o < limit) {
    uint64_t value;
    p = DecodeVarint(p, end, &value);
    if (p == nullptr) return nullptr;
    *o++ = static_cast<int64_t>(value);
  }
  *count = static_cast<size_t>(o - out);
  return p;
}

const VarintOps kPortableVarint = {"portable", [] { return true; }, DecodePortably, Count, EncodedSize, Encode};

}  // namespace tfr::internal
