// Encodes all rows of columns as one batch of serialized records, on several threads.

#pragma once

#include <cstddef>
#include <vector>

#include "base/records.h"
#include "base/status.h"
#include "encode/column.h"
#include "encode/row_encoder.h"

namespace tfr {

// The records of a block (below) lie end to end in a buffer. num_threads 0: as many as the process may use.
Status EncodeRows(const RowEncoder& encoder, size_t num_threads, RecordBatchPtr* batch);

// Rows that one thread sizes and then writes, while what it reads is in the second-level cache.
struct RowBlock {
  RowRange rows;
  size_t file;  // of those to which rows are dealt in turn
  size_t turn;  // its number among the file's blocks
};

// Checks all rows, and cuts them into blocks, in the order of their first rows. Row r goes to file (first + r) mod
// `files`.
Status CutRows(const RowEncoder& encoder, size_t files, size_t first, size_t num_threads,
               std::vector<RowBlock>* blocks);

}  // namespace tfr
