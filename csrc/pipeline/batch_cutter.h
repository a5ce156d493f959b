// Batches of n records from a sequence, through a shuffle buffer if there is one.
//
// The buffer is filled from the epoch's records. Then each record given is drawn from it, and the epoch's next record
// takes its place. When the epoch has ended, the rest is drawn until the buffer is empty. The random numbers come from
// the seed and the epoch. Batches run on from one epoch to the next without a gap.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/records.h"
#include "pipeline/sequence.h"

namespace tfr {

struct CutterOptions {
  // Records per batch; kAsTheyCome: whatever is ready, at least one record.
  static constexpr size_t kAsTheyCome = 0;
  size_t batch_size = kAsTheyCome;
  bool drop_remainder = false;
  size_t shuffle_buffer = 0;
  uint64_t seed = 0;
};

// Which record of which file.
struct RecordPlace {
  uint32_t file = 0;  // its number in the list of files
  Place place;
};

struct ShuffleItem {
  Bytes record;
  Owner owner;
  std::shared_ptr<const std::string> path;
  RecordPlace place;
};

// A change of the shuffle buffer, for the caller that keeps a copy of its places.
struct ShuffleStep {
  static constexpr uint32_t kAppend = UINT32_MAX;
  static constexpr uint32_t kMostSlots = kAppend;  // the most slots that a shuffle buffer has
  static constexpr uint32_t kGone = UINT32_MAX;    // as a file: the last slot's record moves to this slot
  uint32_t slot;
  RecordPlace place;
};

// Position of a cutter between two batches. Without the buffer's places, which the follower of the steps keeps.
struct CutterState {
  SequenceState sequence;
  uint64_t random = 0;
  bool started = false;  // `random` is valid
  bool draining = false;
};

struct Cut {
  std::shared_ptr<RecordBatch> batch;
  size_t bytes = 0;  // of its records
  CutterState after;
  std::vector<ShuffleStep> steps;
  std::vector<Sequence::SkippedIn> skipped;
};

class BatchCutter {
 public:
  enum class Event : uint8_t { kBatch, kWait, kEnd, kError };

  // `buffer`: what the shuffle buffer holds at the start.
  BatchCutter(Sequence* sequence, const CutterOptions& options, const CutterState& start,
              std::vector<ShuffleItem> buffer);

  // After kWait, call again when the chunk that the sequence waits for has been made. At kEnd and kError, *cut holds
  // what was skipped since the last batch, and no batch: records before an error that fill no batch are dropped.
  Event Next(Cut* cut);

 private:
  bool Full() const;
  Event Finish(Event event, Cut* cut);
  void Append(const Run& run);
  void Append(ShuffleItem item);
  void AddOwner(const Owner& owner);
  // The epoch whose records are in the buffer: a sequence that has reported its end has gone on to the next.
  int64_t BufferEpoch() const { return sequence_->epoch() - (draining_ ? 1 : 0); }
  Sequence::Event Fill();
  Sequence::Event Draw();

  Sequence* const sequence_;
  const CutterOptions options_;
  Random random_;
  bool started_;
  bool draining_;
  std::vector<ShuffleItem> buffer_;
  Cut cut_;  // in the making
};

}  // namespace tfr
