// CRC32C by folding with 512-bit carry-less multiplication: four registers stride over 256 bytes per step.
// The same folding as pclmul.cc, four lanes wide.

#if defined(__x86_64__)

// The compiler's own headers pass a register that is masked out whole (GCC bug 105593).
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include "crc32c/x86.h"

namespace tfr::crc32c::internal {
namespace {

#define TFR_TARGET_VPCLMUL __attribute__((target("sse4.2,pclmul,avx512f,avx512vl,avx512dq,avx512bw,vpclmulqdq")))

constexpr size_t kFoldFrom = 256;  // below it the crc32 instruction alone is faster

constexpr Fold kOver256 = FoldOver(256 * 8);
constexpr Fold kOver64 = FoldOver(64 * 8);
constexpr Fold kOver48 = FoldOver(48 * 8);
constexpr Fold kOver32 = FoldOver(32 * 8);
constexpr Fold kOver16 = FoldOver(16 * 8);

TFR_TARGET_VPCLMUL inline __m512i Load512(const uint8_t* from) { return _mm512_loadu_si512(from); }

TFR_TARGET_VPCLMUL inline __m512i FoldInto(__m512i x, __m512i factors, __m512i next) {
  const __m512i low = _mm512_clmulepi64_epi128(x, factors, 0x00);
  const __m512i high = _mm512_clmulepi64_epi128(x, factors, 0x11);
  return _mm512_ternarylogic_epi64(low, high, next, 0x96);  // a ^ b ^ c
}

// The four lanes of x as one 128-bit remainder: lane i lies 48 - 16 i bytes before the last.
TFR_TARGET_VPCLMUL inline __m128i JoinLanes(__m512i x) {
  const __m512i factors =
      _mm512_set_epi64(0, 0, static_cast<long long>(kOver16.high), static_cast<long long>(kOver16.low),
                       static_cast<long long>(kOver32.high), static_cast<long long>(kOver32.low),
                       static_cast<long long>(kOver48.high), static_cast<long long>(kOver48.low));
  const __m512i folded =
      _mm512_xor_si512(_mm512_clmulepi64_epi128(x, factors, 0x00), _mm512_clmulepi64_epi128(x, factors, 0x11));
  const __m256i half = _mm256_xor_si256(_mm512_castsi512_si256(folded), _mm512_extracti64x4_epi64(folded, 1));
  const __m128i joined = _mm_xor_si128(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
  return _mm_xor_si128(joined, _mm512_extracti64x2_epi64(x, 3));
}

// At least 64 bytes; takes all whole blocks of 64 and leaves the rest to the caller.
TFR_TARGET_VPCLMUL inline uint64_t StepBlocks(uint64_t state, const uint8_t* data, size_t size) {
  __m512i x = _mm512_xor_si512(Load512(data), _mm512_zextsi128_si512(_mm_cvtsi64_si128(static_cast<long long>(state))));
  data += 64;
  size -= 64;
  const __m512i over64 = _mm512_broadcast_i64x2(Factors(kOver64));
  if (size >= 192 + 256) {
    __m512i x1 = Load512(data);
    __m512i x2 = Load512(data + 64);
    __m512i x3 = Load512(data + 128);
    const __m512i over256 = _mm512_broadcast_i64x2(Factors(kOver256));
    for (data += 192, size -= 192; size >= 256; data += 256, size -= 256) {
      x = FoldInto(x, over256, Load512(data));
      x1 = FoldInto(x1, over256, Load512(data + 64));
      x2 = FoldInto(x2, over256, Load512(data + 128));
      x3 = FoldInto(x3, over256, Load512(data + 192));
    }
    x = FoldInto(FoldInto(FoldInto(x, over64, x1), over64, x2), over64, x3);
  }
  for (; size >= 64; data += 64, size -= 64) x = FoldInto(x, over64, Load512(data));
  return Reduce(JoinLanes(x));
}

}  // namespace

TFR_TARGET_VPCLMUL uint32_t ExtendVpclmul(uint32_t crc, const uint8_t* data, size_t size) {
  uint64_t state = static_cast<uint32_t>(~crc);
  if (size >= kFoldFrom) {
    state = StepBlocks(state, data, size);
    data += size & ~size_t{63};
    size &= 63;
  }
  return ~static_cast<uint32_t>(StepShort(state, data, size));
}

}  // namespace tfr::crc32c::internal

#endif  // __x86_64__
