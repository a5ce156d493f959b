// One body for each block's figures, compiled for several sets of instructions; see moments.h. None uses fused
// multiply-add, which would round differently (setup.py: -ffp-contract=off).

#include "stats/moments.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/cpu.h"

namespace tfr {
namespace {

#define TFR_INLINE __attribute__((always_inline)) inline
#if defined(__x86_64__)
#define TFR_STATS_AVX2 __attribute__((target("avx2")))
#define TFR_STATS_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#endif

constexpr size_t kLanes = 8;

TFR_INLINE double SumOf(const double* values, size_t n) {
  double lanes[kLanes] = {};
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += values[i + lane];
  }
  for (; i < n; ++i) lanes[i % kLanes] += values[i];
  return ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) + ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]));
}

TFR_INLINE double SquaresOf(const double* values, size_t n, double mean) {
  double lanes[kLanes] = {};
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const double d = values[i + lane] - mean;
      lanes[lane] += d * d;
    }
  }
  for (; i < n; ++i) {
    const double d = values[i] - mean;
    lanes[i % kLanes] += d * d;
  }
  return ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) + ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]));
}

// The mean that the squares are taken from is rounded; what that makes of their sum is n times the error squared.
TFR_INLINE Moments MomentsOf(const double* values, size_t n) {
  const auto count = static_cast<long double>(n);
  const long double mean = static_cast<long double>(SumOf(values, n)) / count;
  const auto rounded = static_cast<double>(mean);
  const long double off = mean - rounded;
  return {n, mean, std::max(0.0L, static_cast<long double>(SquaresOf(values, n, rounded)) - count * off * off)};
}

template <typename Value>
TFR_INLINE void Extremes(const Value* values, size_t n, Value* least, Value* most, size_t* zeros) {
  Value low[kLanes], high[kLanes];
  for (size_t lane = 0; lane < kLanes; ++lane) low[lane] = high[lane] = values[0];
  size_t i = 0, none = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const Value value = values[i + lane];
      low[lane] = value < low[lane] ? value : low[lane];
      high[lane] = value > high[lane] ? value : high[lane];
    }
  }
  for (; i < n; ++i) {
    low[0] = std::min(low[0], values[i]);
    high[0] = std::max(high[0], values[i]);
  }
  for (size_t j = 0; j < n; ++j) none += values[j] == 0;
  *least = *std::min_element(low, low + kLanes);
  *most = *std::max_element(high, high + kLanes);
  *zeros = none;
}

TFR_INLINE BlockFigures FloatFigures(const float* values, size_t n) {
  double wide[kBlock];
  for (size_t i = 0; i < n; ++i) wide[i] = static_cast<double>(values[i]);
  float least, most;
  BlockFigures made{};
  Extremes(values, n, &least, &most, &made.zeros);
  made.least = static_cast<double>(least);
  made.most = static_cast<double>(most);
  made.moments = MomentsOf(wide, n);
  return made;
}

TFR_INLINE IntBlockFigures IntFigures(const int64_t* values, size_t n) {
  double wide[kBlock];
  for (size_t i = 0; i < n; ++i) wide[i] = static_cast<double>(values[i]);
  IntBlockFigures made{};
  Extremes(values, n, &made.least, &made.most, &made.zeros);
  made.moments = MomentsOf(wide, n);
  return made;
}

#if defined(__x86_64__)
TFR_STATS_AVX2 BlockFigures FloatFiguresAvx2(const float* values, size_t n) { return FloatFigures(values, n); }
TFR_STATS_AVX2 IntBlockFigures IntFiguresAvx2(const int64_t* values, size_t n) { return IntFigures(values, n); }
TFR_STATS_AVX512 BlockFigures FloatFiguresAvx512(const float* values, size_t n) { return FloatFigures(values, n); }
TFR_STATS_AVX512 IntBlockFigures IntFiguresAvx512(const int64_t* values, size_t n) { return IntFigures(values, n); }
#endif

}  // namespace

void Moments::Merge(const Moments& other) {
  if (other.count == 0) return;
  const auto one = static_cast<long double>(count);
  const auto two = static_cast<long double>(other.count);
  const long double both = one + two;
  const long double apart = other.mean - mean;
  mean += apart * (two / both);
  squares += other.squares + apart * apart * (one * two / both);
  count += other.count;
}

BlockFigures FiguresOf(const float* values, size_t n) {
#if defined(__x86_64__)
  if (Cpu().avx512) return FloatFiguresAvx512(values, n);
  if (Cpu().avx2) return FloatFiguresAvx2(values, n);
#endif
  return FloatFigures(values, n);
}

IntBlockFigures FiguresOf(const int64_t* values, size_t n) {
#if defined(__x86_64__)
  if (Cpu().avx512) return IntFiguresAvx512(values, n);
  if (Cpu().avx2) return IntFiguresAvx2(values, n);
#endif
  return IntFigures(values, n);
}

bool AllFinite(const float* values, size_t n) {
  constexpr uint32_t kExponent = 0x7f800000;
  uint32_t others = 0;
  for (size_t i = 0; i < n; ++i) {
    uint32_t bits;
    std::memcpy(&bits, values + i, sizeof bits);
    others |= (bits & kExponent) == kExponent;
  }
  return others == 0;
}

}  // namespace tfr
