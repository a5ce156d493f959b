// The table of hashes; see repeats.h.

#include "stats/repeats.h"

#include <algorithm>
#include <utility>

namespace tfr {

// Hashes in the table share their highest bits once it was halved: places are by the lowest.
Repeats::Slot& Repeats::Find(uint64_t hash) {
  size_t at = hash & (slots_.size() - 1);
  while (slots_[at].count != 0 && slots_[at].hash != hash) at = (at + 1) & (slots_.size() - 1);
  return slots_[at];
}

void Repeats::Grow() {
  constexpr size_t kFirst = 1024;
  constexpr size_t kLarge = size_t{1} << 16;
  const std::vector<Slot> before = std::move(slots_);
  slots_.assign(std::max(kFirst, before.size() < kLarge ? 4 * before.size() : 2 * before.size()), {});
  for (const Slot& slot : before) {
    if (slot.count != 0) Find(slot.hash) = slot;
  }
}

void Repeats::Halve() {
  ++halvings_;
  const std::vector<Slot> before = std::move(slots_);
  slots_.assign(before.size(), {});
  used_ = 0;
  for (const Slot& slot : before) {
    if (slot.count == 0 || slot.hash >> (64 - halvings_) != 0) continue;
    Find(slot.hash) = slot;
    ++used_;
  }
}

void Repeats::Add(uint64_t hash, Place place) {
  if (halvings_ != 0 && hash >> (64 - halvings_) != 0) return;
  if (2 * used_ >= slots_.size()) Grow();
  Slot& slot = Find(hash);
  if (slot.count != 0) {
    if (slot.count != UINT32_MAX) ++slot.count;
    if (pairs_.size() < kShown) pairs_.push_back({slot.place(), place});
    return;
  }
  slot = {hash, place.record, place.file, 1};
  if (++used_ > kMost) Halve();
}

void Repeats::Merge(const Repeats& other) {
  while (halvings_ < other.halvings_) Halve();
  for (const Pair& pair : other.pairs_) {
    if (pairs_.size() < kShown) pairs_.push_back(pair);
  }
  for (const Slot& slot : other.slots_) {
    if (slot.count == 0) continue;
    Add(slot.hash, slot.place());
    if (halvings_ != 0 && slot.hash >> (64 - halvings_) != 0) continue;
    uint32_t& count = Find(slot.hash).count;
    count = std::min(count, UINT32_MAX - slot.count) + slot.count - 1;
  }
}

Repeats::Figures Repeats::Finish() const {
  Figures made;
  made.halvings = halvings_;
  made.different = used_;
  for (const Slot& slot : slots_) {
    if (slot.count == 0) continue;
    made.most = std::max<uint64_t>(made.most, slot.count);
    made.repeated += slot.count > 1;
    made.copies += slot.count - 1;
  }
  made.pairs = pairs_;
  return made;
}

}  // namespace tfr
