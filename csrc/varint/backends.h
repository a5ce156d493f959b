// What the backends of varint/ share: the shape of one, and the scalar loops that finish what registers leave.

#ifndef TFRECORD_FAST_VARINT_BACKENDS_H_
#define TFRECORD_FAST_VARINT_BACKENDS_H_

#include <cstddef>
#include <cstdint>

#include "varint/varint.h"

namespace tfr::internal {

// The contracts are those of varint.h: DecodeVarintRun, CountVarints, EncodedVarintsSize, EncodeVarints.
struct VarintOps {
  const char* name;
  bool (*supported)();
  const uint8_t* (*decode)(const uint8_t* p, const uint8_t* end, int64_t* out, size_t capacity, size_t* count);
  size_t (*count)(const uint8_t* p, const uint8_t* end);
  size_t (*encoded_size)(const int64_t* values, size_t n);
  uint8_t* (*encode)(const int64_t* values, size_t n, uint8_t* out);
};

extern const VarintOps kPortableVarint;
#if defined(__x86_64__)
extern const VarintOps kBmi2Varint;
extern const VarintOps kAvx512VbmiVarint;
#endif

constexpr uint64_t kTopBits = 0x8080808080808080;

}  // namespace tfr::internal

#endif  // TFRECORD_FAST_VARINT_BACKENDS_H_
