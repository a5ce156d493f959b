// Counting numbers, and sketching them when there are too many different ones; see numbers.h.

#include "stats/numbers.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "stats/block_hashes.h"

namespace tfr {
namespace {

constexpr uint64_t kDirect = 1024;  // int64 below this are counted by position
constexpr uint64_t kSignBit = uint64_t{1} << 63;

// Quantiles take all of the first values, then one of two, and with each doubling of their number one of twice as many,
// up to one of 32. So a sample of ten thousands is taken, and what is lost to it stays below 0.3 % of all values (one
// standard deviation of a rank), whatever their number. The number of values before a part is only an estimate: so each
// part also starts with all of its first values, and then one of two.
constexpr uint64_t kAll = 8192;
constexpr uint64_t kAllOfPart = 1024;
constexpr size_t kMostLevel = 5;
constexpr size_t kDrawnAtOnce = 32 / kMostLevel;  // by 32 random bits

size_t StrideLevel(uint64_t values_before, uint64_t all) {
  return std::min(static_cast<size_t>(std::bit_width(values_before / all)), kMostLevel);
}

// One of this many values that are not among the heavy ones is put there.
constexpr size_t kSampled = 64;

}  // namespace

uint64_t Numbers::OrderedKey(Type type, uint64_t bits) {
  if (type == Type::kInt64) return bits ^ kSignBit;
  const auto word = static_cast<uint32_t>(bits);
  return (word >> 31) != 0 ? static_cast<uint32_t>(~word) : word | uint32_t{1} << 31;
}

uint64_t Numbers::BitsOf(Type type, uint64_t ordered_key) {
  if (type == Type::kInt64) return ordered_key ^ kSignBit;
  const auto word = static_cast<uint32_t>(ordered_key);
  return (word >> 31) != 0 ? word & 0x7fffffff : static_cast<uint32_t>(~word);
}

long double Numbers::ValueOf(uint64_t bits) const {
  if (type_ == Type::kInt64) return static_cast<long double>(static_cast<int64_t>(bits));
  return static_cast<long double>(std::bit_cast<float>(static_cast<uint32_t>(bits)));
}

// The moments of the finite values. Counts zeros, and the infinities by their sign.
Moments Numbers::MomentsOf(const std::vector<Counts::Entry>& entries, uint64_t* zeros, uint64_t* infinities) const {
  Moments moments;
  long double sum = 0;
  for (const auto& [bits, count] : entries) {
    const long double value = ValueOf(bits);
    if (value == 0) *zeros += count;
    if (std::isinf(value)) {
      infinities[value > 0] += count;
      continue;
    }
    moments.count += count;
    sum += value * static_cast<long double>(count);
  }
  if (moments.count == 0) return moments;
  moments.mean = sum / static_cast<long double>(moments.count);
  for (const auto& [bits, count] : entries) {
    const long double off = ValueOf(bits) - moments.mean;
    if (std::isfinite(off)) moments.squares += off * off * static_cast<long double>(count);
  }
  return moments;
}

void Numbers::AddDirect(uint64_t value, uint64_t count) {
  if (value >= direct_.size()) [[unlikely]]
    direct_.resize(std::min(kDirect, std::bit_ceil(value + 1)));
  direct_[value] += count;
}

void Numbers::AddExact(uint64_t bits, uint64_t count) {
  if (type_ == Type::kInt64 && bits < kDirect) {
    AddDirect(bits, count);
  } else {
    counts_.Add(bits, HashNumber(bits), count);
  }
}

void Numbers::AddRepeated(int64_t value, uint64_t count) {
  if (count == 0) return;
  count_ += count;
  const uint64_t bits = BitsOfValue(value);
  if (sketch_ != nullptr) {
    PutCounted({{bits, count}});
    return;
  }
  AddExact(bits, count);
  if (IsFull()) BeginSketch();
}

void Numbers::Add(const int64_t* values, size_t n) {
  count_ += n;
  size_t i = 0;
  if (sketch_ == nullptr) {
    uint64_t any = 0;
    for (size_t k = 0; k < n; ++k) any |= BitsOfValue(values[k]);
    if (any < kDirect) {
      if (any >= direct_.size()) direct_.resize(std::min(kDirect, std::bit_ceil(any + 1)));
      uint64_t* const direct = direct_.data();
      for (; i < n; ++i) ++direct[values[i]];
      return;
    }
    for (; i < n; ++i) {
      AddExact(BitsOfValue(values[i]));
      if (IsFull()) [[unlikely]] {
        BeginSketch();
        ++i;
        break;
      }
    }
  }
  if (i < n) Sketched(values + i, n - i);
}

void Numbers::Add(const float* values, size_t n) {
  count_ += n;
  float numbers[kBlock];
  const bool had_sketch = sketch_ != nullptr;
  if (!AllFinite(values, n)) [[unlikely]] {
    // Infinities are counted by themselves, once there is a sketch.
    size_t kept = 0;
    for (size_t i = 0; i < n; ++i) {
      if (std::isnan(values[i])) {
        ++nans_;
      } else if (sketch_ != nullptr && std::isinf(values[i])) {
        PutCounted({{BitsOfValue(values[i]), 1}});
      } else {
        numbers[kept++] = values[i];
      }
    }
    values = numbers;
    n = kept;
  }
  size_t i = 0;
  while (sketch_ == nullptr && i < n) {
    AddExact(BitsOfValue(values[i++]));
    if (IsFull()) [[unlikely]]
      BeginSketch();
  }
  if (i == n) return;
  if (!had_sketch && !AllFinite(values + i, n - i)) [[unlikely]] {
    for (; i < n; ++i) PutCounted({{BitsOfValue(values[i]), 1}});
    return;
  }
  Sketched(values + i, n - i);
}

void Numbers::MergeExtremes(int64_t least, int64_t most) {
  sketch_->least_int = std::min(sketch_->least_int, least);
  sketch_->most_int = std::max(sketch_->most_int, most);
  sketch_->has_extremes = true;
}

void Numbers::MergeExtremes(double least, double most) {
  if (!sketch_->has_extremes) {
    sketch_->least = least;
    sketch_->most = most;
    sketch_->has_extremes = true;
  }
  sketch_->least = std::min(sketch_->least, least) + 0.0;  // -0.0 becomes 0.0
  sketch_->most = std::max(sketch_->most, most) + 0.0;
}

template <typename Value>
void Numbers::Sketched(const Value* values, size_t n) {
  Sketch& sketch = *sketch_;
  const auto figures = FiguresOf(values, n);
  MergeExtremes(figures.least, figures.most);
  sketch.zeros += figures.zeros;
  sketch.moments.Merge(figures.moments);

  BlockHashes hashes;
  HashBlock(values, n, counts_.filter(), &hashes);
  sketch.distinct.AddAll(hashes.registers, hashes.ranks, n);
  for (size_t k = 0; k < hashes.num_kept; ++k) {
    const uint64_t bits = BitsOfValue(values[hashes.kept[k]]);
    counts_.AddKept(bits, HashNumber(bits));
  }
  // A new key is kept only if it is in the sample: one of 64, in each block from another one on.
  for (size_t i = HashNumber(~sketch.seen) % kSampled; i < n; i += kSampled) {
    const uint64_t bits = BitsOfValue(values[i]);
    const uint64_t hash = HashNumber(bits);
    if (!counts_.AddKept(bits, hash, 0)) counts_.Insert(bits, hash);
  }

  size_t i = 0;
  const size_t level = std::min(StrideLevel(offset_ + sketch.seen, kAll), StrideLevel(sketch.seen, kAllOfPart));
  const size_t stride = size_t{1} << level;
  uint64_t drawn[kBlock];
  size_t num_drawn = 0;
  uint32_t random = 0;
  for (; i + stride <= n; i += stride) {
    if (num_drawn % kDrawnAtOnce == 0) random = sketch.quantiles.Random();
    drawn[num_drawn++] = OrderedKey(type_, BitsOfValue(values[i + (random & (stride - 1))]));
    random >>= kMostLevel;
  }
  sketch.quantiles.AddAt(level, drawn, num_drawn);
  for (; i < n; ++i) sketch.quantiles.Add(OrderedKey(type_, BitsOfValue(values[i])));
  sketch.seen += n;
}

std::vector<Counts::Entry> Numbers::ExactEntries() const {
  std::vector<Counts::Entry> entries = counts_.Entries();
  for (uint64_t value = 0; value < direct_.size(); ++value) {
    if (direct_[value] != 0) entries.push_back({value, direct_[value]});
  }
  return entries;
}

// Puts values into the sketch, but not into `counts_`.
void Numbers::PutAll(const std::vector<Counts::Entry>& entries) {
  Sketch& sketch = *sketch_;
  for (const auto& [bits, count] : entries) {
    sketch.distinct.Add(HashNumber(bits));
    sketch.quantiles.AddWeighted(OrderedKey(type_, bits), count);
    if (type_ == Type::kInt64) {
      MergeExtremes(static_cast<int64_t>(bits), static_cast<int64_t>(bits));
    } else {
      const auto value = static_cast<double>(ValueOf(bits));
      MergeExtremes(value, value);
    }
  }
  sketch.moments.Merge(MomentsOf(entries, &sketch.zeros, sketch.infinities));
}

void Numbers::PutCounted(const std::vector<Counts::Entry>& entries) {
  PutAll(entries);
  for (const auto& [bits, count] : entries) {
    const uint64_t hash = HashNumber(bits);
    if (!counts_.AddKept(bits, hash, count)) counts_.Insert(bits, hash, count);
  }
}

void Numbers::BeginSketch() {
  const std::vector<Counts::Entry> entries = ExactEntries();
  for (uint64_t value = 0; value < direct_.size(); ++value) {
    if (direct_[value] != 0) counts_.Add(value, HashNumber(value), direct_[value]);
  }
  direct_ = {};
  counts_.KeepHeavy();
  sketch_ = std::make_unique<Sketch>(limits_, offset_ ^ 0x9e3779b97f4a7c15);
  PutAll(entries);
}

void Numbers::Merge(const Numbers& other) {
  count_ += other.count_;
  nans_ += other.nans_;
  if (other.sketch_ == nullptr) {
    const std::vector<Counts::Entry> entries = other.ExactEntries();
    if (sketch_ != nullptr) return PutCounted(entries);
    for (const Counts::Entry& entry : entries) AddExact(entry.key, entry.count);
    if (IsFull()) BeginSketch();
    return;
  }
  if (sketch_ == nullptr) BeginSketch();
  Sketch& mine = *sketch_;
  const Sketch& theirs = *other.sketch_;
  mine.distinct.Merge(theirs.distinct);
  mine.quantiles.Merge(theirs.quantiles);
  mine.moments.Merge(theirs.moments);
  mine.zeros += theirs.zeros;
  for (size_t i = 0; i < 2; ++i) mine.infinities[i] += theirs.infinities[i];
  if (type_ == Type::kInt64) {
    MergeExtremes(theirs.least_int, theirs.most_int);
  } else if (theirs.has_extremes) {
    MergeExtremes(theirs.least, theirs.most);
  }
  counts_.MergeHeavy(other.counts_);
}

Numbers::Figures Numbers::Finish() const {
  Figures made;
  made.count = count_;
  made.nans = nans_;
  made.exact = sketch_ == nullptr;
  const auto heavier = [](const Counts::Entry& a, const Counts::Entry& b) {
    return a.count != b.count ? a.count > b.count : a.key < b.key;
  };
  if (!made.exact) {
    const Sketch& sketch = *sketch_;
    made.negative_infinities = sketch.infinities[0];
    made.positive_infinities = sketch.infinities[1];
    made.zeros = sketch.zeros;
    made.has_extremes = sketch.has_extremes;
    made.least_int = sketch.least_int;
    made.most_int = sketch.most_int;
    made.least = sketch.least;
    made.most = sketch.most;
    made.moments = sketch.moments;
    made.distinct = sketch.distinct.Estimate();
    made.error = counts_.error();
    made.heavy = counts_.Entries();
    std::sort(made.heavy.begin(), made.heavy.end(), heavier);
    made.points = sketch.quantiles.Points();
    return made;
  }
  std::vector<Counts::Entry> entries = ExactEntries();
  std::sort(entries.begin(), entries.end(), [this](const Counts::Entry& a, const Counts::Entry& b) {
    return OrderedKey(type_, a.key) < OrderedKey(type_, b.key);
  });
  made.distinct = static_cast<double>(entries.size());
  for (const auto& [bits, count] : entries) made.points.push_back({OrderedKey(type_, bits), count});
  uint64_t infinities[2] = {};
  made.moments = MomentsOf(entries, &made.zeros, infinities);
  made.negative_infinities = infinities[0];
  made.positive_infinities = infinities[1];
  if (entries.empty()) return made;
  made.has_extremes = true;
  made.least_int = static_cast<int64_t>(entries.front().key);
  made.most_int = static_cast<int64_t>(entries.back().key);
  made.least = static_cast<double>(ValueOf(entries.front().key));
  made.most = static_cast<double>(ValueOf(entries.back().key));
  return made;
}

}  // namespace tfr
