// Keeping the records with the lowest ranks; see sample.h.

#include "stats/sample.h"

#include <algorithm>
#include <utility>

#include "stats/hash.h"

namespace tfr {
namespace {

bool IsLower(const Sample::Drawn& a, const Sample::Drawn& b) { return a.rank < b.rank; }

}  // namespace

void Sample::Add(const Bytes& record, RecordId id) {
  if (record.size > kMostBytes) {
    ++passed_over_;
    return;
  }
  const uint64_t rank = HashNumber(HashNumber(id.file + uint64_t{1}) + id.record);
  if (rank >= bound_) return;
  Put({rank, id, {reinterpret_cast<const char*>(record.data), record.size}});
}

// A record that is dropped because of its size also lowers the bound: the result does not depend on the order.
void Sample::Put(Drawn drawn) {
  if (drawn.rank >= bound_) return;
  bytes_ += drawn.record.size();
  drawn_.push_back(std::move(drawn));
  std::push_heap(drawn_.begin(), drawn_.end(), IsLower);
  while (drawn_.size() > kMost || bytes_ > kMostBytesInAll) {
    std::pop_heap(drawn_.begin(), drawn_.end(), IsLower);
    bound_ = drawn_.back().rank;
    bytes_ -= drawn_.back().record.size();
    drawn_.pop_back();
  }
}

void Sample::Merge(const Sample& other) {
  passed_over_ += other.passed_over_;
  bound_ = std::min(bound_, other.bound_);
  for (const Drawn& drawn : other.drawn_) Put(drawn);
  while (!drawn_.empty() && drawn_.front().rank >= bound_) {
    std::pop_heap(drawn_.begin(), drawn_.end(), IsLower);
    bytes_ -= drawn_.back().record.size();
    drawn_.pop_back();
  }
}

std::vector<Sample::Drawn> Sample::Finish() const {
  std::vector<Drawn> made = drawn_;
  std::sort(made.begin(), made.end(), [](const Drawn& a, const Drawn& b) {
    return a.id.file != b.id.file ? a.id.file < b.id.file : a.id.record < b.id.record;
  });
  return made;
}

}  // namespace tfr
