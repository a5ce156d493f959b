// Opening files in order, and ahead of their turn; see open_lanes.h.

#include "pipeline/open_lanes.h"

#include <algorithm>
#include <utility>

#include "seek/checkpoint_store.h"

namespace tfr {

OpenLanes::OpenLanes(const std::vector<InputFile>& files, FileOrder* order, const LaneOptions& options,
                     BufferPool* pool, size_t max_open, std::shared_ptr<ReadAhead> ahead)
    : files_(files), order_(order), options_(options), pool_(pool), ahead_(std::move(ahead)), max_open_(max_open) {}

std::shared_ptr<Lane> OpenLanes::Make(int64_t epoch, size_t turn, Place start) {
  const uint32_t file = order_->At(epoch, turn);
  start = files_[file].First(start);
  std::shared_ptr<RemoteFile> object = files_[file].object ? ahead_->Open(epoch, turn, file, start) : nullptr;
  return std::make_shared<Lane>(files_[file], file, turn, start, options_, pool_, std::move(object));
}

std::shared_ptr<Lane> OpenLanes::Open(int64_t epoch, size_t turn, Place start) {
  for (Entry& entry : lanes_) {
    if (entry.epoch == epoch && entry.turn == turn) {
      entry.given = true;
      return entry.lane;
    }
  }
  std::shared_ptr<Lane> lane = Make(epoch, turn, start);
  lanes_.push_back({epoch, turn, lane, true});
  if (std::pair(epoch, turn) >= std::pair(ahead_epoch_, ahead_turn_)) {
    ahead_epoch_ = epoch;
    ahead_turn_ = turn + 1;
  }
  return lane;
}

void OpenLanes::Retire(const std::shared_ptr<Lane>& lane) {
  const auto place = std::find_if(lanes_.begin(), lanes_.end(), [&](const Entry& entry) { return entry.lane == lane; });
  if (place != lanes_.end()) lanes_.erase(place);
}

std::shared_ptr<Lane> OpenLanes::PickForWorker(size_t more) {
  for (const Entry& entry : lanes_) {
    if (entry.lane->CanClaim(Caller::kWorker)) return entry.lane;
  }
  if (lanes_.size() >= max_open_ + (scarce_ ? 0 : more) || files_.empty()) return nullptr;
  if (ahead_turn_ >= files_.size()) {
    ++ahead_epoch_;
    ahead_turn_ = 0;
  }
  if (!order_->HasEpoch(ahead_epoch_)) return nullptr;
  // At the end of this epoch its checkpoints will be there.
  const InputFile& next = files_[order_->At(ahead_epoch_, ahead_turn_)];
  if (options_.keep_checkpoints && next.path && CheckpointStore::OfProcess().IsRecording(*next.path)) return nullptr;
  std::shared_ptr<Lane> lane = Make(ahead_epoch_, ahead_turn_, {});
  lanes_.push_back({ahead_epoch_, ahead_turn_++, lane, false});
  return lane->CanClaim(Caller::kWorker) ? lane : nullptr;
}

std::shared_ptr<Lane> OpenLanes::PickGiven() const {
  for (const Entry& entry : lanes_) {
    if (entry.given && entry.lane->CanClaim(Caller::kWorker)) return entry.lane;
  }
  return nullptr;
}

void OpenLanes::OpenNoMore() {
  const auto open =
      std::count_if(lanes_.begin(), lanes_.end(), [](const Entry& entry) { return !entry.lane->unopened(); });
  scarce_ = true;
  max_open_ = std::min(max_open_, std::max<size_t>(static_cast<size_t>(open), 1));
}

size_t OpenLanes::CloseAhead() {
  size_t bytes = 0;
  for (; !lanes_.empty() && !lanes_.back().given; lanes_.pop_back()) {
    bytes += lanes_.back().lane->ready_bytes();
    ahead_epoch_ = lanes_.back().epoch;
    ahead_turn_ = lanes_.back().turn;
  }
  return bytes;
}

void OpenLanes::CancelAll() {
  for (const Entry& entry : lanes_) entry.lane->Cancel();
}

}  // namespace tfr
