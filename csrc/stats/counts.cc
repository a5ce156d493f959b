// Growing and purging the table; see counts.h. Keys are placed by HashNumber of themselves, which for keys that are
// hashes already is one more mixing.

#include "stats/counts.h"

#include <algorithm>
#include <utility>

namespace tfr {

void Counts::Grow() {
  constexpr size_t kFirst = 16;
  const std::vector<Entry> before = std::move(slots_);
  slots_.assign(std::max(kFirst, before.size() * 2), {});
  for (const Entry& entry : before) {
    if (entry.count == 0) continue;
    size_t at = HashNumber(entry.key) & (slots_.size() - 1);
    while (slots_[at].count != 0) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = entry;
  }
}

std::vector<Counts::Entry> Counts::Entries() const {
  std::vector<Entry> found;
  found.reserve(used_);
  for (const Entry& entry : slots_) {
    if (entry.count != 0) found.push_back(entry);
  }
  return found;
}

void Counts::Refill(const std::vector<Entry>& entries) {
  slots_.assign(2 * kHeavy, {});
  filter_.assign(kFilterWords, 0);
  used_ = entries.size();
  for (const Entry& entry : entries) {
    const uint64_t hash = HashNumber(entry.key);
    size_t at = hash & (slots_.size() - 1);
    while (slots_[at].count != 0) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = entry;
    filter_[hash >> 32 & (kFilterWords - 1)] |= uint64_t{1} << (hash >> 58);
  }
}

void Counts::KeepHeavy() {
  std::vector<Entry> entries = Entries();
  // Orders equal counts by key, so that the table's order does not matter.
  const auto heavier = [](const Entry& a, const Entry& b) {
    return a.count != b.count ? a.count > b.count : a.key < b.key;
  };
  constexpr size_t kKept = kHeavy / 2;
  if (entries.size() > kKept) {
    std::nth_element(entries.begin(), entries.begin() + kKept, entries.end(), heavier);
    const uint64_t off = entries[kKept].count;
    entries.resize(kKept);
    for (Entry& entry : entries) entry.count -= off;
    std::erase_if(entries, [](const Entry& entry) { return entry.count == 0; });
    error_ += off;
  }
  Refill(entries);
}

bool Counts::AddFiltered(uint64_t key, uint64_t hash, uint64_t count) {
  for (size_t at = hash & (slots_.size() - 1); slots_[at].count != 0; at = (at + 1) & (slots_.size() - 1)) {
    if (slots_[at].key == key) {
      slots_[at].count += count;
      return true;
    }
  }
  return false;
}

void Counts::Insert(uint64_t key, uint64_t hash, uint64_t count) {
  size_t at = hash & (slots_.size() - 1);
  while (slots_[at].count != 0) at = (at + 1) & (slots_.size() - 1);
  slots_[at] = {key, count};
  filter_[hash >> 32 & (kFilterWords - 1)] |= uint64_t{1} << (hash >> 58);
  if (++used_ >= kHeavy) Purge();
}

void Counts::Purge() {
  std::vector<Entry> entries = Entries();
  const size_t middle = entries.size() / 2;
  size_t ones = 0;  // mostly more than half
  for (const Entry& entry : entries) ones += entry.count == 1;
  uint64_t off = 1;
  if (ones <= middle) {
    const auto at = entries.begin() + static_cast<ptrdiff_t>(middle);
    std::nth_element(entries.begin(), at, entries.end(),
                     [](const Entry& a, const Entry& b) { return a.count < b.count; });
    off = at->count;
  }
  error_ += off;
  std::erase_if(entries, [off](const Entry& entry) { return entry.count <= off; });
  for (Entry& entry : entries) entry.count -= off;
  Refill(entries);
}

void Counts::MergeHeavy(const Counts& other) {
  error_ += other.error_;
  for (const Entry& entry : other.slots_) {
    if (entry.count == 0) continue;
    const uint64_t hash = HashNumber(entry.key);
    if (!AddKept(entry.key, hash, entry.count)) Insert(entry.key, hash, entry.count);
  }
}

}  // namespace tfr
