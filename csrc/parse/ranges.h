// A batch in ranges of rows, which several threads parse.

#ifndef TFRECORD_FAST_PARSE_RANGES_H_
#define TFRECORD_FAST_PARSE_RANGES_H_

#include <cstddef>
#include <functional>
#include <vector>

#include "base/parallel.h"
#include "base/records.h"
#include "base/status.h"

namespace tfr {

struct Range {
  size_t first;
  size_t last;  // the row behind it
};

size_t CountBytes(const RecordBatch& batch);

// Ranges of about equal bytes, at most `most` and of `least_bytes` at least; one at least, which may be empty.
std::vector<Range> SplitRows(const RecordBatch& batch, size_t most, size_t least_bytes);

// Runs parse(part, &bad_row) for every range, on the crew where there are several. The error of the earliest bad row,
// with its file and record.
Status RunRanges(const RecordBatch& batch, const std::vector<Range>& ranges, Crew* crew,
                 const std::function<Status(size_t, size_t*)>& parse);

// Says which record of which file a row is, or which row of the batch where the file is not known.
Status Locate(Status status, const RecordBatch& batch, size_t row);

Status NoMemory();  // for the columns

}  // namespace tfr

#endif  // TFRECORD_FAST_PARSE_RANGES_H_
