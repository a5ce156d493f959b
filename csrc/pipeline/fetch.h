// Reads single records again by their places: what a shuffle buffer held when its state was saved.

#pragma once

#include <memory>
#include <vector>

#include "base/buffer.h"
#include "base/status.h"
#include "io/fetch_queue.h"
#include "pipeline/batch_cutter.h"
#include "pipeline/lane.h"

namespace tfr {

// One item per place, in the order of the places. Uncompressed regular files are read at those places only; anything
// else is read as a lane reads it, from the first of its places to the last. kDataLoss if a place has no intact record.
// `queue` fetches the bytes of objects; null without objects.
Status FetchRecords(const std::vector<InputFile>& files, const std::vector<RecordPlace>& places,
                    const LaneOptions& options, BufferPool* pool, const std::shared_ptr<FetchQueue>& queue,
                    std::vector<ShuffleItem>* items);

}  // namespace tfr
