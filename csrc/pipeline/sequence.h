// The order of records before shuffling: epochs of files, interleaved. It depends on the options alone.
//
// An epoch has every file once, in the order given or in one drawn from the seed and the epoch's number.
// `cycle_length` slots hold a file each and are visited in turn, `block_length` records per visit. When a slot's file
// has ended, that visit yields nothing, and the slot takes the epoch's next file on its next visit. This is
// TensorFlow's deterministic interleave; with one slot, files are read one after the other. Slots are never more than
// files, since the others would never hold one.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "pipeline/lane.h"

namespace tfr {

struct SequenceOptions {
  size_t cycle_length = 1;
  size_t block_length = 1;
  int64_t num_epochs = 1;  // -1: endless
  bool shuffle_files = false;
  uint64_t seed = 0;
};

// Where a sequence stands, between two records.
struct SequenceState {
  struct Slot {
    int64_t file = -1;  // the slot is empty
    Place next;         // record of the file
  };
  int64_t epoch = 0;
  uint64_t next_file = 0;  // in the epoch's order: how many files the slots have been given
  uint64_t cursor = 0;     // the slot whose turn it is
  uint64_t visit = 0;      // records that it has given in this turn
  std::vector<Slot> slots;
};

// kInvalidArgument if the state names a file number >= `files`.
Status CheckFiles(const SequenceState& state, size_t files);

// How many slots can hold a file at once: at most one per file of an epoch, at least 1.
inline size_t SlotsFor(const SequenceOptions& options, size_t files) {
  return std::max<size_t>(std::min(options.cycle_length, files), 1);
}

// Which file comes at which place of which epoch.
class FileOrder {
 public:
  FileOrder(size_t files, const SequenceOptions& options) : files_(files), options_(options) {}
  size_t files() const { return files_; }
  bool HasEpoch(int64_t epoch) const { return options_.num_epochs < 0 || epoch < options_.num_epochs; }
  uint32_t At(int64_t epoch, size_t place);

 private:
  const size_t files_;
  const SequenceOptions options_;
  int64_t drawn_epoch_ = -1;
  std::vector<uint32_t> drawn_;
};

// The lanes that are open, which all threads work on. The implementation does the locking; Sequence only asks.
class LaneAccess {
 public:
  virtual ~LaneAccess() = default;
  // A lane that begins with `start` of the file at that place of the epoch.
  virtual std::shared_ptr<Lane> OpenLane(int64_t epoch, size_t place, Place start) = 0;
  // The lane's next chunk; false if it is not made yet.
  virtual bool TryTake(const std::shared_ptr<Lane>& lane, Produced* produced) = 0;
  virtual void Retire(const std::shared_ptr<Lane>& lane) = 0;
};

// Records of one chunk, in order. If they are all of the chunk's records, they may be moved out of it.
struct Run {
  Chunk* chunk = nullptr;
  const Lane* lane = nullptr;
  size_t begin = 0;  // of the chunk's records
  size_t count = 0;
};

class Sequence {
 public:
  enum class Event : uint8_t {
    kRun,
    kEpochEnd,  // once per epoch, after its last record
    kEnd,
    kWait,  // the chunk of waiting_for() is not made yet
    kError,
  };

  Sequence(FileOrder* order, const SequenceOptions& options, const SequenceState& start, LaneAccess* lanes);

  // At most `max` > 0 records. The run is valid until the next call.
  Event Next(size_t max, Run* run);

  bool interleaves() const { return slots_.size() > 1; }
  int64_t epoch() const { return epoch_; }
  const std::shared_ptr<Lane>& waiting_for() const { return waiting_for_; }
  const Status& error() const { return error_; }
  // After the last run; only if the last event was kRun or kEpochEnd.
  SequenceState State() const;
  // Damaged stretches skipped since the last call, with the files they lie in. A stretch is reported as soon as
  // State() lies after it, so that a reader that resumes from there does not find it again.
  struct SkippedIn {
    std::shared_ptr<const std::string> path;
    Skipped what;
  };
  std::vector<SkippedIn> TakeSkipped() { return std::exchange(skipped_, {}); }

 private:
  struct Slot {
    std::shared_ptr<Lane> lane;  // null: empty
    Chunk chunk;
    size_t size = 0;   // records the chunk came with
    size_t taken = 0;  // of them already given
    bool last = false;
    Status error;                  // what follows the chunk
    Place begin;                   // where the lane starts, until it has given a chunk
    std::vector<Skipped> skipped;  // in the chunk, by offset
    size_t noted = 0;              // of them, already in skipped_
  };

  bool FillSlot(Slot* slot);
  Event Refill(Slot* slot);
  void Advance();
  Place PlaceIn(const Slot& slot) const;
  void NoteSkipped(Slot* slot, int64_t before);

  FileOrder* const order_;
  const SequenceOptions options_;
  LaneAccess* const lanes_;

  std::vector<Slot> slots_;
  int64_t epoch_ = 0;
  size_t next_file_ = 0;
  size_t cursor_ = 0;
  size_t visit_ = 0;
  size_t active_ = 0;        // slots with a lane
  bool any_record_ = false;  // in this epoch
  std::shared_ptr<Lane> waiting_for_;
  Status error_;
  std::vector<SkippedIn> skipped_;
};

}  // namespace tfr
