// A lane: one input file on its way to chunks of records, made in units that different threads can claim.
//
// A lane is what the scheduler sees of a file: which units are claimed, which are ready, which are taken. How the units
// are made depends on the file, which the first unit opens (open_units.h):
//   regions  an uncompressed regular file, cut into stretches of equal size (region_maker.h)
//   parts    a compressed regular file whose parts say their sizes (part_maker.h)
//   stream   anything else (pipes, other compressed files, Python objects), one unit after the other (stream_maker.h)
//
// The thread protocol: see unit_maker.h for the units, shard_stream.cc for the scheduler's lock.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/buffer.h"
#include "pipeline/unit_maker.h"

namespace tfr {

// The thread that claims and makes units: a worker, the consumer of the batches, or the consumer while no worker makes
// any.
enum class Caller : uint8_t { kWorker, kConsumer, kLoneConsumer };

class Lane {
 public:
  // `number` is the input's place in the list of all, `turn` its place in the order of the epoch. Begins with the
  // record at `start`. `object` is the input if that is one in a store; else null.
  Lane(const InputFile& input, uint32_t number, size_t turn, Place start, const LaneOptions& options, BufferPool* pool,
       std::shared_ptr<RemoteFile> object)
      : file_{input, number, input.First(start), options, pool},
        turn_(turn),
        object_(std::move(object)),
        consumer_only_(input.open != nullptr) {}

  const std::shared_ptr<const std::string>& path() const { return file_.input.path; }
  uint32_t file() const { return file_.number; }
  size_t turn() const { return turn_; }

  // Those from here to Cancel are called under the scheduler's lock, which guards the members that they use.
  bool unopened() const { return !opened_; }
  // True if its units are made one after the other.
  bool in_turn() const { return opened_ && !in_parallel_; }
  // The bytes of memory that the unit deposited last holds; 0 if there is none.
  size_t unit_bytes() const { return unit_bytes_; }
  // True if a unit is free to be claimed.
  bool CanClaim(Caller caller) const {
    return !all_claimed_ && !busy_ && (caller != Caller::kWorker || !consumer_only_);
  }
  size_t Claim();  // the number of the unit claimed; Produce must follow
  void Deposit(size_t unit, Produced produced);
  // The unit could not be made by the thread that claimed it: only the consumer can claim it again.
  void Unclaim(size_t unit);
  // The next in order, if it is there.
  bool Take(Produced* produced);
  bool FrontIsReady() const { return ready_.count(next_taken_) > 0; }
  // True if no thread has claimed the unit that Take waits for.
  bool FrontIsUnclaimed() const { return next_unit_ == next_taken_; }
  // The bytes of memory that the units hold which are there and were not taken.
  size_t ready_bytes() const;
  // Wakes the threads that wait in Produce; the results of later calls are unspecified.
  void Cancel();

  // Makes a claimed unit, without the scheduler's lock. May wait for the unit before it, never for a later one. False:
  // only the consumer can make it, and Unclaim must follow; the status tells why: OK if that is so for this kind of
  // file; else the system can't open as many files as are open now, and the consumer can make it if that changes.
  bool Produce(size_t unit, Caller caller, Produced* produced) noexcept;

 private:
  bool Make(size_t unit, Caller caller, Produced* produced);

  LaneFile file_;
  const size_t turn_;
  const std::shared_ptr<RemoteFile> object_;

  // Guarded by the scheduler's lock.
  bool consumer_only_;
  bool opened_ = false;  // the unit that opens the file was deposited; its maker sets the two below
  bool in_parallel_ = false;
  size_t units_ = UnitMaker::kUnknown;
  bool busy_ = false;  // a unit is being made, of a lane that can't make several at once
  bool all_claimed_ = false;
  size_t next_unit_ = 0;  // to claim
  size_t next_taken_ = 0;
  size_t unit_bytes_ = 0;
  std::map<size_t, Produced> ready_;

  // Written by the unit that opens the file, before any other can be claimed; the scheduler's lock orders the two.
  std::unique_ptr<UnitMaker> maker_;
};

}  // namespace tfr
