// Values of a feature, in blocks to their figures; see feature.h.

#include "stats/feature.h"

#include <algorithm>

namespace tfr {
namespace {

// Whole blocks at once, after those before them; the rest when there are enough.
template <typename Value>
void AddInBlocks(Numbers* numbers, std::vector<Value>* kept, const Value* values, size_t n) {
  while (n != 0) {
    if (n >= kBlock) {
      if (!kept->empty()) numbers->Add(kept->data(), kept->size());
      kept->clear();
      numbers->Add(values, kBlock);
      values += kBlock;
      n -= kBlock;
      continue;
    }
    const size_t some = std::min(n, kBlock - kept->size());
    kept->insert(kept->end(), values, values + some);
    values += some;
    n -= some;
    if (kept->size() == kBlock) {
      numbers->Add(kept->data(), kBlock);
      kept->clear();
    }
  }
}

// The figures, which begin with the first value.
template <typename Figures, typename... Arguments>
Figures& Begun(std::optional<Figures>* figures, bool sketched, Arguments... arguments) {
  if (!*figures) {
    figures->emplace(arguments...);
    if (sketched) (*figures)->BeginSketch();
  }
  return **figures;
}

template <typename Figures>
void MergeOptional(std::optional<Figures>* mine, std::optional<Figures>* theirs) {
  if (!*theirs) return;
  if (*mine) {
    (*mine)->Merge(**theirs);
  } else {
    *mine = std::move(*theirs);
  }
}

}  // namespace

void FeatureFigures::Add(const int64_t* values, size_t n) {
  AddInBlocks(&Begun(&ints_, sketched_.ints, Numbers::Type::kInt64, limits_, offset_), &kept_ints_, values, n);
}
void FeatureFigures::Add(const float* values, size_t n) {
  AddInBlocks(&Begun(&floats_, sketched_.floats, Numbers::Type::kFloat, limits_, offset_), &kept_floats_, values, n);
}
void FeatureFigures::Add(const Bytes& value) { Begun(&texts_, sketched_.texts, limits_, offset_).Add(value); }

void FeatureFigures::Flush() {
  if (!kept_ints_.empty()) ints_->Add(kept_ints_.data(), kept_ints_.size());
  if (!kept_floats_.empty()) floats_->Add(kept_floats_.data(), kept_floats_.size());
  kept_ints_ = {};
  kept_floats_ = {};
}

void FeatureFigures::Merge(FeatureFigures& other) {
  Flush();
  other.Flush();
  present_ += other.present_;
  unset_ += other.unset_;
  for (size_t kind = 0; kind < 4; ++kind) kinds_[kind] += other.kinds_[kind];
  lengths_.Merge(other.lengths_);
  steps_.Merge(other.steps_);
  MergeOptional(&ints_, &other.ints_);
  MergeOptional(&floats_, &other.floats_);
  MergeOptional(&texts_, &other.texts_);
}

}  // namespace tfr
