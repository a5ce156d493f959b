// Quantiles of a stream in bounded memory: the sketch of Z. Karnin, K. Lang and E. Liberty, "Optimal Quantile
// Approximation in Streams" (KLL, 2016). Values come as keys whose order as unsigned numbers is the values' own.
//
// A value of level h represents 2^h values. A level that is full is sorted, and every other value of it moves up,
// the first or the second of each pair by a coin. The coins come from a seed, so that the same values in the same order
// yield the same sketch.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tfr {

// Sorts keys; `scratch` has room for as many. Quick for a few hundred to some thousands of them.
void SortKeys(uint64_t* keys, uint64_t* scratch, size_t n);

class Quantiles {
 public:
  // `size`: about how many values the upper levels have room for; the error of a rank is about 1.7 / size of all
  // values, with what is lost to sampling on top.
  Quantiles(size_t size, uint64_t seed) : size_(size), random_(seed | 1) {}

  void Add(uint64_t key) { Put(0, key); }
  // Adds keys that each represent 2^level values.
  void AddAt(size_t level, const uint64_t* keys, size_t n);
  // One that came that often.
  void AddWeighted(uint64_t key, uint64_t count);
  void Merge(const Quantiles& other);

  struct Point {
    uint64_t key;
    uint64_t weight;
  };
  // All that is kept, in ascending order. The weights' sum is that of all values given.
  std::vector<Point> Points() const;

  // 32 bits, from the seed.
  uint32_t Random() {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    return static_cast<uint32_t>(random_ >> 32);
  }

 private:
  void Put(size_t level, uint64_t key) {
    if (level >= levels_.size()) [[unlikely]]
      Raise(level);
    levels_[level].push_back(key);
    if (++kept_ > most_) [[unlikely]]
      Compress();
  }
  void Raise(size_t level);
  size_t Room(size_t level) const;
  void Compress();

  size_t size_;
  uint64_t random_;
  size_t kept_ = 0;
  size_t most_ = 0;
  std::vector<std::vector<uint64_t>> levels_;
  std::vector<uint64_t> scratch_;
};

}  // namespace tfr
