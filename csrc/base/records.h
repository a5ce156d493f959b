// Records and batches: what the framing room passes on and every later room takes.
//
// A record is a view of serialized bytes. Views own nothing; a batch holds the owners of the memory that its records
// look into (one buffer, or several), so a view must be kept together with its owner. A batch is immutable once shared.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tfr {

// Keeps some memory alive: a pooled buffer, a Python object, an Arrow buffer. No code needs to know which.
using Owner = std::shared_ptr<const void>;

// The bytes of one record's payload, without the frame, or of any other string. Never null-terminated.
struct Bytes {
  const uint8_t* data;
  size_t size;
};

// Where a run of rows of a batch came from: for error messages, and for random numbers that belong to a record.
struct Origin {
  size_t first_row;                         // the run is [first_row, next origin's first_row)
  std::shared_ptr<const std::string> path;  // null if not known
  int64_t record_index;                     // index in its file of the record in first_row, -1 if not known
  int64_t stride = 1;                       // how much the index grows from row to row
  int64_t epoch = 0;                        // of the reader, in which the records were read
  int64_t offset = -1;  // in its file of the header of the record in first_row, in uncompressed bytes; -1 if not known
};

struct RecordBatch {
  std::vector<Bytes> records;
  std::vector<Owner> owners;
  std::vector<Origin> origins;  // ascending first_row; empty if nothing is known

  size_t size() const { return records.size(); }
};

using RecordBatchPtr = std::shared_ptr<const RecordBatch>;

// For a walk over records: brings one that is needed soon into the cache. The records of a shuffled batch lie anywhere,
// which no processor can guess; it fetches neighbours in a file by itself.
inline void PrefetchScattered(const Bytes* records, size_t row, size_t last) {
  constexpr size_t kAhead = 2;
  constexpr size_t kLine = 64;
  constexpr size_t kMostBytes = 1024;
  if (row + kAhead >= last) return;
  const Bytes& record = records[row + kAhead];
  const uint8_t* const before = records[row + kAhead - 1].data + records[row + kAhead - 1].size;
  if (static_cast<size_t>(record.data - before) <= kLine) return;
  const size_t size = record.size < kMostBytes ? record.size : kMostBytes;
  for (size_t at = 0; at < size; at += kLine) __builtin_prefetch(record.data + at);
}

// The file, index and epoch of `row`, which is of this origin.
inline Origin OriginOfRow(const Origin& origin, size_t row) {
  const auto rows = static_cast<int64_t>(row - origin.first_row);
  const int64_t index = origin.record_index < 0 ? -1 : origin.record_index + rows * origin.stride;
  return {row, origin.path, index, 1, origin.epoch, rows == 0 ? origin.offset : -1};
}

// The same of a batch's row; path is null and index -1 if they are not known. An origin that has an offset is of
// records of one file that lie in one buffer, as far apart as in the file.
inline Origin OriginOfRow(const RecordBatch& batch, size_t row) {
  const Origin* found = nullptr;
  for (const Origin& origin : batch.origins) {
    if (origin.first_row > row) break;
    found = &origin;
  }
  if (found == nullptr) return {row, nullptr, -1};
  Origin origin = OriginOfRow(*found, row);
  if (found->offset >= 0) {
    origin.offset = found->offset + (batch.records[row].data - batch.records[found->first_row].data);
  }
  return origin;
}

// Some rows of a batch: row i is batch->records[start + i * step].
struct RecordWindow {
  RecordBatchPtr batch;
  size_t start = 0;
  ptrdiff_t step = 1;
  size_t size = 0;
};

// Appends where the rows of a window come from to a batch whose next row is `first`.
void AppendOrigins(const RecordWindow& window, size_t first, std::vector<Origin>* origins);

// A batch of the window's rows, which keeps the memory of all.
RecordBatchPtr BatchOf(const RecordWindow& window);

}  // namespace tfr
