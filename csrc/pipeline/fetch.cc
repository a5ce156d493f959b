// Reading records by their places; see fetch.h.

#include "pipeline/fetch.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "framing/format.h"
#include "framing/open.h"
#include "pipeline/lane.h"
#include "pipeline/read_ahead.h"

namespace tfr {
namespace {

Status NothingThere(const RecordPlace& place) {
  return Status::DataLoss("no intact record at a position in the saved state; has the file changed?")
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

// Reads on from the first record that is wanted, as the reading that found them did: past the same damage.
Status FetchInOrder(Lane* lane, const std::vector<ShuffleItem*>& wanted) {
  size_t found = 0;
  while (found < wanted.size() && lane->CanClaim(Caller::kLoneConsumer)) {
    const size_t unit = lane->Claim();
    Produced produced;
    lane->Produce(unit, Caller::kLoneConsumer, &produced);
    const Chunk chunk = produced.chunk;
    Status status = std::move(produced.status);
    lane->Deposit(unit, std::move(produced));
    lane->Take(&produced);
    for (size_t i = 0; i < chunk.records.size() && found < wanted.size(); ++i) {
      const Place place = chunk.PlaceOf(i);
      const Place& next = wanted[found]->place.place;
      if (place.index < next.index) continue;
      if (place.index > next.index || place.offset != next.offset) return NothingThere(wanted[found]->place);
      wanted[found]->record = chunk.records[i];
      wanted[found]->owner = chunk.buffer;
      ++found;
    }
    // Damage after the last wanted record is found when reading gets there.
    if (found < wanted.size()) TFR_RETURN_IF_ERROR(std::move(status));
  }
  return found < wanted.size() ? NothingThere(wanted[found]->place) : Status();
}

// True if any record can be read by itself.
Status IsPlain(const File& file, CompressionChoice choice, bool* plain) {
  *plain = false;
  if (!file.regular()) return {};
  if (!choice) {
    uint8_t head[kDetectBytes];
    size_t got = 0;
    TFR_RETURN_IF_ERROR(file.ReadFullyAt(0, head, sizeof head, &got));
    choice = DetectCompression(head, got);
  }
  *plain = *choice == Compression::kNone;
  return {};
}

// Has an object ask for what FetchAt will read of it, in two rounds: how long a record is shows in its header. What
// lies between two that are close is also read.
Status ExpectRecords(RemoteFile* object, const LaneOptions& options, const std::vector<ShuffleItem*>& wanted) {
  constexpr int64_t kMaxGap = 64 << 10;
  std::vector<ByteRange> headers;
  const auto add = [](int64_t begin, int64_t end, std::vector<ByteRange>* ranges) {
    if (ranges->empty() || begin - ranges->back().end > kMaxGap) return ranges->push_back({begin, end});
    ranges->back().end = std::max(ranges->back().end, end);
  };
  const int64_t size = object->opened_size();
  for (const ShuffleItem* item : wanted) {
    const int64_t offset = item->place.place.offset;
    if (offset < size) add(offset, std::min(offset + static_cast<int64_t>(kHeaderBytes), size), &headers);
  }
  object->AskBySelf();
  object->Expect(std::move(headers));
  std::vector<ByteRange> frames;
  for (const ShuffleItem* item : wanted) {
    const int64_t offset = item->place.place.offset;
    uint8_t header[kHeaderBytes];
    size_t got = 0;
    TFR_RETURN_IF_ERROR(object->ReadFullyAt(offset, header, sizeof header, &got));
    if (got < sizeof header || JudgeHeader(header, options.max_record_bytes) != HeaderState::kIntact) continue;
    const uint64_t length = std::min<uint64_t>(RecordLength(header), static_cast<uint64_t>(size - offset));
    add(offset, std::min(offset + static_cast<int64_t>(length + kFrameBytes), size), &frames);
  }
  object->Expect(std::move(frames));
  return {};
}

// `wanted` is sorted by index.
Status FetchFromFile(const InputFile& input, const LaneOptions& options, BufferPool* pool,
                     const std::shared_ptr<FetchQueue>& queue, const std::vector<ShuffleItem*>& wanted) {
  std::shared_ptr<RemoteFile> object;
  if (!input.open) {
    std::shared_ptr<File> file;
    if (input.object) {
      file = object = ReadAhead::OpenAlone(input, queue);
      TFR_RETURN_IF_ERROR(object->Open());
    } else {
      TFR_RETURN_IF_ERROR(File::Open(*input.path, &file));
    }
    bool plain = false;
    TFR_RETURN_IF_ERROR(IsPlain(*file, options.compression, &plain));
    if (plain) {
      if (object) TFR_RETURN_IF_ERROR(ExpectRecords(object.get(), options, wanted));
      for (ShuffleItem* item : wanted) TFR_RETURN_IF_ERROR(FetchAt(*file, options, item));
      return {};
    }
    if (object) object->AskBySelf();
  }
  const RecordPlace& first = wanted.front()->place;
  Lane lane(input, first.file, 0, first.place, options, pool, std::move(object));
  return FetchInOrder(&lane, wanted);
}

}  // namespace

Status FetchRecords(const std::vector<InputFile>& files, const std::vector<RecordPlace>& places,
                    const LaneOptions& options, BufferPool* pool, const std::shared_ptr<FetchQueue>& queue,
                    std::vector<ShuffleItem>* items) {
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
    Status status = FetchFromFile(files[file], options, pool, queue, wanted);
    if (!status.ok()) return std::move(status).WithPath(*files[file].path);
  }
  return {};
}

}  // namespace tfr
