// A lane: one input file on its way to chunks of records, made in units that can be claimed by different threads.
//
// An uncompressed regular file is cut into regions of equal size, one unit each. A unit owns the records that
// start in its region. It reads its region at once; where its first record starts it learns from the unit before
// (the token), hops over its headers, tells the unit behind, and only then does the long work of checking data. So
// reading and checking run on any number of threads, and only the hopping is done in turn.
//
// A compressed regular file whose parts are marked (codec/block.h) has a part for a unit. Where its part starts a unit
// learns from the unit before, which has to look at a few bytes for it (the cursor); then it inflates and hops; which
// record its first is it learns from the unit before when that has hopped (the token). Where parts are marked no more,
// the cursor says so, and the rest is a stream that the units take turns at.
//
// Anything else (pipes, other compressed files, Python objects) is a stream whose units are made one after the other.

#ifndef TFRECORD_FAST_PIPELINE_LANE_H_
#define TFRECORD_FAST_PIPELINE_LANE_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/buffer.h"
#include "base/status.h"
#include "codec/block.h"
#include "framing/open.h"
#include "framing/reader.h"

namespace tfr {

struct InputFile {
  std::shared_ptr<const std::string> path;  // named in errors; opened if `open` is empty
  // For what is no file: called, and its source read, on the consumer's thread only.
  std::function<Status(std::unique_ptr<Source>*)> open;
};

// What to do about damage in a file. Whatever the system refuses (kIoError) is always an error.
enum class OnCorrupt : uint8_t {
  kRaise,
  kSkip,      // drop what is damaged, go on with the next intact record
  kSkipFile,  // drop the rest of the file
};

struct LaneOptions {
  CompressionChoice compression;
  bool verify_data = true;
  OnCorrupt on_corrupt = OnCorrupt::kRaise;
  size_t chunk_bytes = 512 << 10;
  // Only every `keep_divisor`-th record of a file is handed on, and its data checked: those whose index plus the
  // file's number leave `keep_remainder`. The number is in it so that parts of many small files come out even.
  int64_t keep_divisor = 1;
  int64_t keep_remainder = 0;
};

// What a unit came to: records, perhaps none, and then perhaps an error. `last`: nothing follows.
struct Produced {
  Chunk chunk;
  std::vector<Skipped> skipped;
  Status status;
  bool last = false;
};

class Lane {
 public:
  // A file of at most so many bytes is one unit, in a buffer of this size.
  static constexpr size_t kSmallFile = 64 << 10;

  // `file` is the input's number in the list of all, `turn` its place in the order of the epoch. Begins with the
  // record at `start`.
  Lane(const InputFile& input, uint32_t file, size_t turn, Place start, const LaneOptions& options, BufferPool* pool);

  const std::shared_ptr<const std::string>& path() const { return input_.path; }
  uint32_t file() const { return file_number_; }
  size_t turn() const { return turn_; }

  // Those from here to Unclaim are called under the scheduler's lock, which guards the members behind them.
  //
  // Whether a unit is free to be claimed. `consumer`: by the thread that takes the batches.
  bool unopened() const { return claim_kind_ == Kind::kUnopened; }
  bool CanClaim(bool consumer) const { return !all_claimed_ && !busy_ && (consumer || !consumer_only_); }
  size_t Claim();  // the number of the unit claimed; Produce must follow
  void Deposit(size_t unit, Produced produced);
  // The next in order, if it is there.
  bool Take(Produced* produced);
  bool FrontIsReady() const { return ready_.count(next_taken_) > 0; }
  // Whether the unit that Take waits for is claimed by nobody.
  bool FrontIsUnclaimed() const { return next_unit_ == next_taken_; }
  void Unclaim(size_t unit);

  // Makes a claimed unit, without the scheduler's lock. May wait for the unit before, never for one behind. False:
  // it can only be made by the consumer, who is to claim it anew (Unclaim, under the lock).
  bool Produce(size_t unit, bool consumer, Produced* produced);

