// What the caller of a stream has been given: where it stands, what was skipped, and whether there is more.

#ifndef TFRECORD_FAST_PIPELINE_DELIVERED_H_
#define TFRECORD_FAST_PIPELINE_DELIVERED_H_

#include <memory>
#include <optional>
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
  // With an order that depends on timing, steps do not come one after the other, and there is no state to ask for.
  // At the end, `fetches` is closed, if there is one.
  Deliveries(CutterState start, std::vector<RecordPlace> shuffled, bool in_order, std::shared_ptr<FetchQueue> fetches)
      : state_(std::move(start)), shuffled_(std::move(shuffled)), in_order_(in_order), fetches_(std::move(fetches)) {}

  // Follows a batch that the caller gets.
  void Take(Cut cut) {
    Settle();
    NoteSkipped(&cut);
    last_ = std::move(cut);
  }

  // What comes after the last batch. It was no batch, so the state stays that after the last one: the sequence and the
  // shuffle buffer both, since draws that nobody got must come again.
  void TakeRest(Cut cut) {
    Settle();
    NoteSkipped(&cut);
  }

  // After the last batch, or before it: the caller may have lost it on its way.
  StreamState State(bool before_last) const {
    if (before_last || !last_) return {state_, shuffled_};
    StreamState state = {last_->after, shuffled_};
    Follow(last_->steps, &state.shuffled);
    return state;
  }

  // The last status of interest. What was in work is lost: to say later that there is nothing more would be wrong,
  // unless what was lost is damaged.
  Status End(Status status) {
    ended_ = true;
    if (fetches_) fetches_->Close();
    if (status.code() == StatusCode::kOutOfMemory) later_ = Status::OutOfMemory();
    if (status.code() == StatusCode::kCancelled) {
      later_ = Status::Closed("reading was interrupted, and can't go on here; start again from a saved state");
    }
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

  void Settle() {
    if (!last_) return;
    state_ = std::move(last_->after);
    Follow(last_->steps, &shuffled_);
    last_.reset();
  }

  void Follow(const std::vector<ShuffleStep>& steps, std::vector<RecordPlace>* shuffled) const {
    if (!in_order_) return;
    for (const ShuffleStep& step : steps) {
      if (step.slot == ShuffleStep::kAppend) {
        shuffled->push_back(step.place);
      } else if (step.place.file == ShuffleStep::kGone) {
        (*shuffled)[step.slot] = shuffled->back();
        shuffled->pop_back();
      } else {
        (*shuffled)[step.slot] = step.place;
      }
    }
  }

  // Before the last batch.
  CutterState state_;
  std::vector<RecordPlace> shuffled_;  // the places in the shuffle buffer
  std::optional<Cut> last_;            // what the last batch has changed, without the batch
  const bool in_order_;
  const std::shared_ptr<FetchQueue> fetches_;
  std::vector<Sequence::SkippedIn> skipped_;
  bool ended_ = false;
  Status later_;
};

}  // namespace tfr

#endif  // TFRECORD_FAST_PIPELINE_DELIVERED_H_
