// Finds the feature of a key, and the bytes that its map entry begins with.
//
// One table belongs to one parser and learns as it goes; it is not shared between threads.

#pragma once

#include <cstdint>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "base/endian.h"
#include "base/seeded_hash.h"
#include "parse/schema.h"

namespace tfr {

class KeyTable {
 public:
  // The fast paths that the parser may try before it decodes an entry step by step.
  enum EntryShape : uint8_t { kGeneral, kSkip, kOneInt64, kOneFloat };

  // Facts about one key. 64 bytes, a cache line.
  struct alignas(64) Slot {
    uint64_t head;       // its first 8 bytes, zero-padded
    uint64_t head_mask;  // ones over the bytes of `head` that are the key
    uint64_t tail;       // its last 8 bytes, when it has 8 or more
    const uint8_t* key;
    uint32_t size;
    int32_t feature;        // index in the schema, or -1: not in the schema
    uint32_t next;          // for the parser: the slot that came next in the last record
    uint32_t entry_header;  // EntryHeader of the key and a value of length 0; 0 if the key is too long for it
    EntryShape shape;
    uint32_t row_bytes;  // for the parser, of kOneInt64 and kOneFloat: from one row's value to the next one's
    uint8_t* out;        // and where the first row's value goes
  };
  static_assert(sizeof(Slot) == 64);

  static constexpr uint32_t kStart = 0;    // the slot before the first key of a record
  static constexpr uint32_t kUnknown = 1;  // the slot of the keys that there was no room to learn

  // How many keys outside the schema are learnt, and how many bytes of them: enough for any sane record. Others
  // are hashed each time. This bounds what a hostile file can make a parser remember.
  static constexpr size_t kMaxLearnt = 4096;
  static constexpr size_t kMaxLearntBytes = 1 << 20;

  explicit KeyTable(const Schema& schema);
  KeyTable(const KeyTable&) = delete;
  KeyTable& operator=(const KeyTable&) = delete;

  Slot* slots() { return slots_.data(); }
  size_t size() const { return slots_.size() - kUnknown - 1; }
  const Slot& slot(uint32_t index) const { return slots_[index]; }

  // The slot of a feature of the schema, learnt at the start.
  Slot& slot_of_feature(size_t f) { return slots_[kUnknown + 1 + f]; }

  // Before the rows of a batch: where the values of a kFixed feature go.
  void SetColumn(size_t f, uint8_t* out, size_t row_bytes) {
    Slot& slot = slot_of_feature(f);
    slot.out = out;
    slot.row_bytes = static_cast<uint32_t>(row_bytes);  // of a scalar, in a group at most: it fits where it is used
  }

  // The slot of a key, learnt now if it is new and there is room. Pointers to slots are then no longer valid.
  uint32_t Find(const uint8_t* key, size_t size);

  // True if the slot's key is the `size` bytes at `key`. Not for kStart and kUnknown, which have none.
  static bool Matches(const Slot& slot, const uint8_t* key, size_t size) {
    return slot.size == size && std::memcmp(slot.key, key, size) == 0;
  }

  // Like Matches, when slot.size bytes and at least 8 are readable at `key`, and its length is known to be equal.
  static bool SameBytes(const Slot& slot, const uint8_t* key) {
    uint64_t diff = (LoadLE64(key) ^ slot.head) & slot.head_mask;
    if (slot.size <= 8) return diff == 0;
    diff |= LoadLE64(key + slot.size - 8) ^ slot.tail;
    if (slot.size <= 16) return diff == 0;
    return diff == 0 && std::memcmp(key + 8, slot.key + 8, slot.size - 16) == 0;
  }

 private:
  uint32_t Add(const uint8_t* key, size_t size, int32_t feature, EntryShape shape);
  void Rehash();

  SeededHash hash_;
  std::vector<Slot> slots_;
  std::vector<uint32_t> buckets_;  // open addressing; 0 is free
  std::deque<std::string> learnt_;
  size_t learnt_bytes_ = 0;
};

}  // namespace tfr
