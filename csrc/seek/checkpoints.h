// Places in a compressed file where decompression can begin, about one per MiB of output: what makes it possible to
// read such a file from the middle.
//
// A place inside a part (codec/codec.h) has the 32 KiB of output before it, compressed. A place between parts has none.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "codec/codec.h"
#include "io/source.h"

namespace tfr {

// The size of a file, and a checksum of its first and last bytes. Copies of a file have the same identity.
struct FileIdentity {
  int64_t bytes = 0;
  uint32_t ends = 0;
  bool operator==(const FileIdentity&) const = default;
};
Status Identify(const File& file, FileIdentity* identity);

struct Checkpoint {
  int64_t bit = 0;  // of the compressed file
  int64_t out = 0;  // how many bytes of output come before it
  bool inside = false;
  size_t window_end = 0;  // of its window among the windows of all; it begins where the one before it ends
};

class Checkpoints;
using CheckpointsPtr = std::shared_ptr<const Checkpoints>;

// Immutable.
class Checkpoints {
 public:
  Compression compression() const { return compression_; }
  const FileIdentity& identity() const { return identity_; }
  int64_t out_bytes() const { return out_bytes_; }
  // The first is the start of the file; they ascend.
  const std::vector<Checkpoint>& places() const { return places_; }
  // The last place that is not after `out`, which is not negative.
  size_t Before(int64_t out) const;
  // The most bytes of output between two places, or after the last.
  int64_t longest() const;
  // How much memory they take.
  size_t bytes() const { return windows_.size() + places_.size() * sizeof(Checkpoint); }

  // A source of the output from this place on. `file` is the compressed one.
  Status Open(size_t place, const std::shared_ptr<const File>& file, std::unique_ptr<Source>* source) const;

  // Of these places, the start and the last one that is not after `out`.
  CheckpointsPtr Only(int64_t out) const;

  // As bytes that begin with how many they are (not with whole windows); and back. kInvalidArgument if they are not
  // those of such places.
  void Write(std::string* to) const;
  static Status Read(std::string_view* from, CheckpointsPtr* checkpoints);

 private:
  friend class CheckpointLog;

  Compression compression_;
  FileIdentity identity_;
  int64_t out_bytes_ = 0;
  bool packed_ = true;  // the windows are compressed
  std::vector<Checkpoint> places_ = {{}};
  std::string windows_;
};

// Notes places while a whole file is decompressed for the first time.
class CheckpointLog : public RestartLog {
 public:
  static constexpr int64_t kSpacing = 1 << 20;  // bytes of output

  // Packing a window takes a tenth of the time that decompressing up to it takes; whole ones are ten times as large.
  enum class Windows : uint8_t { kPacked, kWhole };

  // If whole windows come to more than `most` bytes, half of the places are dropped.
  CheckpointLog(std::shared_ptr<const File> file, Compression compression, int64_t spacing = kSpacing,
                Windows windows = Windows::kPacked, size_t most = SIZE_MAX);
  bool Wants(int64_t out) const override { return out >= next_; }
  Status Add(int64_t bit, int64_t out, bool inside, Bytes window) override;
  // The file has been read to its end, of `out_bytes` bytes of output.
  Status Finish(int64_t out_bytes, CheckpointsPtr* checkpoints);

 private:
  Status KeepWindow();
  void Thin();
  Status FindUsed(const Checkpoint& place, std::vector<uint8_t>* used) const;

  const std::shared_ptr<const File> file_;
  std::shared_ptr<Checkpoints> made_;
  int64_t spacing_;
  const size_t most_;
  int64_t next_;
  std::vector<uint8_t> window_;  // of the last place
};

// Numbers as varints, and blocks of bytes, in side files.
void WriteVarint(uint64_t value, std::string* to);
bool ReadVarint(std::string_view* from, uint64_t* value);
// Compressed bytes; null if out of memory.
Status WritePacked(Bytes bytes, std::string* to);
// The first `size` bytes that `packed` holds. kInvalidArgument if these are not all that it holds.
Status Unpack(std::string_view packed, size_t size, std::string* bytes);

}  // namespace tfr
