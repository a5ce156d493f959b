// The order in which bytes of objects are requested; see read_ahead.h.

#include "pipeline/read_ahead.h"

#include <algorithm>
#include <utility>

namespace tfr {
namespace {

// How many objects, for each concurrent request, are open before they are read: small ones come and go quickly.
constexpr size_t kOpenPerRequest = 4;

}  // namespace

ReadAhead::ReadAhead(const std::vector<InputFile>& files, const SequenceOptions& options, CompressionChoice compression,
                     std::shared_ptr<FetchQueue> queue)
    : together_(SlotsFor(options, files.size())),
      compression_(compression),
      queue_(std::move(queue)),
      order_(files.size(), options) {
  for (const InputFile& file : files) objects_.push_back({file.object, file.part});
}

std::shared_ptr<ReadAhead> ReadAhead::Start(const std::vector<InputFile>& files, const SequenceOptions& options,
                                            CompressionChoice compression, std::shared_ptr<FetchQueue> queue) {
  if (!queue) return nullptr;
  auto made = std::make_shared<ReadAhead>(files, options, compression, queue);
  queue->Tell(made);
  return made;
}

// A compressed file is read from its start, wherever its records are wanted from; its first bytes show the compression.
std::shared_ptr<RemoteFile> ReadAhead::Make(const Object& input, Place start) const {
  int64_t from = start.offset;
  if ((from > 0 || input.part) && !compression_) from = RemoteFile::kLater;
  if (from > 0 && *compression_ != Compression::kNone) from = 0;
  const int64_t to = input.part ? input.part->end : INT64_MAX;
  return std::make_shared<RemoteFile>(queue_, *input.object, from, static_cast<int64_t>(kDetectBytes), to);
}

std::shared_ptr<RemoteFile> ReadAhead::OpenAlone(const InputFile& file, const std::shared_ptr<FetchQueue>& queue) {
  return std::make_shared<RemoteFile>(queue, *file.object, RemoteFile::kLater, static_cast<int64_t>(kDetectBytes));
}

void ReadAhead::Begin(int64_t epoch, size_t turn) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    next_epoch_ = epoch;
    next_turn_ = turn;
    begun_ = true;
  }
  Continue();
}

std::shared_ptr<RemoteFile> ReadAhead::Open(int64_t epoch, size_t turn, size_t file, Place start) {
  std::shared_ptr<RemoteFile> opened;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto place = std::pair(epoch, turn);
    const auto found = std::find_if(entries_.begin(), entries_.end(),
                                    [&](const Entry& entry) { return std::pair(entry.epoch, entry.turn) >= place; });
    if (found != entries_.end() && std::pair(found->epoch, found->turn) == place && found->unopened) {
      opened = std::move(found->unopened);
    } else {
      opened = Make(objects_[file], start);
      entries_.insert(found, {epoch, turn, nullptr, opened});
      if (begun_ && place >= std::pair(next_epoch_, next_turn_)) {
        next_epoch_ = epoch;
        next_turn_ = turn + 1;
      }
    }
  }
  Continue();
  return opened;
}

// Opens the next object, if there is one and not too many wait already.
bool ReadAhead::Extend() {
  const auto waiting = static_cast<size_t>(
      std::count_if(entries_.begin(), entries_.end(), [](const Entry& entry) { return entry.unopened != nullptr; }));
  if (waiting >= kOpenPerRequest * queue_->options().requests) return false;
  for (size_t looked_at = 0; looked_at < objects_.size(); ++looked_at) {
    if (next_turn_ >= objects_.size()) {
      ++next_epoch_;
      next_turn_ = 0;
    }
    if (!order_.HasEpoch(next_epoch_)) return false;
    const Object& input = objects_[order_.At(next_epoch_, next_turn_)];
    const size_t turn = next_turn_++;
    if (!input.object) continue;
    std::shared_ptr<RemoteFile> file = Make(input, input.part ? input.part->begin : Place());
    entries_.push_back({next_epoch_, turn, file, file});
    return true;
  }
  return false;
}

// Removes the objects that have no other owner, or are requested to their end.
void ReadAhead::Forget() {
  std::erase_if(entries_, [](const Entry& entry) {
    if (entry.unopened) return false;
    const std::shared_ptr<RemoteFile> file = entry.file.lock();
    return !file || !file->HasMoreToAsk();
  });
}

// Asks for one block: of the file among those read together that has the least ahead, or of a later one.
bool ReadAhead::AskOne() {
  std::vector<std::pair<int64_t, std::shared_ptr<RemoteFile>>> first;
  for (size_t i = 0; i < std::min(together_, entries_.size()); ++i) {
    if (std::shared_ptr<RemoteFile> file = entries_[i].file.lock()) first.emplace_back(file->ahead(), std::move(file));
  }
  std::stable_sort(first.begin(), first.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [ahead, file] : first) {
    if (file->AskNext()) return true;
  }
  for (size_t i = together_; i < entries_.size(); ++i) {
    const std::shared_ptr<RemoteFile> file = entries_[i].file.lock();
    if (file && file->AskNext()) return true;
  }
  return false;
}

void ReadAhead::Continue() {
  std::lock_guard<std::mutex> lock(mutex_);
  while (begun_ && queue_->HasRoom(queue_->options().block_bytes)) {
    Forget();
    if (!AskOne() && !Extend()) return;
  }
}

}  // namespace tfr
