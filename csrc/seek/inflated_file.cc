// Reading a compressed file at any place; see inflated_file.h.

#include "seek/inflated_file.h"

#include <algorithm>
#include <utility>

namespace tfr {
namespace {

constexpr size_t kMaxIdle = 8;  // streams, each of some 400 KB
constexpr size_t kSkippedAtOnce = 64 << 10;

}  // namespace

InflatedFile::InflatedFile(std::shared_ptr<const File> compressed, CheckpointsPtr checkpoints, int64_t end)
    : compressed_(std::move(compressed)), checkpoints_(std::move(checkpoints)) {
  regular_ = true;
  opened_size_ = std::min(checkpoints_->out_bytes(), end);
}

Status InflatedFile::Open(std::shared_ptr<const File> compressed, CheckpointsPtr checkpoints,
                          std::shared_ptr<InflatedFile>* file, int64_t end) {
  FileIdentity identity;
  TFR_RETURN_IF_ERROR(Identify(*compressed, &identity));
  if (identity != checkpoints->identity()) {
    const int64_t expected = checkpoints->identity().bytes;
    const std::string difference =
        identity.bytes == expected ? "other bytes at its start or end"
                                   : std::to_string(identity.bytes) + " bytes, expected " + std::to_string(expected);
    return Status::InvalidArgument("the index is that of another file, or the file has changed since: it has " +
                                   difference + "; build the index again");
  }
  file->reset(new InflatedFile(std::move(compressed), std::move(checkpoints), end));
  return {};
}

Status InflatedFile::Size(int64_t* size) const {
  *size = opened_size_;
  return {};
}

// Takes the idle stream from the place before `offset` that is closest; if there is none, opens one.
Status InflatedFile::StreamAt(int64_t offset, Stream* stream) const {
  const size_t place = checkpoints_->Before(offset);
  {
    const std::lock_guard lock(mutex_);
    auto best = idle_.end();
    for (auto idle = idle_.begin(); idle != idle_.end(); ++idle) {
      if (idle->place == place && idle->at <= offset && (best == idle_.end() || idle->at > best->at)) best = idle;
    }
    if (best != idle_.end()) {
      *stream = std::move(*best);
      idle_.erase(best);
      return {};
    }
  }
  stream->place = place;
  stream->at = checkpoints_->places()[place].out;
  return checkpoints_->Open(place, compressed_, &stream->source);
}

Status InflatedFile::Advance(Stream* stream, uint8_t* out, size_t size, size_t* got) const {
  TFR_RETURN_IF_ERROR(ReadFully(stream->source.get(), out, size, got));
  stream->at += static_cast<int64_t>(*got);
  if (*got == size) return {};
  return Status::DataLoss("the compressed file ends after " + std::to_string(stream->at) + " bytes of output, not " +
                          std::to_string(opened_size_) + ": it has changed since its index was built");
}

void InflatedFile::Keep(Stream stream) const {
  if (stream.at >= opened_size_) return;
  const std::lock_guard lock(mutex_);
  if (idle_.size() == kMaxIdle) idle_.erase(idle_.begin());
  idle_.push_back(std::move(stream));
}

Status InflatedFile::ReadAt(int64_t offset, uint8_t* out, size_t size, size_t* got) const {
  const iovec part = {out, size};
  return ReadPartsAt(offset, &part, 1, got);
}

Status InflatedFile::ReadPartsAt(int64_t offset, const iovec* parts, size_t count, size_t* got) const {
  *got = 0;
  if (offset >= opened_size_) return {};
  Stream stream;
  TFR_RETURN_IF_ERROR(StreamAt(offset, &stream));
  size_t done = 0;
  if (stream.at < offset) {
    std::vector<uint8_t> skipped(kSkippedAtOnce);
    while (stream.at < offset) {
      const auto size = static_cast<size_t>(std::min<int64_t>(offset - stream.at, kSkippedAtOnce));
      TFR_RETURN_IF_ERROR(Advance(&stream, skipped.data(), size, &done));
    }
  }
  for (size_t i = 0; i < count && stream.at < opened_size_; ++i) {
    const auto left = static_cast<uint64_t>(opened_size_ - stream.at);
    const auto size = static_cast<size_t>(std::min<uint64_t>(parts[i].iov_len, left));
    TFR_RETURN_IF_ERROR(Advance(&stream, static_cast<uint8_t*>(parts[i].iov_base), size, &done));
    *got += done;
  }
  Keep(std::move(stream));
  return {};
}

Status InflatedFile::Read(uint8_t*, size_t, size_t*) const {
  return Status::InvalidArgument("a file of decompressed bytes is read at places");
}

}  // namespace tfr
