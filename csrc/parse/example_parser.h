// Parses rows of serialized Examples into columns, on one thread.
//
// One pass over the bytes, no allocation per record: keys are expected in the order of earlier records (key_script.h;
// two orders are known, since shuffling mixes files), and the most common entries, one int64 or one float, are checked
// and taken as a whole. Whatever is unusual or wrong is parsed again in a slower way, which has every rule and every
// error.

#pragma once

#include <cstdint>
#include <vector>

#include "base/records.h"
#include "base/status.h"
#include "parse/key_script.h"
#include "parse/key_table.h"
#include "parse/map_entry.h"
#include "parse/row_writer.h"
#include "parse/schema.h"

namespace tfr {

// Which of TensorFlow's rules a record is parsed by: in a single Example, a list feature without a kind does not hide
// an earlier one under the same key.
enum class ExampleRules : uint8_t { kBatch, kSingle };

class ExampleParser {
 public:
  explicit ExampleParser(SchemaPtr schema);

  // Parses records [first, last) of `records` into the same rows of `targets`; stops at the first bad row, which is
  // then in *bad_row.
  Status ParseRows(const Bytes* records, size_t first, size_t last, const ColumnTarget* targets, ExampleRules rules,
                   size_t* bad_row);

  // Counts the values of each kList and kPadded feature in records [first, last), at a cost well below that of parsing
  // them if the lists are long; false if their form does not allow it. A guess: rows may be bad, keys may come twice.
  bool CountLists(const Bytes* records, size_t first, size_t last, std::vector<size_t>* counts);

  // How many keys there may be in a record, judging by those seen so far.
  size_t known_keys() const { return keys_.size(); }

  // After ParseRows: the values of kList and kPadded features.
  Growing& values(size_t f) { return writer_.values(f); }

 private:
  bool ParseFast(const Bytes& record, size_t row);
  bool TakeUnscripted(const uint8_t** p, const uint8_t* end, size_t row, size_t* at, bool* in_order);
  bool MarkSteps(size_t from, size_t to);
  void NoteDisorder();
  void InsertSteps();
  bool PutValue(int32_t feature, size_t row, const uint8_t* p, const uint8_t* end);
  bool FillMissing(size_t row);

  Status ParseSlow(const Bytes& record, size_t row, ExampleRules rules);
  bool CollectEntries(const Bytes& record);

  // Notes that a feature has its value; false if it had one.
  bool Mark(int32_t feature) {
    uint64_t& word = seen_[static_cast<size_t>(feature) >> 6];
    const uint64_t bit = uint64_t{1} << (feature & 63);
    const bool fresh = (word & bit) == 0;
    word |= bit;
    return fresh;
  }
  bool Seen(int32_t feature) const { return seen_[static_cast<size_t>(feature) >> 6] >> (feature & 63) & 1; }

  SchemaPtr schema_;
  KeyTable keys_;
  static constexpr int kMuchDisorder = 4;  // how many more records in disorder than in order
  const KeyScript& script() const { return scripts_[way_]; }
  KeyScript scripts_[2];
  std::vector<uint64_t> script_features_[2];  // a bit per feature: the script has it
  uint32_t way_ = 0;                          // the script that the current record follows
  size_t same_steps_ = 0;                     // how many first steps the scripts have in common
  int disorder_ = 0;
  RowWriter writer_;
  std::vector<uint64_t> seen_;     // a bit per feature: this record had it
  std::vector<uint64_t> fixed_;    // a bit per feature: its layout is kFixed
  std::vector<MapEntry> entries_;  // of ParseSlow; kept for its memory
};

}  // namespace tfr
