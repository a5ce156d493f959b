// The checkpoints of compressed files that this process has read to their ends: when it reads one of them again,
// several threads can decompress it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <string>

#include "base/process.h"
#include "base/status.h"
#include "codec/codec.h"
#include "io/source.h"
#include "seek/checkpoints.h"
#include "seek/inflated_file.h"

namespace tfr {

// Bounded; what was kept first goes first. Any number of threads may call.
class CheckpointStore {
 public:
  static CheckpointStore& OfProcess();

  // The file as its uncompressed bytes, or null: its checkpoints are not known, or it has changed.
  Status Open(const std::string& path, const std::shared_ptr<const File>& compressed,
              std::shared_ptr<InflatedFile>* file);
  // True if a reader of the file notes its checkpoints at this moment.
  bool IsRecording(const std::string& path);

 private:
  friend class Recording;
  struct Entry {
    std::string path;
    CheckpointsPtr checkpoints;
  };

  bool Begin(const std::string& path);
  void End(const std::string& path, CheckpointsPtr checkpoints);
  void Drop(const std::string& path);

  ForkSafeMutex mutex_;
  std::deque<Entry> entries_;
  size_t bytes_ = 0;
  std::set<std::string> recording_;
};

// One reading of a file from which its checkpoints are noted. If it does not come to the end, nothing is kept.
class Recording {
 public:
  // Null if the file is too small to be worth it, or another reader does it.
  static std::shared_ptr<Recording> Start(const std::string& path, const std::shared_ptr<const File>& compressed,
                                          Compression compression);
  ~Recording();

  const std::shared_ptr<CheckpointLog>& log() const { return log_; }
  // The file was read to its end, of `out_bytes` bytes.
  void Finish(int64_t out_bytes);

 private:
  Recording(const std::string& path, std::shared_ptr<CheckpointLog> log) : path_(path), log_(std::move(log)) {}

  const std::string path_;
  const std::shared_ptr<CheckpointLog> log_;
  CheckpointsPtr finished_;
};

}  // namespace tfr
