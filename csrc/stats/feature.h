// Figures of what records hold under one key, of one of the two maps.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/records.h"
#include "stats/numbers.h"
#include "stats/texts.h"
#include "wire/example.h"

namespace tfr {

// Numbers that are often the same as the one before: how many values there are.
class Lengths {
 public:
  Lengths(Limits limits, uint64_t offset) : numbers_(Numbers::Type::kInt64, limits, offset) {}

  void Add(size_t length, uint64_t times = 1) {
    if (length != last_) {
      Flush();
      last_ = length;
    }
    times_ += times;
  }
  void Merge(Lengths& other) {
    Flush();
    other.Flush();
    numbers_.Merge(other.numbers_);
  }
  const Numbers& Flushed() {
    Flush();
    return numbers_;
  }

 private:
  void Flush() {
    numbers_.AddRepeated(static_cast<int64_t>(last_), times_);
    times_ = 0;
  }

  size_t last_ = 0;
  uint64_t times_ = 0;
  Numbers numbers_;
};

class FeatureFigures {
 public:
  // Which kinds of values are too many different ones to count them all.
  struct Sketched {
    bool ints = false, floats = false, texts = false;
  };
  uint64_t numbers() const { return (ints_ ? ints_->count() : 0) + (floats_ ? floats_->count() : 0); }

  // `sketched`: of figures that these will be merged with.
  FeatureFigures(std::string key, bool is_list, Limits limits, uint64_t offset, Sketched sketched)
      : key_(std::move(key)),
        is_list_(is_list),
        limits_(limits),
        offset_(offset),
        lengths_(limits, offset),
        steps_(limits, offset),
        sketched_(sketched) {}

  const std::string& key() const { return key_; }
  bool is_list() const { return is_list_; }

  // ---- Of one record ----

  // It has the key. Of an Example, or of a context, that means a Feature with a kind; of a feature list, any.
  void AddPresent(uint64_t records = 1) { present_ += records; }
  void AddUnset() { ++unset_; }
  // A Feature, or one step of a list, and how many values it has.
  void AddFeature(Kind kind, size_t length, uint64_t times = 1) {
    kinds_[static_cast<size_t>(kind)] += times;
    lengths_.Add(length, times);
  }
  void AddSteps(size_t steps) { steps_.Add(steps); }

  // Values of a Feature or step.
  void Add(const int64_t* values, size_t n);
  void Add(const float* values, size_t n);
  void Add(const Bytes& value);

  // ---- Of many ----

  void Merge(FeatureFigures& other);
  // Takes in what is kept back to be taken in together.
  void Flush();

  Sketched sketched() const {
    return {ints_ && ints_->is_sketched(), floats_ && floats_->is_sketched(), texts_ && texts_->is_sketched()};
  }

  uint64_t present() const { return present_; }
  uint64_t unset() const { return unset_; }
  uint64_t features(Kind kind) const { return kinds_[static_cast<size_t>(kind)]; }
  const Numbers& lengths() { return lengths_.Flushed(); }
  const Numbers& steps() { return steps_.Flushed(); }
  // Null if there are none; after Flush.
  const Numbers* ints() const { return ints_ ? &*ints_ : nullptr; }
  const Numbers* floats() const { return floats_ ? &*floats_ : nullptr; }
  const Texts* texts() const { return texts_ ? &*texts_ : nullptr; }

 private:
  std::string key_;
  bool is_list_;
  Limits limits_;
  uint64_t offset_;
  uint64_t present_ = 0;
  uint64_t unset_ = 0;
  uint64_t kinds_[4] = {};
  Lengths lengths_;  // of a list: values per step
  Lengths steps_;
  Sketched sketched_;  // from the first value on
  std::optional<Numbers> ints_, floats_;
  std::optional<Texts> texts_;
  std::vector<int64_t> kept_ints_;  // less than a block
  std::vector<float> kept_floats_;
};

}  // namespace tfr
