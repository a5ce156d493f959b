// The bytes that a stream holds: chunks and batches that are made or in the making, and not yet taken.

#pragma once

#include <algorithm>
#include <cstddef>

#include "pipeline/lane.h"

namespace tfr {

// A unit that holds more than this is worth waiting for room for.
constexpr size_t kLargeUnit = 4 << 20;

// Guarded by the scheduler's lock.
class Budget {
 public:
  Budget(size_t most, size_t chunk_bytes) : most_(most), chunk_bytes_(chunk_bytes) {}

  void Add(size_t bytes) { held_ += bytes; }
  void Remove(size_t bytes) { held_ -= bytes; }
  void AddBatch(size_t bytes) { held_ += batch_bytes_ = bytes; }

  size_t held() const { return held_; }
  bool full() const { return held_ >= most_; }
  bool HasRoomFor(size_t bytes) const { return held_ + bytes <= most_; }
  bool HasRoomForChunk() const { return HasRoomFor(chunk_bytes_); }
  // True if a chunk may be read ahead of the files whose turn it is. They keep room for two chunks and two batches:
  // with less, one thread inflates and transforms by itself until its file ends.
  bool HasRoomAhead() const {
    return HasRoomFor(chunk_bytes_ + std::min(2 * (chunk_bytes_ + batch_bytes_), most_ / 2));
  }

  // A file was opened. Its first unit holds this much, and may be all of it.
  void Opened(size_t unit_bytes, bool last) {
    first_unit_bytes_ = unit_bytes;
    small_files_ = last && unit_bytes <= kSmallFile;
  }
  // True if the last file that was opened was small.
  bool small_files() const { return small_files_; }
  // About how much memory the lane's next unit takes: as much as the last one; if it has none, as the first one of the
  // file that was opened last.
  size_t EstimateOf(const Lane& lane) const {
    if (small_files_ && lane.unopened()) return kSmallFile;
    const size_t last = lane.unopened() ? first_unit_bytes_ : lane.unit_bytes();
    return last > kLargeUnit ? last : chunk_bytes_;
  }

 private:
  const size_t most_;
  const size_t chunk_bytes_;
  size_t held_ = 0;
  size_t batch_bytes_ = 0;  // of the last batch that was cut
  bool small_files_ = false;
  size_t first_unit_bytes_ = 0;
};

}  // namespace tfr
