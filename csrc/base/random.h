// The random numbers for shuffling and for crops: SplitMix64 (Steele, Lea and Flood, 2014). Its state is one number, so
// it can be saved, and the same seed yields the same sequence on every machine.

#pragma once

#include <cstdint>

namespace tfr {

class Random {
 public:
  explicit Random(uint64_t state) : state_(state) {}

  // Independent sequences for each use of one seed.
  static Random For(uint64_t seed, uint64_t use, uint64_t epoch) {
    Random mix(seed ^ (use * 0xd1342543de82ef95u));
    return Random(mix.Next() ^ (epoch * 0x9e3779b97f4a7c15u + mix.Next()));
  }

  uint64_t Next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  // Below `bound`, which is not 0. The bias is below bound / 2^64.
  uint64_t Below(uint64_t bound) {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(Next()) * bound) >> 64);
  }

  uint64_t state() const { return state_; }

 private:
  uint64_t state_;
};

}  // namespace tfr
