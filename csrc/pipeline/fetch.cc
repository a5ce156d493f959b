// Reading records by their places; see fetch.h.

#include "pipeline/fetch.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "framing/format.h"
#include "framing/reader.h"

namespace tfr {
namespace {

Status NothingThere(const RecordPlace& place) {
  return Status::DataLoss("no intact record where the saved state says there is one; has the file changed?")
      .WithRecord(place.place.offset, place.place.index);
}

Status FetchAt(const File& file, const LaneOptions& options, ShuffleItem* item) {
  const int64_t offset = item->place.place.offset;
  const int64_t data_at = offset + static_cast<int64_t>(kHeaderBytes);
  uint8_t header[kHeaderBytes];
  size_t got = 0;
  TFR_RETURN_IF_ERROR(file.ReadFullyAt(offset, header, sizeof header, &got));
  if (got < sizeof header || JudgeHeader(header, options.max_record_bytes) != HeaderState::kIntact)
    return NothingThere(item->place);
  const uint64_t length = RecordLength(header);
  int64_t size = 0;
  TFR_RETURN_IF_ERROR(file.Size(&size));
  const int64_t left = std::max<int64_t>(size - data_at, 0);
  if (length + kFooterBytes > static_cast<uint64_t>(left)) return NothingThere(item->place);
  std::shared_ptr<Buffer> buffer = Buffer::Allocate(length + kFooterBytes);
  if (!buffer) return Status::OutOfMemory("record of " + std::to_string(length) + " bytes");
  TFR_RETURN_IF_ERROR(file.ReadFullyAt(data_at, buffer->data(), length + kFooterBytes, &got));
  if (got < length + kFooterBytes) return NothingThere(item->place);
  if (options.verify_data && !DataIsIntact(buffer->data(), length)) return NothingThere(item->place);
  item->record = {buffer->data(), length};
  item->owner = std::move(buffer);
  return {};
}

// `wanted` is sorted by index. Goes past damage if the reading that found the records did.
Status FetchFromStream(std::unique_ptr<Source> frames, BufferPool* pool, const LaneOptions& options,
                       const std::vector<ShuffleItem*>& wanted) {
  RecordReader reader(std::move(frames), pool, {.most = options.max_record_bytes});
  size_t found = 0;
  while (found < wanted.size()) {
    Chunk chunk;
    Status status = reader.Next(&chunk);
    if (options.on_corrupt == OnCorrupt::kSkip && status.code() == StatusCode::kDataLoss) {
      std::vector<Skipped> skipped;
      TFR_RETURN_IF_ERROR(reader.Resume({}, &skipped));
      continue;
    }
    TFR_RETURN_IF_ERROR(std::move(status));
    if (chunk.records.empty()) return NothingThere(wanted[found]->place);
    for (; found < wanted.size(); ++found) {
      const int64_t i = wanted[found]->place.place.index - chunk.first_index;
      if (i >= static_cast<int64_t>(chunk.records.size())) break;
      if (i < 0) return NothingThere(wanted[found]->place);
      const Bytes& record = chunk.records[static_cast<size_t>(i)];
      if (options.verify_data && !DataIsIntact(record.data, record.size)) return NothingThere(wanted[found]->place);
      wanted[found]->record = record;
      wanted[found]->owner = chunk.buffer;
    }
  }
  return {};
}

Status FetchFromFile(const InputFile& input, const LaneOptions& options, BufferPool* pool,
                     const std::vector<ShuffleItem*>& wanted) {
  std::unique_ptr<Source> source;
  CompressionChoice choice = options.compression;
  if (input.open) {
    TFR_RETURN_IF_ERROR(input.open(&source));
  } else {
    std::shared_ptr<File> file;
    TFR_RETURN_IF_ERROR(File::Open(*input.path, &file));
    if (file->regular() && !choice) {
      uint8_t head[kDetectBytes];
      size_t got = 0;
      TFR_RETURN_IF_ERROR(file->ReadFullyAt(0, head, sizeof head, &got));
      choice = DetectCompression(head, got);
    }
    if (file->regular() && *choice == Compression::kNone) {
      for (ShuffleItem* item : wanted) TFR_RETURN_IF_ERROR(FetchAt(*file, options, item));
      return {};
    }
    source = std::make_unique<FileSource>(std::move(file));
  }
  std::unique_ptr<Source> frames;
  Compression found;
  TFR_RETURN_IF_ERROR(OpenFrames(std::move(source), choice, &frames, &found));
  return FetchFromStream(std::move(frames), pool, options, wanted);
}

}  // namespace

Status FetchRecords(const std::vector<InputFile>& files, const std::vector<RecordPlace>& places,
                    const LaneOptions& options, BufferPool* pool, std::vector<ShuffleItem>* items) {
  items->clear();
  items->reserve(places.size());
  for (const RecordPlace& place : places) {
    if (place.file >= files.size())
      return Status::InvalidArgument("the saved state names a file that is not in the list");
    items->push_back({{nullptr, 0}, nullptr, files[place.file].path, place});
  }
  std::map<uint32_t, std::vector<ShuffleItem*>> by_file;
  for (ShuffleItem& item : *items) by_file[item.place.file].push_back(&item);
  for (auto& [file, wanted] : by_file) {
    std::sort(wanted.begin(), wanted.end(),
              [](const ShuffleItem* a, const ShuffleItem* b) { return a->place.place.index < b->place.place.index; });
    Status status = FetchFromFile(files[file], options, pool, wanted);
    if (!status.ok()) return std::move(status).WithPath(*files[file].path);
  }
  return {};
}

}  // namespace tfr