  // Wakes whoever waits in Produce; what is produced from now on does not matter.
  void Cancel() { StopTokens(); }

 private:
  Status Open(int64_t size);  // of a regular file; -1 for whatever else it may be
  Status Detect(CompressionChoice* choice);
  void ProduceNextOfStream(Produced* produced);
  void ProduceRegion(size_t unit, Produced* produced);
  // Checks data and keeps what is wanted, as the options say.
  void FinishChunk(Produced* produced);
  bool Passes(const Status& status) const;

  // The place of the first record of the region in turn.
  struct Token {
    size_t unit = 0;
    Place place;
  };
  bool PeekToken(size_t unit, Place* place);
  bool AwaitToken(size_t unit, Place* place);  // false: stopped, there is nothing for this unit
  void PassToken(Place place);
  void StopTokens();

  // Where in the file the part of the unit in turn starts, or that reader_ goes on from here.
  struct Cursor {
    size_t unit = 0;
    int64_t offset = 0;
    bool streaming = false;
  };
  bool AwaitCursor(size_t unit, Cursor* cursor);  // false: as AwaitToken
  void PassCursor(int64_t offset, bool streaming);
  void EndCursor();  // there are no more units; those made already go on

  // The units of marked parts, in lane_parts.cc.
  void ProducePart(size_t unit, Produced* produced);
  void ProduceMarked(size_t unit, int64_t offset, const PartSizes& sizes, Produced* produced);
  void ProduceUnmarked(size_t unit, const Cursor& cursor, Produced* produced);
  Status LookForPart(int64_t offset, bool* marked, PartSizes* sizes) const;
  Status InflatePart(int64_t offset, const PartSizes& sizes, std::shared_ptr<Buffer>* data, size_t* got) const;
  Status CutPart(const uint8_t* begin, size_t size, bool whole, Place* place, Produced* produced) const;
  // Leaves out the records before the one that the lane starts with.
  void DropBeforeStart(Chunk* chunk) const;

  struct Region;
  Status ReadRegion(Region* region);
  Status CutRegion(Region* region, Place* place, Produced* produced);
  Status CutRun(Region* region, Place* place, Chunk* chunk);
  Status ReadUpTo(int64_t file_offset, Region* region, Chunk* chunk);
  Status FindNextIntact(int64_t from, int64_t* found) const;

  const InputFile input_;
  const uint32_t file_number_;
  const size_t turn_;
  const Place start_;
  const LaneOptions options_;
  BufferPool* const pool_;

  // Guarded by the scheduler's lock.
  enum class Kind : uint8_t { kUnopened, kRegions, kParts, kStream };
  static bool InParallel(Kind kind) { return kind == Kind::kRegions || kind == Kind::kParts; }
  Kind claim_kind_ = Kind::kUnopened;  // as the scheduler sees it; set when the first unit is deposited
  bool consumer_only_;
  bool busy_ = false;  // a unit of an unopened lane or of a stream is being made
  bool all_claimed_ = false;
  size_t next_unit_ = 0;  // to claim
  size_t next_taken_ = 0;
  std::map<size_t, Produced> ready_;

  // Written by the unit that opens, before any other can be claimed; the scheduler's lock orders the two.
  Kind kind_ = Kind::kUnopened;
  std::shared_ptr<File> file_;
  int64_t file_bytes_ = 0;
  int64_t first_region_ = 0;  // that holds the start; unit 0
  size_t units_ = 0;  // of kRegions
  std::shared_ptr<Buffer> head_;  // the whole file, where Detect has read it
  size_t head_size_ = 0;
  Compression compression_ = Compression::kNone;
  std::unique_ptr<RecordReader> reader_;  // of kParts: whose unit has the cursor and the token

  std::mutex token_mutex_;  // guards the five below; never held together with another lock
  std::condition_variable token_moved_;
  Token token_;
  Cursor cursor_;
  bool cursor_ended_ = false;
  bool stopped_ = false;
};

}  // namespace tfr

#endif  // TFRECORD_FAST_PIPELINE_LANE_H_
