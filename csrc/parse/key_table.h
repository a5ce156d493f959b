// Finds the feature that a key asks for, guessing first: keys come in nearly the same order in every record of
// a file, so each key remembers which one followed it, in two orders, since shuffling mixes files. A wrong guess costs
// a hash lookup.
//
// One table belongs to one parser and learns as it goes; it is not shared between threads.

#ifndef TFRECORD_FAST_PARSE_KEY_TABLE_H_
#define TFRECORD_FAST_PARSE_KEY_TABLE_H_

#include <cstdint>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "base/endian.h"
#include "parse/schema.h"

namespace tfr {

class KeyTable {
 public:
  // What is known about one key. 64 bytes, a cache line.
  struct alignas(64) Slot {
    uint64_t head;         // its first 8 bytes, zero-padded
    uint64_t head_mask;    // ones over the bytes of `head` that are the key
    uint64_t tail;         // its last 8 bytes, when it has 8 or more
    const uint8_t* key;
    uint32_t size;
    int32_t feature;       // index in the schema, or -1: not asked for
    uint32_t next[2];      // the slots that followed before, in one order of the keys and in another
    uint32_t entry_header; // first four bytes of a map entry with this key and a value of length 0, or 0 if too long
    uint8_t shape;         // EntryShape
    uint8_t* out;          // for the parser: where the feature's column starts, if its layout is kFixed
  };
  static_assert(sizeof(Slot) == 64);

  // What the parser may try before it decodes an entry step by step.
  enum EntryShape : uint8_t { kGeneral, kSkip, kOneInt64, kOneFloat };

  static constexpr uint32_t kStart = 0;    // stands before the first key of a record
  static constexpr uint32_t kUnknown = 1;  // stands for the keys that there was no room to learn

  static constexpr uint32_t kMaxOneByteLength = 0x7f;

  explicit KeyTable(const Schema& schema);
  KeyTable(const KeyTable&) = delete;
  KeyTable& operator=(const KeyTable&) = delete;

  Slot* slots() { return slots_.data(); }

  // The slot of a feature of the schema, learnt at the start.
  Slot& slot_of_feature(size_t f) { return slots_[kUnknown + 1 + f]; }

  // The slot of a key, learnt now if it is new and there is room. Slot pointers from before are void.
  uint32_t Find(const uint8_t* key, size_t size);

  // Remembers that `found` followed `last` in the order *way; an order that is known already is not forgotten for the
  // first other one, which *way becomes then.
  void Learn(uint32_t last, uint32_t found, uint32_t* way) {
    uint32_t* next = slots_[last].next;
    if (next[*way] > kUnknown && next[*way ^ 1] <= kUnknown) *way ^= 1;
    next[*way] = found;
  }

  // True if the slot's key is the `size` bytes at `key`.
  static bool Matches(const Slot& slot, const uint8_t* key, size_t size) {
    return slot.size == size && std::memcmp(slot.key, key, size) == 0;
  }

  // As Matches, when slot.size bytes and at least 8 are readable at `key`, its length known to be equal.
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

  std::vector<Slot> slots_;
  std::vector<uint32_t> buckets_;  // open addressing; 0 is free
  std::deque<std::string> learnt_;
  size_t learnt_bytes_ = 0;
};

}  // namespace tfr

#endif  // TFRECORD_FAST_PARSE_KEY_TABLE_H_
