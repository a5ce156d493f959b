// Parses rows of serialized SequenceExamples into columns, on one thread.
//
// Each row is walked once to find where the wanted features of its context and its feature lists are (if a key is
// given twice, the last counts), and then each of those is decoded. Context features of the usual form are taken during
// the walk, by the script of their keys (key_script.h).

#pragma once

#include <cstdint>
#include <vector>

#include "base/records.h"
#include "base/status.h"
#include "parse/key_script.h"
#include "parse/key_table.h"
#include "parse/row_writer.h"
#include "parse/schema.h"

namespace tfr {

class SequenceParser {
 public:
  SequenceParser(SchemaPtr context, SchemaPtr lists);

  // Parses records [first, last) into the same rows of the targets; stops at the first bad row, which is then in
  // *bad_row.
  Status ParseRows(const Bytes* records, size_t first, size_t last, const ColumnTarget* context_targets,
                   const ColumnTarget* list_targets, size_t* bad_row);

  RowWriter& context() { return context_.writer; }
  RowWriter& lists() { return lists_.writer; }

 private:
  // One of the two maps of the message.
  struct Map {
    explicit Map(SchemaPtr wanted);
    // True if the slot's key is one that must not be there.
    bool is_other(uint32_t slot) const { return keys.slot(slot).feature < 0 && !schema->only_these().empty(); }

    SchemaPtr schema;
    KeyTable keys;
    RowWriter writer;
    KeyScript script;          // of the context's keys
    std::vector<Bytes> found;  // by feature: the value in this row; data is null if there is none
    uint32_t last_key = KeyTable::kStart;
  };

  Status ParseRow(const Bytes& record, size_t row);
  bool Walk(const Bytes& record, size_t row);
  bool WalkContext(const Bytes& record, const uint8_t* p, const uint8_t* end, size_t row);
  bool WalkLists(const uint8_t* readable_end, const uint8_t* p, const uint8_t* end);
  Status PutContext(size_t row);
  Status PutList(size_t f, size_t row);
  Status PutSteps(size_t f, size_t row, const uint8_t* p, const uint8_t* end);

  Map context_;
  Map lists_;
  Status other_;  // of the present row: it has a key that must not be there
};

// TensorFlow checks a context's FixedLenFeature against the longest row, so a batch of no rows is an error if the shape
// has values and no default.
Status CheckEmptyBatch(const Schema& context, size_t rows);

}  // namespace tfr
