// See hash_lanes.h.

#include "stats/hash_lanes.h"

#include <algorithm>

#include "base/cpu.h"
#include "base/endian.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tfr::internal {
namespace {

#define TFR_INLINE __attribute__((always_inline)) inline

// Where the stripes of a string are, and their keys.
class Stripes {
 public:
  TFR_INLINE explicit Stripes(const Bytes& bytes) : p_(bytes.data), last_(bytes.data + bytes.size - kHashStripe) {}

  TFR_INLINE const uint8_t* data() const { return p_; }
  TFR_INLINE const uint64_t* keys() const { return keys_; }
  // Goes on to the next one; false at the end.
  TFR_INLINE bool Next() {
    if (p_ == last_) return false;
    p_ = std::min(p_ + kHashStripe, last_);
    keys_ += kHashLanes;
    return true;
  }
  // Whether the keys are used up, and the lanes are to be mixed; then the keys begin anew.
  TFR_INLINE bool Mixes() {
    if (keys_ != kHashKeys.data() + kHashKeys.size()) return false;
    keys_ = kHashKeys.data();
    return true;
  }

 private:
  const uint8_t* p_;
  const uint8_t* last_;
  const uint64_t* keys_ = kHashKeys.data();
};

}  // namespace

HashLanes LanesPortably(const Bytes& bytes) {
  HashLanes made{};
  Stripes stripes(bytes);
  do {
    if (stripes.Mixes()) {
      for (uint64_t& lane : made.words) lane = (lane ^ lane >> kHashShift) * kHashFactor;
    }
    for (size_t i = 0; i < kHashLanes; ++i) {
      const uint64_t word = LoadLE64(stripes.data() + i * sizeof word);
      const uint64_t mixed = word ^ stripes.keys()[i];
      made.words[i] += word;
      made.words[i ^ 1] += (mixed & UINT32_MAX) * (mixed >> 32);
    }
  } while (stripes.Next());
  return made;
}

#if defined(__x86_64__)
namespace {

constexpr int kSwapped = 0x4e;  // the halves of 128 bits

}  // namespace

HashLanes LanesSse2(const Bytes& bytes) {
  constexpr size_t kVectors = 4;
  const __m128i factor = _mm_set1_epi64x(kHashFactor);
  __m128i lanes[kVectors] = {};
  Stripes stripes(bytes);
  do {
    if (stripes.Mixes()) {
      for (__m128i& lane : lanes) {
        const __m128i mixed = _mm_xor_si128(lane, _mm_srli_epi64(lane, kHashShift));
        const __m128i upper = _mm_mul_epu32(_mm_srli_epi64(mixed, 32), factor);
        lane = _mm_add_epi64(_mm_mul_epu32(mixed, factor), _mm_slli_epi64(upper, 32));
      }
    }
    for (size_t i = 0; i < kVectors; ++i) {
      const __m128i words = _mm_loadu_si128(reinterpret_cast<const __m128i*>(stripes.data()) + i);
      const __m128i mixed = _mm_xor_si128(words, _mm_load_si128(reinterpret_cast<const __m128i*>(stripes.keys()) + i));
      const __m128i products = _mm_mul_epu32(mixed, _mm_srli_epi64(mixed, 32));
      lanes[i] = _mm_add_epi64(_mm_add_epi64(lanes[i], words), _mm_shuffle_epi32(products, kSwapped));
    }
  } while (stripes.Next());
  HashLanes made;
  for (size_t i = 0; i < kVectors; ++i) _mm_storeu_si128(reinterpret_cast<__m128i*>(made.words) + i, lanes[i]);
  return made;
}

__attribute__((target("avx2"))) HashLanes LanesAvx2(const Bytes& bytes) {
  constexpr size_t kVectors = 2;
  const __m256i factor = _mm256_set1_epi64x(kHashFactor);
  __m256i lanes[kVectors] = {};
  Stripes stripes(bytes);
  do {
    if (stripes.Mixes()) {
      for (__m256i& lane : lanes) {
        const __m256i mixed = _mm256_xor_si256(lane, _mm256_srli_epi64(lane, kHashShift));
        const __m256i upper = _mm256_mul_epu32(_mm256_srli_epi64(mixed, 32), factor);
        lane = _mm256_add_epi64(_mm256_mul_epu32(mixed, factor), _mm256_slli_epi64(upper, 32));
      }
    }
    for (size_t i = 0; i < kVectors; ++i) {
      const __m256i words = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(stripes.data()) + i);
      const __m256i keys = _mm256_load_si256(reinterpret_cast<const __m256i*>(stripes.keys()) + i);
      const __m256i mixed = _mm256_xor_si256(words, keys);
      const __m256i products = _mm256_mul_epu32(mixed, _mm256_srli_epi64(mixed, 32));
      lanes[i] = _mm256_add_epi64(_mm256_add_epi64(lanes[i], words), _mm256_shuffle_epi32(products, kSwapped));
    }
  } while (stripes.Next());
  HashLanes made;
  for (size_t i = 0; i < kVectors; ++i) _mm256_storeu_si256(reinterpret_cast<__m256i*>(made.words) + i, lanes[i]);
  return made;
}

#endif

HashLanes LanesOf(const Bytes& bytes) {
#if defined(__x86_64__)
  return Cpu().avx2 ? LanesAvx2(bytes) : LanesSse2(bytes);
#else
  return LanesPortably(bytes);
#endif
}

}  // namespace tfr::internal
