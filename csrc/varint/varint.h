// Packed varint runs, portable; stands in until the room with its backends is merged.

#ifndef TFRECORD_FAST_VARINT_VARINT_H_
#define TFRECORD_FAST_VARINT_VARINT_H_

#include <cstddef>
#include <cstdint>

#include "wire/wire.h"

namespace tfr {

inline const uint8_t* DecodeVarintRun(const uint8_t* p, const uint8_t* end, int64_t* out, size_t capacity,
                                      size_t* count) {
  size_t n = 0;
  while (p < end && n < capacity) {
    uint64_t value;
    p = ReadVarint(p, end, &value);
    if (p == nullptr) return nullptr;
    out[n++] = static_cast<int64_t>(value);
  }
  *count = n;
  return p;
}

inline bool CountVarints(const uint8_t* p, const uint8_t* end, size_t* count) {
  *count = 0;
  for (const uint8_t* q = p; q < end; ++q) *count += *q < 0x80;
  return p == end || end[-1] < 0x80;
}

}  // namespace tfr

#endif  // TFRECORD_FAST_VARINT_VARINT_H_
