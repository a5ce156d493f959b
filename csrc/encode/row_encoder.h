// Turns rows of columns into serialized tf.train.Example and SequenceExample messages, whose grammar is in
// wire/example.h.
//
// The bytes are those of protobuf's deterministic serialisation: keys in bytewise order, numbers packed, lengths as
// short as possible. A list without values has its kind set, and is empty.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/status.h"
#include "encode/column.h"
#include "wire/example.h"

namespace tfr {

// The part of one column that is the same for all rows.
struct ColumnPlan;

// Safe to use from several threads at the same time. What the columns point to must outlive it; some of it may change
// meanwhile (column.h).
class RowEncoder {
 public:
  // Protobuf's own limit for the size of a message.
  static constexpr uint64_t kMaxRecordBytes = (uint64_t{1} << 31) - 1;

  RowEncoder();
  ~RowEncoder();
  RowEncoder(const RowEncoder&) = delete;
  RowEncoder& operator=(const RowEncoder&) = delete;

  // The columns of an Example, or of a SequenceExample's context and feature lists; only a SequenceExample has `lists`,
  // each with steps, and leaves an empty part out of the message. Columns may come in any order; a key given twice is
  // an error.
  Status Init(MessageType type, std::vector<EncodeColumn> columns, std::vector<EncodeColumn> lists, size_t rows);

  size_t rows() const { return rows_; }

  // Checks rows [first, last): kInvalidArgument, with key and row, for a value that has no encoding, or too large a
  // message. Sets bounds[r - first] to at least the size of row r's message, most of the values unread.
  Status Check(size_t first, size_t last, uint64_t* bounds) const;

  // Sets sizes[0], sizes[1], … to the sizes of these rows' messages.
  void Size(RowRange rows, uint64_t* sizes) const;

  // Writes a row: `size` bytes, as given by Size, and none after them. False if the row's values have changed since, so
  // that it takes more bytes or fewer (RowChanged); what is in [out, out + size) is then undefined.
  [[nodiscard]] bool Write(size_t row, uint64_t size, uint8_t* out) const;

 private:
  Status FindTooLarge(size_t first, size_t last) const;
  void MeasureRows(RowRange rows, Measure measure, uint64_t* sizes) const;
  uint8_t* WriteFeatures(size_t row, uint8_t* out, const uint8_t* end) const;
  uint8_t* WriteContext(size_t row, uint8_t* out, const uint8_t* end) const;
  uint8_t* WriteLists(size_t row, uint8_t* out, const uint8_t* end) const;

  size_t rows_ = 0;
  MessageType type_ = MessageType::kExample;
  std::vector<ColumnPlan> columns_;
  std::vector<ColumnPlan> lists_;
};

// The error of a row that Write could not write.
Status RowChanged(size_t row);

}  // namespace tfr
