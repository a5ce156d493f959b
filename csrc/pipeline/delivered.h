// Deliveries to the caller of a stream: its position, what was skipped, and whether there is more.

#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "base/status.h"
#include "io/fetch_queue.h"
#include "pipeline/batch_cutter.h"
#include "pipeline/sequence.h"
#include "pipeline/shard_stream.h"

namespace tfr {

class Deliveries {
 public:
  // With an order that depends on timing, steps do not come one after the other, and the state is unavailable.
  // At the end, `fetches` is closed, if there is one.
  Deliveries(CutterState start, std::vector<RecordPlace> shuffled, bool in_order, std::shared_ptr<FetchQueue> fetches)
      : state_(std::move(start)), shuffled_(std::move(shuffled)), in_order_(in_order), fetches_(std::move(fetches)) {}

  // Follows a batch that the caller gets.
  void Take(Cut cut) {
    NoteSkipped(&cut);
    state_ = std::move(cut.after);
    if (in_order_) Follow(cut.steps);
  }

  // Takes the cut after the last batch. The state stays that after the last batch, of the sequence and the shuffle
  // buffer both, since draws that were not delivered must come again.
  void TakeRest(Cut cut) { NoteSkipped(&cut); }

  // After the last batch.
  StreamState State() const { return {state_, shuffled_}; }

  // The last status of interest.
  Status End(Status status) {
    ended_ = true;
    if (fetches_) fetches_->Close();
    if (status.code() == StatusCode::kOutOfMemory) later_ = Status::OutOfMemory();
    return status;
  }

  bool ended() const { return ended_; }
  const Status& later() const { return later_; }  // of each call after the end
  std::vector<Sequence::SkippedIn> TakeSkipped() { return std::exchange(skipped_, {}); }

 private:
  void NoteSkipped(Cut* cut) {
    for (Sequence::SkippedIn& skipped : cut->skipped) skipped_.push_back(std::move(skipped));
    cut->skipped.clear();
  }

  void Follow(const std::vector<ShuffleStep>& steps) {
    for (const ShuffleStep& step : steps) {
      if (step.slot == ShuffleStep::kAppend) {
        shuffled_.push_back(step.place);
      } else if (step.place.file == ShuffleStep::kGone) {
        shuffled_[step.slot] = shuffled_.back();
        shuffled_.pop_back();
      } else {
        shuffled_[step.slot] = step.place;
      }
    }
  }

  CutterState state_;
  std::vector<RecordPlace> shuffled_;  // the places in the shuffle buffer
  const bool in_order_;
  const std::shared_ptr<FetchQueue> fetches_;
  std::vector<Sequence::SkippedIn> skipped_;
  bool ended_ = false;
  Status later_;
};

}  // namespace tfr
