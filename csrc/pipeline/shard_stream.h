// Many files, many threads, one order: batches of records, transformed on the threads that made them.

#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "base/parallel.h"
#include "base/records.h"
#include "base/status.h"
#include "io/fetch_queue.h"
#include "pipeline/batch_cutter.h"
#include "pipeline/lane.h"
#include "pipeline/sequence.h"

namespace tfr {

// The result of a transform (columns, for example), and about how many bytes it holds.
struct Transformed {
  std::shared_ptr<void> value;
  size_t bytes = 0;
  bool keeps_batch = false;                       // the batch is handed out together with the value
  std::vector<Sequence::SkippedIn> skipped = {};  // records that the value lacks, wholly or in part
};

// Makes something else of a batch, on the thread that cut it or another; keeps alive what it needs of the batch. Null:
// batches are handed out as they are. Called from several threads at once; needs nothing of the host language. Much
// work may be shared with the stream's other threads, the crew, which does that before anything else.
using Transform = std::function<Status(const RecordBatch& batch, Crew* crew, Transformed* result)>;

struct StreamOptions {
  LaneOptions lane;
  SequenceOptions sequence;
  CutterOptions cutter;
  Transform transform;
  std::function<bool()> transforms_now;  // called for each batch; null: always
  // Threads besides the caller's; with 0, all work is done in Next.
  size_t num_threads = 1;
  // How many of them fit the processors; more work only while others wait for a disk. 0: all.
  size_t fitting_threads = 0;
  // True if the thread in Next also works while it waits.
  bool caller_helps = true;
  // True if batches come in their order; else they come when they are ready.
  bool in_order = true;
  // Chunks and batches that are made but not yet taken hold about this much, except for the one that is waited for.
  size_t prefetch_bytes = 8 << 20;
  // Where the bytes of objects come from, which has a bound of its own; null if there are none among the files. It is
  // closed when the stream ends.
  std::shared_ptr<FetchQueue> fetches;
};

// Where a stream stands after the batches handed out so far.
struct StreamState {
  CutterState cutter;
  std::vector<RecordPlace> shuffled;  // what the shuffle buffer holds
};

// A batch, or what the transform made of it, or both; neither at the end.
struct Delivered {
  RecordBatchPtr batch;
  std::shared_ptr<void> result;
  bool at_end() const { return !batch && !result; }
};

// The order depends on the options alone, never on threads or timing, and is written down in docs/design.md. The
// first error ends the stream. One thread at a time may call.
class ShardStream {
 public:
  // Continues from `state`, if there is one: that of a stream with the same files and options.
  ShardStream(std::vector<InputFile> files, const StreamOptions& options, const StreamState& state = {});
  // Stops and joins the threads. In a process forked from the one that made the stream there are none; what belongs to
  // them is left alone.
  ~ShardStream();
  ShardStream(const ShardStream&) = delete;
  ShardStream& operator=(const ShardStream&) = delete;

  // The next batch; an error takes the place of the batch that it falls into.
  Status Next(Delivered* delivered);

  // After the last batch.
  StreamState State() const;
  // Stretches skipped before the delivered batches, since the last call.
  std::vector<Sequence::SkippedIn> TakeSkipped();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tfr
