// CRC32C by folding with the carry-less multiplication of ARMv8: the method of pclmul.cc.

#if defined(__aarch64__)

#include <arm_acle.h>
#include <arm_neon.h>

#include "base/endian.h"
#include "crc32c/backends.h"

namespace tfr::crc32c::internal {
namespace {

#define TFR_PMULL __attribute__((target("+crypto+crc")))

constexpr size_t kFoldFrom = 256;  // below it the crc32 instruction alone is used

constexpr Fold kOver64 = FoldOver(64 * 8);
constexpr Fold kOver16 = FoldOver(16 * 8);

TFR_PMULL inline uint64x2_t FoldInto(uint64x2_t x, Fold fold, uint64x2_t next) {
  const poly128_t low = vmull_p64(vgetq_lane_u64(x, 0), fold.low);
  const poly128_t high = vmull_p64(vgetq_lane_u64(x, 1), fold.high);
  return veorq_u64(veorq_u64(vreinterpretq_u64_p128(low), vreinterpretq_u64_p128(high)), next);
}

TFR_PMULL inline uint64x2_t Load128(const uint8_t* from) { return vreinterpretq_u64_u8(vld1q_u8(from)); }

}  // namespace

TFR_PMULL uint32_t ExtendPmull(uint32_t crc, const uint8_t* data, size_t size) {
  uint32_t state = ~crc;
  if (size >= kFoldFrom) {
    uint64x2_t x0 = veorq_u64(Load128(data), vsetq_lane_u64(state, vdupq_n_u64(0), 0));
    uint64x2_t x1 = Load128(data + 16);
    uint64x2_t x2 = Load128(data + 32);
    uint64x2_t x3 = Load128(data + 48);
    for (data += 64, size -= 64; size >= 64; data += 64, size -= 64) {
      x0 = FoldInto(x0, kOver64, Load128(data));
      x1 = FoldInto(x1, kOver64, Load128(data + 16));
      x2 = FoldInto(x2, kOver64, Load128(data + 32));
      x3 = FoldInto(x3, kOver64, Load128(data + 48));
    }
    x1 = FoldInto(x0, kOver16, x1);
    x2 = FoldInto(x1, kOver16, x2);
    x3 = FoldInto(x2, kOver16, x3);
    // The 128 folded bits are a message like any other.
    state = __crc32cd(__crc32cd(0, vgetq_lane_u64(x3, 0)), vgetq_lane_u64(x3, 1));
  }
  for (; size >= 8; data += 8, size -= 8) state = __crc32cd(state, LoadLE64(data));
  for (; size > 0; ++data, --size) state = __crc32cb(state, *data);
  return ~state;
}

}  // namespace tfr::crc32c::internal

#endif  // __aarch64__
