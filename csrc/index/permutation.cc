// The rounds of the network; see permutation.h.

#include "index/permutation.h"

#include <algorithm>
#include <bit>

namespace tfr {
namespace {

// Any function of a half will do; bits of the result depend on all bits of it.
inline uint32_t Scrambled(uint32_t half, uint32_t added, uint32_t factor) {
  uint32_t mixed = (half + added) * factor;
  mixed ^= mixed >> 15;
  mixed *= 0x2C1B3C6Du;
  mixed ^= mixed >> 12;
  mixed *= 0x297A2D39u;
  return mixed ^ mixed >> 15;
}

constexpr uint32_t Mask(int bits) { return static_cast<uint32_t>((uint64_t{1} << bits) - 1); }

}  // namespace

Permutation::Permutation(int64_t size, const std::array<uint64_t, kRounds>& keys) : size_(size) {
  const int bits = std::bit_width(static_cast<uint64_t>(size - 1));
  low_bits_ = bits / 2;
  low_mask_ = Mask(low_bits_);
  high_mask_ = Mask(bits - low_bits_);
  for (size_t i = 0; i < kRounds; ++i) {
    keys_[i] = {static_cast<uint32_t>(keys[i]), static_cast<uint32_t>(keys[i] >> 32) | 1};
  }
}

int64_t Permutation::One(int64_t number) const {
  int64_t result;
  Several(&number, 1, &result);
  return result;
}

// Round by round over all of them, as the processor's vectors want it.
void Permutation::Several(const int64_t* from, size_t count, int64_t* to) const {
  constexpr size_t kMost = 256;
  uint32_t low[kMost], high[kMost];
  for (size_t n; count > 0; from += n, to += n, count -= n) {
    n = std::min(count, kMost);
    for (size_t i = 0; i < n; ++i) {
      low[i] = static_cast<uint32_t>(from[i]) & low_mask_;
      high[i] = static_cast<uint32_t>(from[i] >> low_bits_);
    }
    for (size_t round = 0; round < kRounds; round += 2) {
      const Key one = keys_[round], other = keys_[round + 1];
      for (size_t i = 0; i < n; ++i) {
        high[i] ^= Scrambled(low[i], one.added, one.factor) & high_mask_;
        low[i] ^= Scrambled(high[i], other.added, other.factor) & low_mask_;
      }
    }
    for (size_t i = 0; i < n; ++i) to[i] = static_cast<int64_t>(high[i]) << low_bits_ | low[i];
  }
}

void Permutation::At(const int64_t* places, size_t count, int64_t* numbers) const {
  Several(places, count, numbers);
  for (size_t i = 0; i < count; ++i) {
    while (numbers[i] >= size_) numbers[i] = One(numbers[i]);
  }
}

}  // namespace tfr
