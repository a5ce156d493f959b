// Opening files, and closing the one unused for the longest; see open_files.h.

#include "index/open_files.h"

#include <algorithm>
#include <utility>

#include "seek/inflated_file.h"

namespace tfr {

OpenFiles::OpenFiles(std::vector<Path> paths, std::vector<CheckpointsPtr> checkpoints, size_t max_open, bool map)
    : paths_(std::move(paths)),
      checkpoints_(std::move(checkpoints)),
      map_(map),
      max_open_(std::max<size_t>(max_open, 1)),
      slots_(paths_.size()) {}

Status OpenFiles::Get(size_t file, std::shared_ptr<const OpenFile>* opened) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    slots_[file].last_use = ++uses_;
    *opened = slots_[file].file;
    if (*opened) return {};
  }
  // Without the lock: opening may take long. If another thread opens it too, one of the two is kept.
  std::shared_ptr<File> fresh;
  Status status = File::Open(*paths_[file], &fresh, Access::kRandom);
  while (status.too_many_open_files() && CloseHalf()) {
    status = File::Open(*paths_[file], &fresh, Access::kRandom);
  }
  TFR_RETURN_IF_ERROR(std::move(status));
  if (!fresh->regular()) {
    return Status::InvalidArgument("not a regular file; random access needs one").WithPath(*paths_[file]);
  }
  auto both = std::make_shared<OpenFile>();
  if (checkpoints_[file]) {
    std::shared_ptr<InflatedFile> inflated;
    TFR_RETURN_IF_ERROR(InflatedFile::Open(std::move(fresh), checkpoints_[file], &inflated).WithPath(*paths_[file]));
    fresh = std::move(inflated);
  } else if (map_) {
    both->mapped = MappedFile::Map(*fresh);
  }
  both->file = std::move(fresh);
  *opened = both;
  Keep(file, std::move(both));
  return {};
}

void OpenFiles::Keep(size_t file, std::shared_ptr<const OpenFile> opened) {
  std::shared_ptr<const OpenFile> closed;  // after the lock is let go
  std::lock_guard<std::mutex> lock(mutex_);
  if (slots_[file].file) return;
  if (open_.size() >= max_open_) {
    const auto oldest = std::min_element(
        open_.begin(), open_.end(), [this](size_t a, size_t b) { return slots_[a].last_use < slots_[b].last_use; });
    closed = std::move(slots_[*oldest].file);
    slots_[*oldest].file = nullptr;
    *oldest = file;
  } else {
    open_.push_back(file);
  }
  slots_[file].file = std::move(opened);
}

bool OpenFiles::CloseHalf() {
  std::vector<std::shared_ptr<const OpenFile>> closed;  // after the lock is let go
  std::lock_guard<std::mutex> lock(mutex_);
  std::sort(open_.begin(), open_.end(), [this](size_t a, size_t b) { return slots_[a].last_use > slots_[b].last_use; });
  const size_t kept = open_.size() / 2;
  for (size_t i = kept; i < open_.size(); ++i) closed.push_back(std::move(slots_[open_[i]].file));
  open_.resize(kept);
  max_open_ = std::max<size_t>(kept, 1);
  return !closed.empty();
}

}  // namespace tfr
