// Reads records of many files in any order, by their numbers across all files.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/records.h"
#include "base/status.h"
#include "framing/format.h"
#include "index/open_files.h"
#include "index/record_index.h"
#include "index/remote_take.h"
#include "index/take_plan.h"

namespace tfr {

struct RandomReaderOptions {
  bool verify_data = true;                      // headers are always checked, against their CRC and against the index
  uint64_t max_record_bytes = kMaxRecordBytes;  // a header that claims more is damage
  size_t num_threads = 1;                       // at most, and only during a call
  size_t max_open_files = 128;
  bool map_files = true;             // false: they are only read
  size_t max_idle_bytes = 16 << 20;  // of buffers that wait for the next request
  RemoteObjects remote;              // their fetches end with the reader
};

// Safe from several threads at once. Has no threads of its own: those of base/parallel.h help during a call. May be
// used after a fork, unless there are objects.
//
// The index is not trusted: memory is allocated only for bytes that the file is known to hold, and a header that
// differs from the index is kDataLoss. Errors carry path, offset and record index. Numbers must be in [0, size()).
class RandomReader {
 public:
  RandomReader(std::vector<Path> paths, std::vector<RecordIndexPtr> indexes, const RandomReaderOptions& options);
  ~RandomReader();

  int64_t size() const { return numbers_.size(); }

  // The records in the requested order, in one buffer.
  Status Take(const int64_t* numbers, size_t count, RecordBatchPtr* batch) const;

  // One record in two steps: its size in bytes, which the file does hold; then its data, to a place with that much
  // room. If KnowsSizeOf, the first step asks the system nothing.
  bool KnowsSizeOf(int64_t number) const;
  Status SizeOf(int64_t number, size_t* size) const;
  Status Read(int64_t number, uint8_t* data) const;

 private:
  struct Shared;
  class BlockReader;

  Status OpenOne(size_t file, const Frame& frame, std::shared_ptr<const OpenFile>* opened) const;

  Shared* Current() const;
  Status CheckHolds(size_t file, const Frame& frame) const;
  Status CheckPlan(const TakePlan& plan) const;
  Frame FrameOf(int64_t number, size_t* file) const;
  std::vector<Origin> OriginsOf(const int64_t* numbers, size_t count) const;

  const std::vector<Path> paths_;
  const std::vector<RecordIndexPtr> indexes_;
  const RandomReaderOptions options_;
  RecordNumbers numbers_;
  // The least that each file is known to hold.
  std::unique_ptr<std::atomic<int64_t>[]> known_sizes_;
  // Everything that has locks; made again after a fork. See Current().
  mutable std::atomic<Shared*> shared_;
};

}  // namespace tfr
