// A bounded number of open files out of many.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/status.h"
#include "io/mapped_file.h"
#include "io/source.h"
#include "seek/checkpoints.h"

namespace tfr {

using Path = std::shared_ptr<const std::string>;

// An open file, mapped if the system does that.
struct OpenFile {
  std::shared_ptr<const File> file;
  std::unique_ptr<const MappedFile> mapped;
};

// Opens files on demand; when there are too many, closes the one whose last use is the longest ago. Safe
// from several threads; a file that is closed here stays open for those that still hold it.
class OpenFiles {
 public:
  // `checkpoints` of each file: null if it is not compressed. A compressed file is opened as its uncompressed bytes.
  OpenFiles(std::vector<Path> paths, std::vector<CheckpointsPtr> checkpoints, size_t max_open, bool map);

  // Opens file number `file`. kInvalidArgument if it is not a regular file. Errors carry the path.
  Status Get(size_t file, std::shared_ptr<const OpenFile>* opened);

 private:
  struct Slot {
    std::shared_ptr<const OpenFile> file;  // null: closed
    uint64_t last_use = 0;
  };
  // The system lets no more files be open: closes those whose last use is the longest ago, and keeps fewer from now on.
  // False if there was none.
  bool CloseHalf();
  void Keep(size_t file, std::shared_ptr<const OpenFile> opened);

  const std::vector<Path> paths_;
  const std::vector<CheckpointsPtr> checkpoints_;
  const bool map_;
  std::mutex mutex_;  // guards all below
  size_t max_open_;
  std::vector<Slot> slots_;
  std::vector<size_t> open_;  // numbers of the slots that hold a file
  uint64_t uses_ = 0;
};

}  // namespace tfr
