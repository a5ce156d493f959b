// The lanes that are open: those that the sequence reads, and those that are read ahead of it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "base/buffer.h"
#include "pipeline/lane.h"
#include "pipeline/read_ahead.h"
#include "pipeline/sequence.h"

namespace tfr {

// Every member is called under the scheduler's lock.
class OpenLanes {
 public:
  // Opens lanes ahead, as long as no more than `max_open` are open. `order` must have no other user. `ahead` opens the
  // objects; null without objects.
  OpenLanes(const std::vector<InputFile>& files, FileOrder* order, const LaneOptions& options, BufferPool* pool,
            size_t max_open, std::shared_ptr<ReadAhead> ahead);

  // The lane at this place of this epoch: one that was opened ahead, or a new one.
  std::shared_ptr<Lane> Open(int64_t epoch, size_t turn, Place start);
  void Retire(const std::shared_ptr<Lane>& lane);
  // The first lane, in the order in which the sequence will want them, that has a unit for a worker to claim. If none
  // of those that are open has one, opens another file, up to `more` beyond max_open. Null if there is none.
  std::shared_ptr<Lane> PickForWorker(size_t more = 0);
  // The same, but only of the lanes that the sequence reads now.
  std::shared_ptr<Lane> PickGiven() const;
  // The system does not let more files be open than there are now: from now on no more are opened ahead.
  void OpenNoMore();
  // Closes the files that were opened ahead of their turn, while no unit of theirs is being made. They will be opened
  // again. Returns how many bytes of memory their units held.
  size_t CloseAhead();
  void CancelAll();

 private:
  struct Entry {
    int64_t epoch;
    size_t turn;
    std::shared_ptr<Lane> lane;
    bool given;  // to the sequence
  };
  std::shared_ptr<Lane> Make(int64_t epoch, size_t turn, Place start);

  const std::vector<InputFile>& files_;
  FileOrder* const order_;
  const LaneOptions options_;
  BufferPool* const pool_;
  const std::shared_ptr<ReadAhead> ahead_;
  size_t max_open_;
  bool scarce_ = false;      // the system has refused to open another file
  std::deque<Entry> lanes_;  // by epoch and turn
  int64_t ahead_epoch_ = 0;  // of the next file to open ahead
  size_t ahead_turn_ = 0;
};

}  // namespace tfr
