// The table of hashes; see repeats.h.

#include "stats/repeats.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <new>

namespace tfr {
namespace {

constexpr size_t kFirst = 1024;  // slots

}  // namespace

Repeats::Table::Table(size_t size) : memory_(Buffer::Allocate(size * sizeof(Slot))), size_(size) {
  if (memory_ == nullptr) throw std::bad_alloc();
  slots_ = reinterpret_cast<Slot*>(memory_->data());
  std::uninitialized_value_construct_n(slots_, size);
}

// Hashes in the table share their highest bits once it was halved: places are by the lowest.
Repeats::Slot& Repeats::Find(uint64_t hash) {
  size_t at = hash & (slots_.size() - 1);
  while (slots_[at].count != 0 && slots_[at].hash != hash) at = (at + 1) & (slots_.size() - 1);
  return slots_[at];
}

void Repeats::Grow(size_t slots) {
  const Table before = slots_;
  slots_ = Table(slots);
  for (const Slot& slot : before) {
    if (slot.count != 0) Find(slot.hash) = slot;
  }
}

void Repeats::Reserve(size_t hashes) {
  const size_t slots = std::bit_ceil(2 * std::min(used_ + hashes, kMost));
  if (slots > slots_.size()) Grow(slots);
}

void Repeats::Halve() {
  ++halvings_;
  const Table before = slots_;
  slots_ = Table(before.size());
  used_ = 0;
  for (const Slot& slot : before) {
    if (slot.count == 0 || slot.hash >> (64 - halvings_) != 0) continue;
    Find(slot.hash) = slot;
    ++used_;
  }
}

void Repeats::Add(uint64_t hash, Place place) {
  if (halvings_ != 0 && hash >> (64 - halvings_) != 0) return;
  if (2 * used_ >= slots_.size()) Grow(std::max(kFirst, 2 * slots_.size()));
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
