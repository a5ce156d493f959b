// Opening a file, detecting its compression, and choosing a maker; see open_units.h.

#include "pipeline/open_units.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>
#include <utility>

#include "pipeline/part_maker.h"
#include "pipeline/region_maker.h"
#include "pipeline/stream_maker.h"
#include "seek/checkpoint_store.h"

namespace tfr {
namespace {

constexpr int64_t kSecond = 1'000'000'000;  // in nanoseconds

// Tells the compression by the file's first bytes. A small file is read whole: if it is not compressed, *whole is its
// only unit.
Status Detect(const LaneFile& lane, const File& file, Compression* found, WholeFile* whole) {
  if (lane.start.offset == 0 && !lane.input.part && !file.is_remote() &&
      file.opened_size() <= static_cast<int64_t>(kSmallFile)) {
    whole->buffer = lane.pool->Take(kSmallFile);
    if (!whole->buffer) return Status::OutOfMemory("buffer of " + std::to_string(kSmallFile) + " bytes");
    TFR_RETURN_IF_ERROR(
        file.ReadFullyAt(0, whole->buffer->data(), static_cast<size_t>(file.opened_size()), &whole->size));
    *found = DetectCompression(whole->buffer->data(), std::min(whole->size, kDetectBytes));
    if (*found != Compression::kNone) whole->buffer.reset();
    return {};
  }
  uint8_t head[kDetectBytes];
  size_t got = 0;
  TFR_RETURN_IF_ERROR(file.ReadFullyAt(0, head, sizeof head, &got));
  *found = DetectCompression(head, got);
  return {};
}

Status OpenPart(const LaneFile& lane, std::shared_ptr<File> file, Compression found,
                std::unique_ptr<UnitMaker>* maker) {
  const int64_t end = lane.input.part->end;
  const CheckpointsPtr& checkpoints = lane.input.part->checkpoints;
  if (checkpoints) {
    std::shared_ptr<InflatedFile> inflated;
    TFR_RETURN_IF_ERROR(InflatedFile::Open(std::move(file), checkpoints, &inflated, end));
    auto frames = std::make_unique<FileSource>(std::move(inflated), lane.start.offset);
    *maker = std::make_unique<StreamMaker>(lane, std::move(frames), lane.start);
    return {};
  }
  if (found != Compression::kNone) {
    return Status::InvalidArgument(
        std::string("a compressed file needs checkpoints to be read by byte range; this one is ") +
        CompressionName(found));
  }
  if (file->opened_size() < end) {
    return Status::DataLoss("the file ends at byte " + std::to_string(file->opened_size()) + ", before byte " +
                            std::to_string(end) + ", the end of the requested range; has the file changed?")
        .WithRecord(lane.start.offset, lane.start.index);
  }
  file->WillRead(lane.start.offset, end);
  *maker = std::make_unique<RegionMaker>(lane, std::move(file), WholeFile());
  return {};
}

Status CheckStamp(const File& file, const FileStamp& stamp) {
  struct stat now;
  if (::fstat(file.descriptor(), &now) != 0) return Status::Errno(errno, "fstat");
#if defined(__APPLE__)
  const timespec modified = now.st_mtimespec;
#else
  const timespec modified = now.st_mtim;
#endif
  if (now.st_size == stamp.bytes && modified.tv_sec * kSecond + modified.tv_nsec == stamp.modified) return {};
  return Status::OsError(ESTALE, "the file has changed since it was divided into parts");
}

// A compressed file that will probably be read again. What was noted when this process read it before lets several
// threads decompress it.
Status OpenWithCheckpoints(const LaneFile& lane, std::shared_ptr<File> file, Compression compression,
                           std::unique_ptr<UnitMaker>* maker) {
  std::shared_ptr<InflatedFile> inflated;
  TFR_RETURN_IF_ERROR(CheckpointStore::OfProcess().Open(*lane.input.path, file, &inflated));
  if (inflated) {
    *maker = std::make_unique<RegionMaker>(lane, inflated);
    return {};
  }
  std::shared_ptr<Recording> recording = Recording::Start(*lane.input.path, file, compression);
  std::shared_ptr<RestartLog> log = recording ? recording->log() : nullptr;
  auto frames = NewDecompressingSource(std::make_unique<FileSource>(std::move(file)), compression, 0, std::move(log));
  *maker = std::make_unique<StreamMaker>(lane, std::move(frames), Place(), std::move(recording));
  return {};
}

// A regular file: any part of it can be read at any time.
Status OpenRegular(const LaneFile& lane, std::shared_ptr<File> file, CompressionChoice choice,
                   std::unique_ptr<UnitMaker>* maker) {
  WholeFile whole;
  if (!choice) TFR_RETURN_IF_ERROR(Detect(lane, *file, &choice.emplace(), &whole));
  if (lane.input.part) return OpenPart(lane, std::move(file), *choice, maker);
  file->WillRead(*choice == Compression::kNone ? lane.start.offset : 0, INT64_MAX);
  if (*choice == Compression::kNone) {
    *maker = std::make_unique<RegionMaker>(lane, std::move(file), std::move(whole));
    return {};
  }
  std::optional<PartSizes> first;
  TFR_RETURN_IF_ERROR(PartMaker::LookForPart(*file, *choice, 0, &first));
  if (first) {
    *maker = std::make_unique<PartMaker>(lane, std::move(file), *choice);
    return {};
  }
  if (lane.options.keep_checkpoints && lane.options.on_corrupt == OnCorrupt::kRaise && !file->is_remote()) {
    return OpenWithCheckpoints(lane, std::move(file), *choice, maker);
  }
  *maker = std::make_unique<StreamMaker>(lane, std::make_unique<FileSource>(std::move(file)), choice);
  return {};
}

}  // namespace

Status OpenObject(const LaneFile& lane, const std::shared_ptr<RemoteFile>& object, std::unique_ptr<UnitMaker>* maker) {
  TFR_RETURN_IF_ERROR(object->Open());
  return OpenRegular(lane, object, lane.options.compression, maker);
}

Status OpenUnits(const LaneFile& lane, int64_t size, std::unique_ptr<UnitMaker>* maker) {
  const CompressionChoice choice = lane.options.compression;
  if (lane.input.open) {
    std::unique_ptr<Source> source;
    TFR_RETURN_IF_ERROR(lane.input.open(&source));
    *maker = std::make_unique<StreamMaker>(lane, std::move(source), choice);
    return {};
  }
  const std::string& path = *lane.input.path;
  std::shared_ptr<File> file;
  TFR_RETURN_IF_ERROR(size >= 0 ? File::OpenFound(path, size, &file) : File::Open(path, &file));
  if (lane.input.stamp) TFR_RETURN_IF_ERROR(CheckStamp(*file, *lane.input.stamp));
  if (file->regular()) return OpenRegular(lane, std::move(file), choice, maker);
  *maker = std::make_unique<StreamMaker>(lane, std::make_unique<FileSource>(std::move(file)), choice);
  return {};
}

}  // namespace tfr
