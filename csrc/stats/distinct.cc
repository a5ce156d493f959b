// Merging registers, and the estimate from them; see distinct.h.

#include "stats/distinct.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace tfr {
namespace {

constexpr int kMostRank = 64 - Distinct::kIndexBits + 1;

// The two series of the paper: for registers that are still zero, and for those that are full.
double Sigma(double x) {
  if (x == 1.0) return std::numeric_limits<double>::infinity();
  double y = 1.0, z = x, before;
  do {
    x *= x;
    before = z;
    z += x * y;
    y += y;
  } while (z != before);
  return z;
}

double Tau(double x) {
  if (x == 0.0 || x == 1.0) return 0.0;
  double y = 1.0, z = 1.0 - x, before;
  do {
    x = std::sqrt(x);
    before = z;
    y *= 0.5;
    z -= (1.0 - x) * (1.0 - x) * y;
  } while (z != before);
  return z / 3.0;
}

}  // namespace

void Distinct::Merge(const Distinct& other) {
  for (size_t i = 0; i < kRegisters; ++i) registers_[i] = std::max(registers_[i], other.registers_[i]);
}

double Distinct::Estimate() const {
  constexpr auto kCount = static_cast<double>(kRegisters);
  constexpr double kAlpha = 0.72134752044448170368;  // 1 / (2 ln 2)
  std::array<uint32_t, kMostRank + 1> counts{};
  for (const uint8_t rank : registers_) ++counts[rank];
  double z = kCount * Tau(1.0 - counts[kMostRank] / kCount);
  for (int rank = kMostRank - 1; rank >= 1; --rank) z = 0.5 * (z + counts[static_cast<size_t>(rank)]);
  z += kCount * Sigma(counts[0] / kCount);
  return kAlpha * kCount * kCount / z;
}

}  // namespace tfr
