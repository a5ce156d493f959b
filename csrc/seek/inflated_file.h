// A compressed file as a file of its uncompressed bytes, which can be read at any place.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/status.h"
#include "io/source.h"
#include "seek/checkpoints.h"

namespace tfr {

// Reads decompress from the checkpoint before, or go on where an earlier read from there has ended: what damage has
// spoilt ends at the next checkpoint. Any number of threads may read.
class InflatedFile final : public File {
 public:
  // Up to the byte `end` of the output. kInvalidArgument if the checkpoints are those of another file.
  static Status Open(std::shared_ptr<const File> compressed, CheckpointsPtr checkpoints,
                     std::shared_ptr<InflatedFile>* file, int64_t end = INT64_MAX);

  const Checkpoints& checkpoints() const { return *checkpoints_; }

  Status Size(int64_t* size) const override;
  Status ReadAt(int64_t offset, uint8_t* out, size_t size, size_t* got) const override;
  Status ReadPartsAt(int64_t offset, const iovec* parts, size_t count, size_t* got) const override;
  Status Read(uint8_t* out, size_t size, size_t* got) const override;

 private:
  // A stream of the output, and where in the output it is.
  struct Stream {
    std::unique_ptr<Source> source;
    size_t place = 0;  // where it was opened
    int64_t at = 0;
  };

  InflatedFile(std::shared_ptr<const File> compressed, CheckpointsPtr checkpoints, int64_t end);
  Status StreamAt(int64_t offset, Stream* stream) const;
  Status Advance(Stream* stream, uint8_t* out, size_t size, size_t* got) const;
  void Keep(Stream stream) const;

  const std::shared_ptr<const File> compressed_;
  const CheckpointsPtr checkpoints_;
  mutable std::mutex mutex_;
  mutable std::vector<Stream> idle_;  // the one used last is last
};

}  // namespace tfr
