// Turns rows of columns into serialized tf.train.Example and SequenceExample messages
// (https://protobuf.dev/programming-guides/encoding/, messages in docs/format.md):
//
//   Example         := features:Features = 1
//   SequenceExample := context:Features = 1, feature_lists:FeatureLists = 2
//   Features        := map<string, Feature> = 1         entry := key = 1, value = 2
//   FeatureLists    := map<string, FeatureList> = 1
//   FeatureList     := repeated Feature = 1
//   Feature         := BytesList = 1 | FloatList = 2 | Int64List = 3, each of them: repeated value = 1
//
// The bytes are those of protobuf's deterministic serialisation: keys in bytewise order, numbers packed, lengths as
// short as can be. A list without values is a set kind with an empty list.

#ifndef TFRECORD_FAST_ENCODE_ROW_ENCODER_H_
#define TFRECORD_FAST_ENCODE_ROW_ENCODER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/status.h"
#include "encode/column.h"

namespace tfr {

// What of one column does not change from row to row.
struct ColumnPlan;

// Safe from several threads at once. What the columns point to must outlive it.
class RowEncoder {
 public:
  // Protobuf's own limit of a message's size.
  static constexpr uint64_t kMaxRecordBytes = (uint64_t{1} << 31) - 1;

  RowEncoder();
  ~RowEncoder();
  RowEncoder(const RowEncoder&) = delete;
  RowEncoder& operator=(const RowEncoder&) = delete;

  // `columns` and `lists` may come in any order; a key given twice is an error. With `sequence`, SequenceExamples,
  // whose feature lists are `lists`, each with steps; an empty part is left out of the message.
  Status Init(std::vector<EncodeColumn> columns, std::vector<EncodeColumn> lists, bool sequence, size_t rows);

  size_t rows() const { return rows_; }

  // Sets sizes[r - first] to the bytes that row r takes, for [first, last). kInvalidArgument, with key and row,
  // for a value that has no encoding.
  Status Size(size_t first, size_t last, uint64_t* sizes) const;

  // Writes a row, `size` bytes as Size has found, and none beyond.
  void Write(size_t row, uint64_t size, uint8_t* out) const;

 private:
  Status SizeFeatures(size_t first, size_t last, uint64_t* sizes) const;
  Status SizeLists(size_t first, size_t last, uint64_t* sizes) const;
  uint8_t* WriteFeatures(size_t row, uint8_t* out, const uint8_t* end) const;
  void WriteSequence(size_t row, uint64_t size, uint8_t* out) const;

  size_t rows_ = 0;
  bool sequence_ = false;
  std::vector<ColumnPlan> columns_;
  std::vector<ColumnPlan> lists_;
};

}  // namespace tfr

#endif  // TFRECORD_FAST_ENCODE_ROW_ENCODER_H_
