// Makes the images of a batch out of the bytes that were parsed.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "base/records.h"
#include "base/status.h"
#include "parse/columns.h"
#include "parse/parse.h"

namespace tfr {

struct ImageDraws {
  uint64_t seed = 0;                // for features without a seed of their own
  const int64_t* epochs = nullptr;  // of each row; null: those of the batch's origins
};

// A record with an image that can't be decoded. Its row was dropped, or the image has zeros.
struct LostImage {
  Origin origin;
  size_t bytes = 0;  // of the record
  std::string reason;
};

// Parses the batch, and fills in the images: on the crew, each image by one thread. Random numbers depend on the
// record, the epoch and the seed; features of one record draw the same. The error of the earliest bad row wins. `lost`
// lists, by row, the images that can't be decoded without being an error. Their rows are dropped with kSkip.
Status ParseWithImages(const RecordBatch& batch, ExamplePlan& plan, const ImageDraws& draws, Crew* crew,
                       Columns* columns, std::vector<LostImage>* lost);

}  // namespace tfr
