// How many different hashes there were: HyperLogLog, by the registers' maximum-likelihood estimator of O. Ertl, "New
// cardinality estimation algorithms for HyperLogLog sketches" (2017).

#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tfr {

// The order of hashes does not matter, nor how often one comes, nor how they are divided among sketches that are
// merged.
class Distinct {
 public:
  static constexpr int kIndexBits = 13;
  static constexpr size_t kRegisters = size_t{1} << kIndexBits;
  // The estimate's standard error, as a part of the number.
  static constexpr double kStandardError = 1.04 / 90.51;  // the square root of kRegisters

  Distinct() : registers_(kRegisters) {}

  void Add(uint64_t hash) {
    const uint16_t at = RegisterOf(hash);
    const uint8_t rank = RankOf(hash);
    AddAll(&at, &rank, 1);
  }

  // Hashes, by their registers and ranks. Without a branch: in the beginning, whether a register grows is as good as
  // random.
  void AddAll(const uint16_t* at, const uint8_t* ranks, size_t n) {
    uint8_t* const registers = registers_.data();
    for (size_t i = 0; i < n; ++i) {
      uint8_t& best = registers[at[i]];
      best = ranks[i] > best ? ranks[i] : best;
    }
  }

  static uint16_t RegisterOf(uint64_t hash) { return static_cast<uint16_t>(hash >> (64 - kIndexBits)); }
  // One more than the zeros below the index, from the lowest bit on: counting from the other end is slow on some
  // processors. The bit that is set bounds it: 64 - kIndexBits + 1 at most.
  static uint8_t RankOf(uint64_t hash) { return static_cast<uint8_t>(std::countr_zero(hash | kLastRank) + 1); }
  static constexpr uint64_t kLastRank = uint64_t{1} << (64 - kIndexBits);

  void Merge(const Distinct& other);
  double Estimate() const;

 private:
  std::vector<uint8_t> registers_;
};

}  // namespace tfr
