// Encodes rows of columns straight into files: several threads make blocks of framed records, which each file gets in
// order. All rows are never in memory as records at the same time.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/status.h"
#include "encode/row_encoder.h"
#include "framing/writer.h"

namespace tfr {

// Row r goes to writers[(first + r) mod the number of writers]. All rows are checked before the first is
// written. num_threads 0: as many as the process may use. These threads take turns at the writers.
Status WriteRows(const RowEncoder& encoder, const std::vector<RecordWriter*>& writers, uint64_t first,
                 size_t num_threads);

}  // namespace tfr
