// Figures of the numbers under one key: int64 or float32, as records have them.
//
// Up to Limits::exact different ones are all counted, and everything follows from the counts. With more, min, max,
// zeros, mean and variance stay what they are for all numbers, and the rest is estimated: how many different ones there
// are, those that come most often, and quantiles. NaN is counted, and is in nothing else; the infinities are in all but
// mean and variance. -0.0 is 0.0.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "stats/counts.h"
#include "stats/distinct.h"
#include "stats/moments.h"
#include "stats/quantiles.h"

namespace tfr {

// Memory limits of one key: about 16 bytes for each of `exact`, and, once there are more, 24 for each of `quantiles`
// and 25 kilobytes.
struct Limits {
  size_t exact = 1024;      // different values
  size_t quantiles = 1024;  // the size of the sketch
};

// A value in the table of counts, as its bits: of an int64 all, of a float32 the lower 32.
class Numbers {
 public:
  enum class Type : uint8_t { kInt64, kFloat };

  // `offset`: how many values of this kind are likely to have come before, in parts that this one is merged with. From
  // some thousands on, quantiles are taken from a sample.
  Numbers(Type type, Limits limits, uint64_t offset) : type_(type), limits_(limits), offset_(offset) {}
  Numbers(Numbers&&) = default;
  Numbers& operator=(Numbers&&) = default;

  // At most kBlock at a time.
  void Add(const int64_t* values, size_t n);
  void Add(const float* values, size_t n);
  // One int64 that came that often.
  void AddRepeated(int64_t value, uint64_t count);
  void Merge(const Numbers& other);

  // There are too many different values to count them all.
  bool is_sketched() const { return sketch_ != nullptr; }
  // Starts with the sketch: for figures that will be merged with sketched ones, so that exact counts would be lost.
  void BeginSketch();

  struct Figures {
    uint64_t count = 0;  // all, NaN included
    uint64_t nans = 0;
    uint64_t positive_infinities = 0;
    uint64_t negative_infinities = 0;
    uint64_t zeros = 0;
    bool has_extremes = false;  // there is a number that is not NaN
    int64_t least_int = 0, most_int = 0;
    double least = 0, most = 0;  // of floats
    Moments moments;             // of finite ones
    bool exact = true;           // all different values are known
    double distinct = 0;
    uint64_t error = 0;                    // of the counts of `heavy`, if not exact
    std::vector<Counts::Entry> heavy;      // if not exact: those that come often, the most frequent first
    std::vector<Quantiles::Point> points;  // ascending, by OrderedKey: all values if exact, else a sample with weights
  };
  Figures Finish() const;

  Type type() const { return type_; }
  uint64_t count() const { return count_; }

  // Keys in the order of the values, and back to bits.
  static uint64_t OrderedKey(Type type, uint64_t bits);
  static uint64_t BitsOf(Type type, uint64_t ordered_key);

 private:
  // Once there are too many different values.
  struct Sketch {
    explicit Sketch(const Limits& limits, uint64_t seed) : quantiles(limits.quantiles, seed) {}
    Distinct distinct;
    Quantiles quantiles;
    Moments moments;
    int64_t least_int = INT64_MAX, most_int = INT64_MIN;
    double least = 0, most = 0;
    bool has_extremes = false;
    uint64_t zeros = 0;
    uint64_t infinities[2] = {};  // negative, positive
    uint64_t seen = 0;            // since the sketch was begun
  };

  void AddDirect(uint64_t value, uint64_t count = 1);
  void AddExact(uint64_t bits, uint64_t count = 1);
  bool IsFull() const { return counts_.size() > limits_.exact; }
  void PutAll(const std::vector<Counts::Entry>& entries);
  void PutCounted(const std::vector<Counts::Entry>& entries);
  template <typename Value>
  void Sketched(const Value* values, size_t n);
  void MergeExtremes(int64_t least, int64_t most);
  void MergeExtremes(double least, double most);
  std::vector<Counts::Entry> ExactEntries() const;
  long double ValueOf(uint64_t bits) const;
  Moments MomentsOf(const std::vector<Counts::Entry>& entries, uint64_t* zeros, uint64_t* infinities) const;

  Type type_;
  Limits limits_;
  uint64_t offset_;
  uint64_t count_ = 0;
  uint64_t nans_ = 0;
  std::vector<uint64_t> direct_;  // while exact: counts of the int64 from 0 on
  Counts counts_;
  std::unique_ptr<Sketch> sketch_;
};

}  // namespace tfr
