// How often each key came: exactly while there are few keys, and afterwards those that come most often.
//
// Afterwards the counts are those of J. Misra and D. Gries ("Finding repeated elements", 1982): when the table is full,
// the median of all counts is taken off all of them, and what is left with nothing goes. A key is found by a filter of
// bits first, and one that is not in the table is put there only if it is in the sample that the caller takes. So a
// count is never too high. What was taken off, `error`, is how much too low it may be, besides the few that came
// before a key was in the sample.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "stats/hash.h"

namespace tfr {

class Counts {
 public:
  static constexpr size_t kHeavy = 256;  // keys that are kept afterwards, at most

  struct Entry {
    uint64_t key;
    uint64_t count;  // 0: nothing is here
  };

  bool exact() const { return filter_.empty(); }
  size_t size() const { return used_; }
  uint64_t error() const { return error_; }

  // ---- While exact ----

  // `hash` is that of the key. The caller looks at size() and ends this with KeepHeavy before there are too many.
  // Returns whether the key is new.
  bool Add(uint64_t key, uint64_t hash, uint64_t count = 1) {
    if (slots_.empty()) [[unlikely]]
      Grow();
    for (size_t at = hash & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
      Entry& entry = slots_[at];
      if (entry.count == 0) {
        entry = {key, count};
        if (++used_ * 2 > slots_.size()) Grow();
        return true;
      }
      if (entry.key == key) {
        entry.count += count;
        return false;
      }
    }
  }

  // From now on only the keys that come most often are kept.
  void KeepHeavy();

  // ---- Afterwards ----

  // If false, the key is not kept.
  bool MayKeep(uint64_t hash) const { return MayKeep(filter(), hash); }
  static bool MayKeep(const uint64_t* filter, uint64_t hash) {
    return (filter[hash >> 32 & (kFilterWords - 1)] >> (hash >> 58) & 1) != 0;
  }
  static constexpr size_t kFilterWords = 256;
  const uint64_t* filter() const { return filter_.data(); }
  // Counts the key if it is kept; false if it is not. With a count of 0, only the latter.
  bool AddKept(uint64_t key, uint64_t hash, uint64_t count = 1) {
    return MayKeep(hash) && AddFiltered(key, hash, count);
  }
  // Keeps a key that was not.
  void Insert(uint64_t key, uint64_t hash, uint64_t count = 1);

  // Adds what another has kept; both only keep heavy ones.
  void MergeHeavy(const Counts& other);

  // Those with a count, in no order that means anything; the same for the same calls.
  std::vector<Entry> Entries() const;

 private:
  bool AddFiltered(uint64_t key, uint64_t hash, uint64_t count);
  void Grow();
  void Refill(const std::vector<Entry>& entries);
  void Purge();

  std::vector<Entry> slots_;  // open addressing; a power of two, at most half used
  std::vector<uint64_t> filter_;
  size_t used_ = 0;
  uint64_t error_ = 0;
};

}  // namespace tfr
