// CRC32C by folding with 128-bit carry-less multiplication: four registers stride over 64 bytes per step
// (Gopal et al., "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction", Intel, 2009).

#if defined(__x86_64__)

#include "crc32c/x86.h"

namespace tfr::crc32c::internal {
namespace {

constexpr size_t kFoldFrom = 256;  // below it the crc32 instruction alone is faster

constexpr Fold kOver64 = FoldOver(64 * 8);
constexpr Fold kOver16 = FoldOver(16 * 8);

}  // namespace

__attribute__((target("sse4.2,pclmul"))) uint32_t ExtendPclmul(uint32_t crc, const uint8_t* data, size_t size) {
  uint64_t state = static_cast<uint32_t>(~crc);
  if (size >= kFoldFrom) {
    __m128i x0 = _mm_xor_si128(Load128(data), _mm_cvtsi64_si128(static_cast<long long>(state)));
    __m128i x1 = Load128(data + 16);
    __m128i x2 = Load128(data + 32);
    __m128i x3 = Load128(data + 48);
    const __m128i over64 = Factors(kOver64);
    const __m128i over16 = Factors(kOver16);
    for (data += 64, size -= 64; size >= 64; data += 64, size -= 64) {
      x0 = FoldInto(x0, over64, Load128(data));
      x1 = FoldInto(x1, over64, Load128(data + 16));
      x2 = FoldInto(x2, over64, Load128(data + 32));
      x3 = FoldInto(x3, over64, Load128(data + 48));
    }
    x1 = FoldInto(x0, over16, x1);
    x2 = FoldInto(x1, over16, x2);
    x3 = FoldInto(x2, over16, x3);
    state = Reduce(x3);
  }
  return ~static_cast<uint32_t>(StepShort(state, data, size));
}

}  // namespace tfr::crc32c::internal

#endif  // __x86_64__
