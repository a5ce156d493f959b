// Splitting a batch into ranges of rows, which several threads parse.

#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "base/parallel.h"
#include "base/records.h"
#include "base/status.h"

namespace tfr {

struct Range {
  size_t first;
  size_t last;  // the row after it
};

size_t CountBytes(const RecordBatch& batch);

// At most `most` ranges of about equal size, each of at least `least_bytes` bytes. At least one range, which may be
// empty.
std::vector<Range> SplitRows(const RecordBatch& batch, size_t most, size_t least_bytes);

// Runs parse(part, &bad_row) for every range, on the crew if there are several. Returns the error of the earliest bad
// row, with its file and record.
Status RunRanges(const RecordBatch& batch, const std::vector<Range>& ranges, Crew* crew,
                 const std::function<Status(size_t, size_t*)>& parse);

// Adds which record of which file a row is, or which row of the batch if the file is not known.
Status Locate(Status status, const RecordBatch& batch, size_t row);

Status NoMemory();  // for the columns

}  // namespace tfr
