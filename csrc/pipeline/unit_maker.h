// Makers of units: what turns one open file into chunks of records, a unit at a time.
//
// The thread protocol. Units are claimed in ascending order (lane.h), each by one thread, and Produce is called for
// every unit that was claimed. A maker makes several units at once only if it works in parallel; then a unit
// may wait for what the one before it has to tell (handover.h), never for a later one. So the earliest unit that is
// being made can always continue. A unit that ends the file, with an error or without, cancels what comes after it.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/buffer.h"
#include "base/status.h"
#include "framing/reader.h"
#include "pipeline/input.h"

namespace tfr {

// A file of at most this many bytes is read into a buffer of this size, and is one unit, unless chunks
// are smaller and it was not read to detect its compression.
constexpr size_t kSmallFile = 64 << 10;

// The result of a unit: records, perhaps none, and then perhaps an error. `last`: nothing follows.
struct Produced {
  Chunk chunk;
  std::vector<Skipped> skipped;
  Status status;
  bool last = false;
};

// A file as a lane reads it: from where on, and what is wanted of it. The same for all of its units.
struct LaneFile {
  const InputFile input;
  const uint32_t number;  // of the input in the list of all
  const Place start;      // the first record that is wanted
  const LaneOptions options;
  BufferPool* const pool;
  std::atomic<bool> cancelled = false;  // the units are not wanted any more: long work ends

  // True if an error is damage that must be skipped.
  bool Passes(const Status& status) const;
  // kDataLoss if a file that ends at `end`, in uncompressed bytes, never reaches `start`: it was longer when the state
  // was saved.
  Status CheckEnd(int64_t end) const;
  // Leaves out the records before `start`.
  void DropBeforeStart(Chunk* chunk) const;
  // Leaves out stretches before `start`: a reader that stood there has had their reports, or the records that were
  // damaged later. A stretch of unknown end stays: it may be new.
  void DropBeforeStart(std::vector<Skipped>* skipped) const;
  // Keeps the records of a chunk that are wanted and checks their data. kDropped: at a damaged record, the rest of the
  // file was dropped. `file_bytes`: the uncompressed size of the file; -1 if that is not known.
  enum class Rest : uint8_t { kFollows, kDropped };
  Rest Finish(int64_t file_bytes, Produced* produced) const;
};

class UnitMaker {
 public:
  static constexpr size_t kUnknown = SIZE_MAX;

  virtual ~UnitMaker() = default;

  // True if several threads may make units at once.
  virtual bool in_parallel() const = 0;
  // How many units there are; kUnknown if only the last one tells.
  virtual size_t units() const = 0;
  // Makes a unit that was claimed.
  virtual void Produce(size_t unit, Produced* produced) = 0;
  // Wakes the threads that wait in Produce; the results of later calls are unspecified.
  virtual void Cancel() = 0;
  // The file ends with this unit, which has failed, perhaps before its turn: those before it go on, those after it end.
  virtual void CancelAfter(size_t unit) = 0;
};

}  // namespace tfr
