// How many different hashes there were: HyperLogLog, by the registers' maximum-likelihood estimator of O. Ertl, "New
// cardinality estimation algorithms for HyperLogLog sketches" (2017).

#ifndef TFRECORD_FAST_STATS_DISTINCT_H_
#define TFRECORD_FAST_STATS_DISTINCT_H_

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
    // The last bit set bounds the rank: of the bits after the index, 64 - kIndexBits + 1 at most.
    const uint64_t rest = hash << kIndexBits | uint64_t{1} << (kIndexBits - 1);
    const auto rank = static_cast<uint8_t>(std::countl_zero(rest) + 1);
    uint8_t& best = registers_[hash >> (64 - kIndexBits)];
    if (rank > best) best = rank;
  }

  // Without a branch: in the beginning, whether a register grows is as good as random.
  void AddAll(const uint64_t* hashes, size_t n) {
    uint8_t* const registers = registers_.data();
    for (size_t i = 0; i < n; ++i) {
      const uint64_t rest = hashes[i] << kIndexBits | uint64_t{1} << (kIndexBits - 1);
      const auto rank = static_cast<uint8_t>(std::countl_zero(rest) + 1);
      uint8_t& best = registers[hashes[i] >> (64 - kIndexBits)];
      best = rank > best ? rank : best;
    }
  }

  void Merge(const Distinct& other);
  double Estimate() const;

 private:
  std::vector<uint8_t> registers_;
};

}  // namespace tfr

#endif  // TFRECORD_FAST_STATS_DISTINCT_H_
