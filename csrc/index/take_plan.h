// The reads on disk for a request of records in any order: frames in the order of the files, each once, cut into blocks
// of work.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "index/record_index.h"

namespace tfr {

// A frame to be read, and its place in memory, where those of the request lie one after the other.
struct Frame {
  int64_t offset;  // in its file
  int64_t size;    // as the index has it
  int64_t record;  // index in its file, for errors
  size_t place;
};

// Frames [begin, end) of one file: what one thread reads at a time.
struct FrameBlock {
  size_t file;
  size_t begin;
  size_t end;
};

constexpr size_t kBlockFrames = 64;  // no block of an uncompressed file has more

struct TakePlan {
  std::vector<Frame> frames;  // ascending: by file, then by offset; none twice
  std::vector<FrameBlock> blocks;
  std::vector<uint32_t> frame_of;  // of each requested record, in the requested order
  size_t total_bytes = 0;          // of all frames
  size_t blocks_to_inflate = 0;    // of compressed files: each has the frames after one checkpoint
};

// Numbers records across files: file f has [first[f], first[f + 1]).
struct RecordNumbers {
  std::vector<int64_t> first = {0};

  int64_t size() const { return first.back(); }
  // `number` must be in [0, size()).
  size_t FileOf(int64_t number) const;
};

constexpr size_t kMaxTake = UINT32_MAX;

// `numbers` are in range, and at most kMaxTake. Nothing of the files is looked at.
TakePlan PlanTake(const int64_t* numbers, size_t count, const RecordNumbers& all,
                  const std::vector<RecordIndexPtr>& indexes);

}  // namespace tfr
