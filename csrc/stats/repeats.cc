// The list and the table of hashes; see repeats.h.

#include "stats/repeats.h"

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <new>
#include <numeric>
#include <utility>

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

void Repeats::AddToTable(const Part& part) {
  constexpr size_t kAhead = 16;
  const std::vector<Part::Hashed>& records = part.records;
  const size_t slots = std::bit_ceil(2 * std::min(used_ + records.size(), kMost));
  if (slots > slots_.size()) Grow(slots);
  for (size_t i = 0; i < records.size(); ++i) {
    if (i + kAhead < records.size()) {
      __builtin_prefetch(slots_.data() + (records[i + kAhead].hash & (slots_.size() - 1)), 1);
    }
    AddToTable(records[i].hash, {part.file, records[i].record});
  }
}

void Repeats::AddToTable(uint64_t hash, RecordId id) {
  if (halvings_ != 0 && hash >> (64 - halvings_) != 0) return;
  if (2 * used_ >= slots_.size()) Grow(std::max(kFirst, 2 * slots_.size()));
  Slot& slot = Find(hash);
  if (slot.count != 0) {
    if (slot.count != UINT32_MAX) ++slot.count;
    if (pairs_.size() < kShown) pairs_.push_back({slot.id(), id});
    return;
  }
  slot = {hash, id.record, id.file, 1};
  if (++used_ > kMost) Halve();
}

void Repeats::EndList() {
  for (const Part& part : list_) AddToTable(part);
  list_ = {};
  listed_ = 0;
}

void Repeats::Add(Part part) {
  if (part.records.empty()) return;
  if (slots_.empty() && listed_ + part.records.size() <= kMost) {
    listed_ += part.records.size();
    list_.push_back(std::move(part));
    return;
  }
  EndList();
  AddToTable(part);
}

void Repeats::Merge(Repeats& other) {
  if (other.slots_.empty()) {
    for (Part& part : other.list_) Add(std::move(part));
    other.list_ = {};
    return;
  }
  EndList();
  while (halvings_ < other.halvings_) Halve();
  for (const Pair& pair : other.pairs_) {
    if (pairs_.size() < kShown) pairs_.push_back(pair);
  }
  for (const Slot& slot : other.slots_) {
    if (slot.count == 0) continue;
    AddToTable(slot.hash, slot.id());
    if (halvings_ != 0 && slot.hash >> (64 - halvings_) != 0) continue;
    uint32_t& count = Find(slot.hash).count;
    count = std::min(count, UINT32_MAX - slot.count) + slot.count - 1;
  }
}

Repeats::Figures Repeats::FinishTable() const {
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

// Hashes are divided by their highest bits into groups, whose tables stay in the cache.
class Repeats::List {
 public:
  explicit List(const std::vector<Part>& parts) : parts_(parts) {
    size_t n = 0;
    for (const Part& part : parts) {
      begins_.push_back(n);
      n += part.records.size();
    }
    entries_.resize(n);
    Divide();
  }

  Figures Finish() {
    size_t begin = 0;
    for (const size_t end : ends_) {
      AddGroup(entries_.data() + begin, end - begin);
      begin = end;
    }
    std::sort(again_.begin(), again_.end());
    again_.resize(std::min(again_.size(), kShown));
    for (const auto& [again, first] : again_) figures_.pairs.push_back({RecordIdOf(first), RecordIdOf(again)});
    return figures_;
  }

 private:
  static constexpr int kGroupBits = 8;

  // A record: its position among all, and the bits of its hash that follow those of the group.
  struct Entry {
    uint32_t at, bits;
  };

  static size_t GroupOf(uint64_t hash) { return hash >> (64 - kGroupBits); }

  void Divide() {
    for (const Part& part : parts_) {
      for (const Part::Hashed& record : part.records) ++ends_[GroupOf(record.hash)];
    }
    std::exclusive_scan(ends_.begin(), ends_.end(), ends_.begin(), size_t{0});
    uint32_t at = 0;
    for (const Part& part : parts_) {
      for (const Part::Hashed& record : part.records) {
        entries_[ends_[GroupOf(record.hash)]++] = {at++, static_cast<uint32_t>(record.hash >> (32 - kGroupBits))};
      }
    }
  }

  // Entries in the order of the records.
  void AddGroup(const Entry* entries, size_t n) {
    slots_.assign(std::bit_ceil(2 * n), 0);
    counts_.assign(n, 0);
    for (size_t i = 0; i < n; ++i) {
      size_t slot = entries[i].bits & (slots_.size() - 1);
      while (slots_[slot] != 0 && !AreSame(entries[slots_[slot] - 1], entries[i])) {
        slot = (slot + 1) & (slots_.size() - 1);
      }
      if (slots_[slot] == 0) {
        slots_[slot] = static_cast<uint32_t>(i + 1);
        counts_[i] = 1;
        continue;
      }
      const size_t first = slots_[slot] - 1;
      ++counts_[first];
      Show(entries[i].at, entries[first].at);
    }
    for (const uint32_t count : counts_) {
      figures_.different += count != 0;
      figures_.repeated += count > 1;
      figures_.copies += count > 1 ? count - 1 : 0;
      figures_.most = std::max<uint64_t>(figures_.most, count);
    }
  }

  // The first ones of all groups are wanted: of one group no more than kShown can be among them.
  void Show(uint32_t again, uint32_t first) {
    again_.emplace_back(again, first);
    if (again_.size() < 2 * kShown) return;
    std::nth_element(again_.begin(), again_.begin() + kShown, again_.end());
    again_.resize(kShown);
  }

  bool AreSame(const Entry& a, const Entry& b) const {
    return a.bits == b.bits && RecordOf(a.at).hash == RecordOf(b.at).hash;
  }

  size_t PartOf(uint32_t at) const {
    return static_cast<size_t>(std::upper_bound(begins_.begin(), begins_.end(), at) - begins_.begin()) - 1;
  }
  const Part::Hashed& RecordOf(uint32_t at) const {
    const size_t part = PartOf(at);
    return parts_[part].records[at - begins_[part]];
  }
  RecordId RecordIdOf(uint32_t at) const { return {parts_[PartOf(at)].file, RecordOf(at).record}; }

  const std::vector<Part>& parts_;
  std::vector<size_t> begins_;                          // of the parts, among all
  std::vector<Entry> entries_;                          // group by group
  std::array<size_t, size_t{1} << kGroupBits> ends_{};  // of the groups
  std::vector<uint32_t> slots_, counts_;  // of a group: entries from 1 on, and how often each first one came
  std::vector<std::pair<uint32_t, uint32_t>> again_;  // records that came before, and where
  Figures figures_;
};

Repeats::Figures Repeats::Finish() const { return slots_.empty() ? List(list_).Finish() : FinishTable(); }

}  // namespace tfr
