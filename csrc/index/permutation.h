// A permutation of n numbers that takes no memory for n, the same on every machine.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tfr {

// A Feistel network over the numbers of 2b bits, or 2b - 1, that hold n: each round changes one half of a number's bits
// by a function of the other half, so that no two numbers meet. A result of n or more is sent through it again until it
// is below n (cycle walking), less than twice on average.
class Permutation {
 public:
  static constexpr size_t kRounds = 6;
  static constexpr int64_t kMostNumbers = int64_t{1} << 62;

  // The keys are random. 1 < size <= kMostNumbers.
  Permutation(int64_t size, const std::array<uint64_t, kRounds>& keys);

  int64_t size() const { return size_; }

  // The numbers that stand at these places, which are in [0, size).
  void At(const int64_t* places, size_t count, int64_t* numbers) const;

 private:
  struct Key {
    uint32_t added, factor;
  };

  int64_t One(int64_t number) const;
  void Several(const int64_t* from, size_t count, int64_t* to) const;

  int64_t size_;
  int low_bits_;
  uint32_t low_mask_, high_mask_;
  std::array<Key, kRounds> keys_;
};

}  // namespace tfr
