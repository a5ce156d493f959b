// Finds the records of a file by hopping from header to header; see record_index.h.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "framing/format.h"
#include "framing/open.h"
#include "framing/reader.h"
#include "index/record_index.h"
#include "io/source.h"

namespace tfr {
namespace {

// Up to this mean size of a record, what lies between two headers is read too: that costs less than a call for each
// header. Measured.
constexpr int64_t kHopBytes = 32 << 10;
// The same of an object, where a call waits for a server.
constexpr int64_t kRemoteHopBytes = 8 << 20;
constexpr size_t kWindowBytes = 128 << 10;
constexpr int kCallsBetweenInterrupts = 1024;

// The part of a file that was read last.
class Window {
 public:
  explicit Window(const File* file) : file_(file), bytes_(new uint8_t[kWindowBytes]) {}

  // Makes sure that the header at `offset` lies in the window, or as much of it as the file has. Reads up to `ahead`
  // bytes if it has to read at all.
  Status Show(int64_t offset, size_t ahead) {
    if (offset >= begin_ && offset + static_cast<int64_t>(kHeaderBytes) <= begin_ + static_cast<int64_t>(size_))
      return {};
    if (++calls_ % kCallsBetweenInterrupts == 0) TFR_RETURN_IF_ERROR(CheckInterrupt());
    file_->Pass(begin_, offset);
    begin_ = offset;
    size_ = 0;
    do {
      size_t got = 0;
      TFR_RETURN_IF_ERROR(
          file_->ReadAt(begin_ + static_cast<int64_t>(size_), bytes_.get() + size_, ahead - size_, &got));
      if (got == 0) break;
      size_ += got;
    } while (size_ < kHeaderBytes);
    return {};
  }

  const uint8_t* at(int64_t offset) const { return bytes_.get() + (offset - begin_); }
  size_t shown(int64_t offset) const { return size_ - static_cast<size_t>(offset - begin_); }

 private:
  const File* file_;
  std::unique_ptr<uint8_t[]> bytes_;
  int64_t begin_ = 0;
  size_t size_ = 0;
  int calls_ = 0;
};

Status BuildCompressed(const std::shared_ptr<File>& file, Compression compression, uint64_t most, int64_t spacing,
                       RecordIndexPtr* index) {
  auto log = std::make_shared<CheckpointLog>(file, compression, spacing);
  BufferPool pool(2 * RecordReader::Options().chunk_bytes);
  RecordReader::Options options;
  options.most = most;
  RecordReader reader(NewDecompressingSource(std::make_unique<FileSource>(file), compression, 0, log), &pool, options);
  IndexBuilder builder;
  while (true) {
    Chunk chunk;
    TFR_RETURN_IF_ERROR(CheckInterrupt());
    TFR_RETURN_IF_ERROR(reader.Next(&chunk));
    if (chunk.records.empty()) {
      CheckpointsPtr checkpoints;
      TFR_RETURN_IF_ERROR(log->Finish(chunk.end.offset, &checkpoints));
      *index = builder.Finish(std::move(checkpoints));
      return {};
    }
    for (size_t i = 0; i < chunk.records.size(); ++i) {
      builder.Add(chunk.PlaceOf(i).offset, static_cast<int64_t>(chunk.records[i].size + kFrameBytes));
    }
  }
}

Status Build(const File& file, uint64_t most, RecordIndexPtr* index) {
  if (!file.regular()) return Status::InvalidArgument("not a regular file; random access needs one");
  int64_t end = 0;
  TFR_RETURN_IF_ERROR(file.Size(&end));
  Window window(&file);
  IndexBuilder builder;
  int64_t mean = 0;
  const int64_t hop_bytes = file.is_remote() ? kRemoteHopBytes : kHopBytes;
  for (int64_t offset = 0; offset < end;) {
    const auto record = static_cast<int64_t>(builder.size());
    TFR_RETURN_IF_ERROR(window.Show(offset, mean <= hop_bytes ? kWindowBytes : kHeaderBytes));
    const uint8_t* header = window.at(offset);
    const size_t shown = window.shown(offset);
    if (offset == 0) {
      const Compression compression = DetectCompression(header, shown);
      if (compression != Compression::kNone) {
        return Status::InvalidArgument(
            "it is compressed (" + std::string(CompressionName(compression)) +
            "): of compressed files only local ones can be indexed; copy it, or rewrite it with tfrecord-fast convert");
      }
    }
    if (shown < kHeaderBytes) return Truncated(offset, record, header, shown);
    const uint64_t length = RecordLength(header);
    const HeaderState state = JudgeHeader(header, most);
    if (state == HeaderState::kBadCrc) return BadHeader(offset, record);
    if (state == HeaderState::kTooLarge) return TooLarge(offset, record, length, most);
    if (length + kFrameBytes > static_cast<uint64_t>(end - offset)) {
      return Truncated(offset, record, header, static_cast<size_t>(end - offset));
    }
    const auto size = static_cast<int64_t>(length + kFrameBytes);
    builder.Add(offset, size);
    offset += size;
    mean += (size - mean) / 8;
  }
  *index = builder.Finish();
  return {};
}

}  // namespace

Status BuildIndex(const std::string& path, uint64_t max_record_bytes, int64_t spacing, RecordIndexPtr* index) {
  std::shared_ptr<File> file;
  TFR_RETURN_IF_ERROR(File::Open(path, &file));
  uint8_t head[kDetectBytes];
  size_t got = 0;
  if (file->regular()) TFR_RETURN_IF_ERROR(file->ReadFullyAt(0, head, sizeof head, &got).WithPath(path));
  const Compression compression = DetectCompression(head, got);
  if (compression != Compression::kNone && spacing > 0) {
    return BuildCompressed(file, compression, max_record_bytes, spacing, index).WithPath(path);
  }
  return Build(*file, max_record_bytes, index).WithPath(path);
}

Status BuildIndex(const IndexOrigin& origin, const std::shared_ptr<FetchQueue>& fetches, uint64_t max_record_bytes,
                  RecordIndexPtr* index) {
  RemoteFile object(fetches, *origin.object, 0);
  object.AskBySelf();
  TFR_RETURN_IF_ERROR(object.Open().WithPath(origin.path));
  return Build(object, max_record_bytes, index).WithPath(origin.path);
}

}  // namespace tfr
