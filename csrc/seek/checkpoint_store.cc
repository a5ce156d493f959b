// Keeping checkpoints for the next reading; see checkpoint_store.h.

#include "seek/checkpoint_store.h"

#include <algorithm>
#include <mutex>
#include <utility>

namespace tfr {
namespace {

constexpr int64_t kWorthKeeping = 1 << 20;      // bytes of a compressed file
constexpr int64_t kSpacing = 256 << 10;         // so that what a thread has decompressed is still in its cache
constexpr int64_t kMaxStretch = 8 << 20;        // bytes of output that one thread decompresses at a time
constexpr size_t kMaxKept = size_t{128} << 20;  // bytes of all checkpoints

}  // namespace

CheckpointStore& CheckpointStore::OfProcess() {
  static auto* const store = new CheckpointStore;  // never destroyed: threads may outlive main
  return *store;
}

Status CheckpointStore::Open(const std::string& path, const std::shared_ptr<const File>& compressed,
                             std::shared_ptr<InflatedFile>* file) {
  file->reset();
  CheckpointsPtr checkpoints;
  {
    const std::lock_guard lock(mutex_);
    for (const Entry& entry : entries_) {
      if (entry.path == path) checkpoints = entry.checkpoints;
    }
  }
  if (!checkpoints) return {};
  Status status = InflatedFile::Open(compressed, std::move(checkpoints), file);
  if (status.code() != StatusCode::kInvalidArgument) return status;
  Drop(path);
  return {};
}

bool CheckpointStore::IsRecording(const std::string& path) {
  const std::lock_guard lock(mutex_);
  return recording_.contains(path);
}

bool CheckpointStore::Begin(const std::string& path) {
  const std::lock_guard lock(mutex_);
  return recording_.insert(path).second;
}

void CheckpointStore::Drop(const std::string& path) {
  const std::lock_guard lock(mutex_);
  std::erase_if(entries_, [&](const Entry& entry) {
    if (entry.path == path) bytes_ -= entry.checkpoints->bytes();
    return entry.path == path;
  });
}

void CheckpointStore::End(const std::string& path, CheckpointsPtr checkpoints) {
  Drop(path);
  const std::lock_guard lock(mutex_);
  recording_.erase(path);
  if (!checkpoints || checkpoints->bytes() > kMaxKept) return;
  bytes_ += checkpoints->bytes();
  entries_.push_back({path, std::move(checkpoints)});
  for (; bytes_ > kMaxKept; entries_.pop_front()) bytes_ -= entries_.front().checkpoints->bytes();
}

std::shared_ptr<Recording> Recording::Start(const std::string& path, const std::shared_ptr<const File>& compressed,
                                            Compression compression) {
  if (compressed->opened_size() < kWorthKeeping || !CheckpointStore::OfProcess().Begin(path)) return nullptr;
  auto log =
      std::make_shared<CheckpointLog>(compressed, compression, kSpacing, CheckpointLog::Windows::kWhole, kMaxKept / 2);
  return std::shared_ptr<Recording>(new Recording(path, std::move(log)));
}

Recording::~Recording() { CheckpointStore::OfProcess().End(path_, std::move(finished_)); }

void Recording::Finish(int64_t out_bytes) {
  CheckpointsPtr checkpoints;
  if (!log_->Finish(out_bytes, &checkpoints).ok() || !checkpoints) return;
  if (checkpoints->longest() <= kMaxStretch) finished_ = std::move(checkpoints);
}

}  // namespace tfr
