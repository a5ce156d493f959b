// Loops over rows with AVX2; see row_ops.h.
//
// Sums stay in registers while the rows are added to them. There is no FMA: values are those of the portable loops.

#if defined(__x86_64__)

#include <immintrin.h>

#include "base/cpu.h"
#include "images/row_ops.h"

namespace tfr::internal {
namespace {

#define TFR_AVX2 __attribute__((target("avx2")))
#define TFR_AVX2_INLINE __attribute__((target("avx2"), always_inline)) inline

constexpr size_t kLanes = 8;
constexpr size_t kSums = 4;  // vectors that are summed at the same time
constexpr size_t kBlock = kLanes * kSums;

TFR_AVX2_INLINE __m256 Load(const uint8_t* row, size_t i, uint8_t) {
  return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(row + i))));
}

TFR_AVX2_INLINE __m256 Load(const uint8_t* row, size_t i, float) {
  return _mm256_loadu_ps(reinterpret_cast<const float*>(row + i * sizeof(float)));
}

template <typename T>
TFR_AVX2 void Sum(const uint8_t* const* rows, const float* weights, size_t num_rows, size_t count, float* out) {
  size_t i = 0;
  if (num_rows > 0) {
    for (; i + kBlock <= count; i += kBlock) {
      __m256 sums[kSums];
      const __m256 first = _mm256_set1_ps(weights[0]);
      for (size_t j = 0; j < kSums; ++j) sums[j] = _mm256_mul_ps(Load(rows[0], i + j * kLanes, T()), first);
      for (size_t k = 1; k < num_rows; ++k) {
        const __m256 weight = _mm256_set1_ps(weights[k]);
        for (size_t j = 0; j < kSums; ++j) {
          sums[j] = _mm256_add_ps(sums[j], _mm256_mul_ps(Load(rows[k], i + j * kLanes, T()), weight));
        }
      }
      for (size_t j = 0; j < kSums; ++j) _mm256_storeu_ps(out + i + j * kLanes, sums[j]);
    }
  }
  SumLoop<T>(rows, weights, num_rows, i, count, out);
}

// maxps and minps return their second operand for NaN.
TFR_AVX2_INLINE __m256i RoundVector(const float* row) {
  const __m256 positive = _mm256_max_ps(_mm256_loadu_ps(row), _mm256_setzero_ps());
  return _mm256_cvtps_epi32(_mm256_min_ps(positive, _mm256_set1_ps(255)));
}

TFR_AVX2 void Round(const float* row, size_t count, uint8_t* out) {
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);  // packing keeps the halves apart
  size_t i = 0;
  for (; i + kBlock <= count; i += kBlock) {
    const __m256i low = _mm256_packs_epi32(RoundVector(row + i), RoundVector(row + i + kLanes));
    const __m256i high = _mm256_packs_epi32(RoundVector(row + i + 2 * kLanes), RoundVector(row + i + 3 * kLanes));
    const __m256i bytes = _mm256_permutevar8x32_epi32(_mm256_packus_epi16(low, high), order);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), bytes);
  }
  RoundLoop(row, i, count, out);
}

TFR_AVX2 void Apply(Step::Kind kind, const float* operands, float* row, size_t count) {
  ApplyLoop(kind, operands, row, count);
}

TFR_AVX2 void Convert(const uint8_t* pixels, size_t count, float* row) { ConvertLoop(pixels, count, row); }

TFR_AVX2 void Blend(const float* lower, const float* upper, float share, size_t count, float* out) {
  BlendLoop(lower, upper, share, count, out);
}

}  // namespace

constexpr RowOps kAvx2Rows = {
    "avx2", [] { return Cpu().avx2; }, Apply, Convert, Blend, Sum<uint8_t>, Sum<float>, Round,
};

}  // namespace tfr::internal

#endif
