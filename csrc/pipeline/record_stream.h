// Many files, many threads, one order: batches of records from a list of files.

#ifndef TFRECORD_FAST_PIPELINE_RECORD_STREAM_H_
#define TFRECORD_FAST_PIPELINE_RECORD_STREAM_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "base/records.h"
#include "base/status.h"
#include "pipeline/lane.h"

namespace tfr {

struct StreamOptions {
  LaneOptions lane;
  // The order of records: `cycle_length` slots hold a file each; they are visited in turn, `block_length` records a
  // visit. When a slot's file has ended, that visit yields nothing and the slot takes the next file. This is
  // TensorFlow's deterministic interleave. One slot reads the files one after the other.
  size_t cycle_length = 1;
  size_t block_length = 1;
  // Threads beside the caller's; 0 does all work in Next.
  size_t num_threads = 1;
  // Chunks made but not yet taken hold at most this much, but for one chunk that is waited for.
  size_t prefetch_bytes = 8 << 20;
};

// The order depends on the options alone, never on threads or timing. The first error ends the stream. Next may be
// called from one thread at a time.
class RecordStream {
 public:
  static constexpr size_t kAsTheyCome = 0;

  RecordStream(std::vector<InputFile> files, const StreamOptions& options);
  // Stops and joins the threads. In a process forked from the one that made the stream there are none: what
  // belongs to them is left alone.
  ~RecordStream();
  RecordStream(const RecordStream&) = delete;
  RecordStream& operator=(const RecordStream&) = delete;

  // Exactly `max_records` records, or fewer at the end; *batch is null when there are no more. With kAsTheyCome as
  // many as lie ready, at least one, and an error only once all records before it were given; else an error takes
  // the place of the batch that it falls into.
  Status Next(size_t max_records, RecordBatchPtr* batch);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tfr

#endif  // TFRECORD_FAST_PIPELINE_RECORD_STREAM_H_
