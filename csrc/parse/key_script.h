// The order of the keys in a file's records, learnt as a script: one step per map entry, laid out so that an entry is
// checked and taken by a few vector instructions.
//
// An entry of the usual form is EntryHeader, key, FeatureHeader, values (wire/example.h), with K bytes of key and n of
// values, all lengths below 128:
//   entry tag, 8+K+n | key tag, K | key | value tag, 4+n | list tag, 2+n | packed tag, n | values
// so that n, read at one place, tells every byte before the values. For a feature outside the schema, n is the
// length of the value message, and nothing after it matters.
//
// A script belongs to one parser and learns as it goes; it is not shared between threads.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "parse/key_table.h"

namespace tfr {

class KeyScript {
 public:
  static constexpr size_t kWindow = 32;  // bytes of an entry that a step can know
  static constexpr uint32_t kNowhere = UINT32_MAX;
  static constexpr uint32_t kNoted = kNowhere - 1;

  struct alignas(kWindow) Step {
    uint8_t base[kWindow];   // the entry's first bytes, if n were 0
    uint8_t grows[kWindow];  // ones where n is added
    uint8_t mask[kWindow];   // ones over the bytes that are known
    uint8_t* out;            // where the first row's value goes
    uint32_t row_bytes;      // from one row's value to the next one's
    uint32_t slot;           // in the key table
    uint8_t n_at;            // where n is; the value, or what is skipped, starts after it
    uint8_t most;            // kSkip: the largest n with all lengths below 128
    KeyTable::EntryShape shape;
  };

  KeyScript();

  size_t size() const { return steps_.size() - 1; }
  const Step& step(size_t i) const { return steps_[i]; }
  // Where a slot has its step, or kNowhere, or kNoted.
  uint32_t Place(uint32_t slot) const { return slot < places_.size() ? places_[slot] : kNowhere; }

  // Notes that a slot which has no step needs one before step `at`.
  void Note(size_t at, uint32_t slot);
  bool has_noted() const { return !noted_.empty(); }
  // Adds the steps that were noted, in one pass: one by one, n steps would be moved n times.
  void Insert(const KeyTable& keys);
  void Clear();
  // Before the rows of a batch: takes over the columns of the slots.
  void SetColumns(const KeyTable& keys);

  // Takes entries from `p` on as long as they are those of the steps from *at on, in the form that their shapes
  // describe, and puts the values into `row`. Returns the cursor after the last one taken; *at becomes the step after.
  // [p, end) lies in the record [begin, readable_end), any byte of which may be read.
  const uint8_t* Take(const uint8_t* begin, const uint8_t* p, const uint8_t* end, const uint8_t* readable_end,
                      size_t row, const KeyTable& keys, size_t* at) const;

 private:
  std::vector<Step> steps_;  // and one that no entry fits, at the end
  std::vector<uint32_t> places_;
  struct Noted {
    size_t at;
    uint32_t slot;
  };
  std::vector<Noted> noted_;
  bool vectors_ = false;
  bool pext_ = false;
};

namespace internal {

#if defined(__x86_64__)
bool ScriptAvx2Supported();
// From `*step` on, which becomes the first step that was not taken. `fetch`: brings each column's next line into the
// cache. `pext`: uses that instruction.
const uint8_t* TakeScriptAvx2(const KeyScript::Step** step, bool fetch, bool pext, const uint8_t* begin,
                              const uint8_t* p, const uint8_t* end, const uint8_t* readable_end, size_t row);
#endif

}  // namespace internal
}  // namespace tfr
