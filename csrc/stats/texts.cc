// Counting strings by their hashes; see texts.h.

#include "stats/texts.h"

#include <algorithm>

#include "stats/hash.h"

namespace tfr {
namespace {

constexpr uint64_t kSampled = 32;  // with a sketch, one new string in 32 is kept

// True if a string is in the sample: one of each kSampled, at a place that follows no pattern that strings could.
bool IsSampled(uint64_t before) { return before % kSampled == HashNumber(~(before / kSampled)) % kSampled; }

}  // namespace

void Texts::Keep(uint64_t hash, const Bytes& value) {
  starts_.try_emplace(hash,
                      Start{{reinterpret_cast<const char*>(value.data), std::min(value.size, kKept)}, value.size});
}

void Texts::Add(const Bytes& value) {
  sizes_.AddRepeated(static_cast<int64_t>(value.size), 1);
  const uint64_t key = HashBytes(value);
  const uint64_t hash = HashNumber(key);
  const uint64_t before = seen_++;
  if (distinct_.empty()) {
    if (counts_.Add(key, hash)) {
      Keep(key, value);
      if (counts_.size() > limits_.exact) BeginSketch();
    }
    return;
  }
  distinct_[0].Add(hash);
  if (!counts_.AddKept(key, hash) && IsSampled(before)) {
    Keep(key, value);
    counts_.Insert(key, hash);
    ForgetOthers();
  }
}

void Texts::BeginSketch() {
  distinct_.resize(1);
  for (const Counts::Entry& entry : counts_.Entries()) distinct_[0].Add(HashNumber(entry.key));
  counts_.KeepHeavy();
  ForgetOthers();
}

// Now and then, so that it costs little.
void Texts::ForgetOthers() {
  if (starts_.size() <= 2 * Counts::kHeavy) return;
  std::unordered_map<uint64_t, Start> kept;
  for (const Counts::Entry& entry : counts_.Entries()) {
    const auto found = starts_.find(entry.key);
    if (found != starts_.end()) kept.insert(std::move(*found));
  }
  starts_ = std::move(kept);
}

void Texts::PutWeighted(uint64_t key, uint64_t count, const Start& start) {
  const uint64_t hash = HashNumber(key);
  if (distinct_.empty()) {
    if (counts_.Add(key, hash, count)) {
      starts_.try_emplace(key, start);
      if (counts_.size() > limits_.exact) BeginSketch();
    }
    return;
  }
  distinct_[0].Add(hash);
  if (counts_.AddKept(key, hash, count)) return;
  starts_.try_emplace(key, start);
  counts_.Insert(key, hash, count);
  ForgetOthers();
}

void Texts::Merge(const Texts& other) {
  sizes_.Merge(other.sizes_);
  seen_ += other.seen_;
  if (other.distinct_.empty()) {
    for (const Counts::Entry& entry : other.counts_.Entries()) {
      PutWeighted(entry.key, entry.count, other.starts_.at(entry.key));
    }
    return;
  }
  if (distinct_.empty()) BeginSketch();
  distinct_[0].Merge(other.distinct_[0]);
  for (const Counts::Entry& entry : other.counts_.Entries()) {
    const auto found = other.starts_.find(entry.key);
    if (found != other.starts_.end()) starts_.try_emplace(entry.key, found->second);
  }
  counts_.MergeHeavy(other.counts_);
  ForgetOthers();
}

Texts::Figures Texts::Finish() const {
  Figures made;
  made.exact = distinct_.empty();
  made.distinct = made.exact ? static_cast<double>(counts_.size()) : distinct_[0].Estimate();
  made.error = counts_.error();
  for (const Counts::Entry& entry : counts_.Entries()) {
    const Start& start = starts_.at(entry.key);
    made.heavy.push_back({start.bytes, start.size, entry.count});
  }
  std::sort(made.heavy.begin(), made.heavy.end(), [](const Heavy& a, const Heavy& b) {
    return a.count != b.count ? a.count > b.count : a.start != b.start ? a.start < b.start : a.size < b.size;
  });
  return made;
}

}  // namespace tfr
