// One loop for all processors, and one for those which multiply eight numbers of 64 bits at a time; see block_hashes.h.

#include "stats/block_hashes.h"

#include "base/cpu.h"
#include "stats/counts.h"
#include "stats/distinct.h"
#include "stats/hash.h"

#if defined(__x86_64__)
#if !defined(__clang__)
// GCC 12's header uses values before it sets them, on purpose.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>
#define TFR_STATS_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512cd,bmi,bmi2,popcnt")))
#endif

namespace tfr {
namespace {

template <typename Value>
void HashFrom(size_t begin, const Value* values, size_t n, const uint64_t* filter, BlockHashes* made) {
  uint64_t hashes[kBlock];
  for (size_t i = begin; i < n; ++i) hashes[i] = HashNumber(BitsOfValue(values[i]));
  for (size_t i = begin; i < n; ++i) {
    made->registers[i] = Distinct::RegisterOf(hashes[i]);
    made->ranks[i] = Distinct::RankOf(hashes[i]);
  }
  size_t kept = made->num_kept;
  for (size_t i = begin; i < n; ++i) {
    made->kept[kept] = static_cast<uint16_t>(i);
    kept += Counts::MayKeep(filter, hashes[i]);
  }
  made->num_kept = kept;
}

#if defined(__x86_64__)

TFR_STATS_AVX512 inline __m512i Bits(const int64_t* values) { return _mm512_loadu_si512(values); }
TFR_STATS_AVX512 inline __m512i Bits(const float* values) {
  const __m256 numbers = _mm256_loadu_ps(values);
  const __mmask8 is_other = _mm256_cmp_ps_mask(numbers, _mm256_setzero_ps(), _CMP_NEQ_UQ);
  return _mm512_cvtepu32_epi64(_mm256_maskz_mov_epi32(is_other, _mm256_castps_si256(numbers)));
}

// HashNumber.
TFR_STATS_AVX512 inline __m512i Hashes(__m512i x) {
  x = _mm512_xor_si512(x, _mm512_srli_epi64(x, 33));
  x = _mm512_mullo_epi64(x, _mm512_set1_epi64(static_cast<int64_t>(kHashFactors[0])));
  x = _mm512_xor_si512(x, _mm512_srli_epi64(x, 33));
  x = _mm512_mullo_epi64(x, _mm512_set1_epi64(static_cast<int64_t>(kHashFactors[1])));
  return _mm512_xor_si512(x, _mm512_srli_epi64(x, 33));
}

template <typename Value>
TFR_STATS_AVX512 void HashAvx512(const Value* values, size_t n, const uint64_t* filter, BlockHashes* made) {
  constexpr size_t kLanes = 8;
  const __m512i one = _mm512_set1_epi64(1);
  const __m512i last = _mm512_set1_epi64(static_cast<int64_t>(Distinct::kLastRank));
  __m512i places = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
  size_t kept = 0, i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const __m512i hashes = Hashes(Bits(values + i));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(made->registers + i),
                     _mm512_cvtepi64_epi16(_mm512_srli_epi64(hashes, 64 - Distinct::kIndexBits)));
    // The lowest bit that is set, alone: the zeros above it and the rank are 64 together.
    const __m512i marked = _mm512_or_si512(hashes, last);
    const __m512i lowest = _mm512_and_si512(marked, _mm512_sub_epi64(_mm512_setzero_si512(), marked));
    const __m512i ranks = _mm512_sub_epi64(_mm512_set1_epi64(64), _mm512_lzcnt_epi64(lowest));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(made->ranks + i), _mm512_cvtepi64_epi8(ranks));

    const __m512i words = _mm512_and_si512(_mm512_srli_epi64(hashes, 32), _mm512_set1_epi64(Counts::kFilterWords - 1));
    const __m512i found = _mm512_i64gather_epi64(words, filter, 8);
    const __mmask8 may_keep = _mm512_test_epi64_mask(found, _mm512_sllv_epi64(one, _mm512_srli_epi64(hashes, 58)));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(made->kept + kept),
                     _mm512_cvtepi64_epi16(_mm512_maskz_compress_epi64(may_keep, places)));
    kept += static_cast<size_t>(__builtin_popcount(may_keep));
    places = _mm512_add_epi64(places, _mm512_set1_epi64(kLanes));
  }
  made->num_kept = kept;
  HashFrom(i, values, n, filter, made);
}

#endif

template <typename Value>
void Hash(const Value* values, size_t n, const uint64_t* filter, BlockHashes* made) {
#if defined(__x86_64__)
  if (Cpu().avx512_vbmi) return HashAvx512(values, n, filter, made);
#endif
  made->num_kept = 0;
  HashFrom(0, values, n, filter, made);
}

}  // namespace

void HashBlock(const int64_t* values, size_t n, const uint64_t* filter, BlockHashes* made) {
  Hash(values, n, filter, made);
}
void HashBlock(const float* values, size_t n, const uint64_t* filter, BlockHashes* made) {
  Hash(values, n, filter, made);
}

}  // namespace tfr
