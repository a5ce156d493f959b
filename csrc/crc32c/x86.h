// The pieces that the x86 backends share: the crc32 instruction over short runs, and the end of a fold.

#pragma once

#include <immintrin.h>

#include "base/endian.h"
#include "crc32c/backends.h"

namespace tfr::crc32c::internal {

// State after the first `size` < 8 bytes of `word` (the rest of it is ignored), without a branch. Zero bytes
// before a message leave a zero state unchanged, so the bytes are moved to the top of the word; the part of the
// state that they do not reach is shifted down.
__attribute__((target("sse4.2"))) inline uint64_t StepTail(uint64_t state, uint64_t word, size_t size) {
  const unsigned bits = 8 * static_cast<unsigned>(size);
  const uint64_t mixed = (word ^ state) << 1 << (63 - bits);
  return _mm_crc32_u64(0, mixed) ^ (state >> bits);
}

// Up to a few hundred bytes: eight at a time, then the tail in one step. A record's CRC is one dependent chain,
// but the chains of neighbouring records overlap in the processor.
__attribute__((target("sse4.2"))) inline uint64_t StepShort(uint64_t state, const uint8_t* data, size_t size) {
  if (size >= 8) {
    const uint8_t* const end = data + size;
    size_t left = size;
    for (; left >= 8; data += 8, left -= 8) state = _mm_crc32_u64(state, LoadLE64(data));
    // The last eight bytes hold the tail; what precedes it is shifted out.
    return StepTail(state, LoadLE64(end - 8) >> 1 >> (63 - 8 * left), left);
  }
  if (size >= 4) {
    const uint64_t word = LoadLE32(data) | static_cast<uint64_t>(LoadLE32(data + size - 4)) << (8 * (size - 4));
    return StepTail(state, word, size);
  }
  for (; size > 0; ++data, --size) state = _mm_crc32_u8(static_cast<uint32_t>(state), *data);
  return state;
}

__attribute__((target("sse4.2,pclmul"))) inline __m128i FoldInto(__m128i x, __m128i factors, __m128i next) {
  const __m128i low = _mm_clmulepi64_si128(x, factors, 0x00);
  const __m128i high = _mm_clmulepi64_si128(x, factors, 0x11);
  return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

__attribute__((target("sse4.2"))) inline __m128i Factors(Fold fold) {
  return _mm_set_epi64x(static_cast<long long>(fold.high), static_cast<long long>(fold.low));
}

// The state after 128 folded bits: they are a message like any other.
__attribute__((target("sse4.2"))) inline uint64_t Reduce(__m128i x) {
  const uint64_t state = _mm_crc32_u64(0, static_cast<uint64_t>(_mm_cvtsi128_si64(x)));
  return _mm_crc32_u64(state, static_cast<uint64_t>(_mm_extract_epi64(x, 1)));
}

inline __m128i Load128(const uint8_t* from) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)); }

}  // namespace tfr::crc32c::internal
