// Encodes all rows of columns as one batch of serialized records, on several threads.

#pragma once

#include <cstddef>

#include "base/records.h"
#include "base/status.h"
#include "encode/row_encoder.h"

namespace tfr {

// The records lie end to end in one buffer. num_threads 0: as many as the process may use.
Status EncodeRows(const RowEncoder& encoder, size_t num_threads, RecordBatchPtr* batch);

// Sets sizes[row] to the size of each row, on several threads; there are encoder.rows() of them.
Status SizeRows(const RowEncoder& encoder, size_t num_threads, uint64_t* sizes);

}  // namespace tfr
