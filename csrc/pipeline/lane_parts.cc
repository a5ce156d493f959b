// The units of a compressed regular file whose parts are marked: a part each; see lane.h.

#include <algorithm>
#include <string>
#include <utility>

#include "codec/block.h"
#include "framing/format.h"
#include "framing/scan.h"
#include "pipeline/lane.h"

namespace tfr {
namespace {

// A part that claims more than this, or more than deflate can make of its bytes, is inflated as a stream: no room is
// made on its word.
constexpr size_t kMaxPartBytes = size_t{64} << 20;
constexpr size_t kDeflateRatio = 1032;

Status ReadFullyAt(const File& file, int64_t offset, uint8_t* out, size_t size, size_t* got) {
  FileSource source(std::shared_ptr<const File>(std::shared_ptr<void>(), &file), offset);
  return ReadFully(&source, out, size, got);
}

Status Mismatch(Compression compression, int64_t offset, const std::string& what) {
  return Status::DataLoss(std::string(CompressionName(compression)) + ": " + what + " (in the part at compressed byte " +
                          std::to_string(offset) + ")");
}

}  // namespace

void Lane::ProducePart(size_t unit, Produced* produced) {
  Cursor cursor;
  if (!AwaitCursor(unit, &cursor)) {
    produced->last = true;  // an earlier unit has ended the file; its word counts
    return;
  }
  bool marked = false;
  PartSizes sizes{};
  if (!cursor.streaming) {
    produced->status = LookForPart(cursor.offset, &marked, &sizes);
    if (!produced->status.ok()) return;
  }
  if (marked) {
    ProduceMarked(unit, cursor.offset, sizes, produced);
  } else {
    ProduceUnmarked(unit, cursor, produced);
  }
}

Status Lane::LookForPart(int64_t offset, bool* marked, PartSizes* sizes) const {
  uint8_t head[kPartHeaderBytes];
  size_t got = 0;
  TFR_RETURN_IF_ERROR(ReadFullyAt(*file_, offset, head, sizeof head, &got));
  *marked = ReadPartSizes(compression_, head, got, sizes) && sizes->compressed > 0 && sizes->uncompressed > 0 &&
            sizes->compressed <= static_cast<uint64_t>(std::max<int64_t>(file_->Size() - offset, 0)) &&
            sizes->uncompressed <= std::min(std::max(kMaxPartBytes / 4, sizes->compressed * kDeflateRatio), kMaxPartBytes);
  return {};
}

void Lane::ProduceMarked(size_t unit, int64_t offset, const PartSizes& sizes, Produced* produced) {
  const int64_t next = offset + static_cast<int64_t>(sizes.compressed);
  produced->last = next >= file_bytes_;
  produced->last ? EndCursor() : PassCursor(next, false);

  std::shared_ptr<Buffer> data;
  size_t got = 0;
  Status inflated = InflatePart(offset, sizes, &data, &got);
  Place place;
  if (!AwaitToken(unit, &place)) {
    produced->last = true;
    return;
  }
  Chunk& chunk = produced->chunk;
  chunk.end = place;
  chunk.first_index = place.index;
  if (data) {
    chunk.buffer_bytes = data->capacity();
    chunk.origin = data->data();
    chunk.origin_offset = place.offset;
    Status cut = CutPart(data->data(), got, inflated.ok(), &place, produced);
    if (!cut.ok()) inflated = std::move(cut);
    chunk.end = place;
    chunk.buffer = std::move(data);
  }
  if (!inflated.ok()) {
    inflated = std::move(inflated).WithRecord(place.offset, place.index);
    if (Passes(inflated)) {
      // What would still come of a broken stream can't be known.
      produced->skipped.push_back({place.offset, -1, inflated.detail().message});
      inflated = {};
      produced->last = true;
    }
  }
  if (!inflated.ok() || produced->last) {
    StopTokens();
  } else {
    PassToken(place);
  }
  DropBeforeStart(&chunk);
  FinishChunk(produced);
  if (produced->status.ok()) produced->status = std::move(inflated);
}

// *data stays null where nothing could be read. Otherwise its first *got bytes are right, if not all.
Status Lane::InflatePart(int64_t offset, const PartSizes& sizes, std::shared_ptr<Buffer>* data, size_t* got) const {
  const std::shared_ptr<Buffer> part = pool_->Take(sizes.compressed);
  std::shared_ptr<Buffer> out = pool_->Take(sizes.uncompressed + 1);  // one more, to see what does not fit
  if (!part || !out) return Status::OutOfMemory("a part of " + std::to_string(sizes.uncompressed) + " bytes");
  size_t read = 0;
  TFR_RETURN_IF_ERROR(ReadFullyAt(*file_, offset, part->data(), sizes.compressed, &read));
  *data = std::move(out);
  const std::unique_ptr<Decompressor> decompressor = NewDecompressor(compression_);
  if (!decompressor) return Status::OutOfMemory("a decompressor");
  size_t taken = 0;
  Progress progress;
  do {
    Status status = decompressor->Decompress(part->data() + taken, read - taken, (*data)->data() + *got,
                                             sizes.uncompressed + 1 - *got, &progress);
    taken += progress.consumed;
    *got += progress.produced;
    if (!status.ok()) {
      *got = std::min(*got, sizes.uncompressed);
      return Mismatch(compression_, offset, status.detail().message);
    }
  } while (*got <= sizes.uncompressed && (progress.consumed > 0 || progress.produced > 0));
  if (*got == sizes.uncompressed && taken == sizes.compressed && progress.between_parts) return {};
  const std::string claim = "its mark says " + std::to_string(sizes.uncompressed) + " bytes in " + std::to_string(sizes.compressed);
  *got = std::min(*got, sizes.uncompressed);
  return Mismatch(compression_, offset, claim + ", which is not what it holds");
}

// Appends the records, past damage if that is wanted; *place ends up behind them. `whole`: what follows is no record's
// rest.
Status Lane::CutPart(const uint8_t* begin, size_t size, bool whole, Place* place, Produced* produced) const {
  const uint8_t* const end = begin + size;
  while (true) {
    const size_t before = produced->chunk.records.size();
    const Hop hop = HopRecords(begin, end, &produced->chunk.records);
    place->offset += hop.next - begin;
    place->index += static_cast<int64_t>(produced->chunk.records.size() - before);
    begin = hop.next;
    const auto left = static_cast<size_t>(end - begin);
    Status status;
    if (hop.end == Hop::End::kBadHeader) {
      status = BadHeader(place->offset, place->index);
    } else if (hop.end == Hop::End::kTooLarge) {
      status = TooLarge(place->offset, place->index, RecordLength(begin));
    } else if (left > 0 && whole) {
      status = Truncated(place->offset, place->index, begin, left);
    } else {
      return {};
    }
    if (!Passes(status)) return status;
    const std::string reason = status.detail().message;
    if (options_.on_corrupt == OnCorrupt::kSkipFile) {
      produced->skipped.push_back({place->offset, -1, reason});
      produced->last = true;
      return {};
    }
    const uint8_t* found = left > 0 ? FindHeader(begin + 1, end) : nullptr;
    while (found != nullptr) {
      const uint64_t needed = kFrameBytes + RecordLength(found);
      if (needed <= static_cast<uint64_t>(end - found) && DataIsIntact(found + kHeaderBytes, RecordLength(found))) break;
      found = FindHeader(found + 1, end);
    }
    const uint8_t* const next = found != nullptr ? found : end;
    produced->skipped.push_back({place->offset, next - begin, reason});
    place->offset += next - begin;
    begin = next;
    if (found == nullptr) return {};
  }
}

// From here on there are no marks: a stream, whose reader goes from unit to unit.
void Lane::ProduceUnmarked(size_t unit, const Cursor& cursor, Produced* produced) {
  Place place;
  if (!AwaitToken(unit, &place)) {
    produced->last = true;
    return;
  }
  if (!cursor.streaming) {
    auto rest = std::make_unique<FileSource>(file_, cursor.offset);
    RecordReader::Options options;
    options.chunk_bytes = options_.chunk_bytes;
    reader_ = std::make_unique<RecordReader>(NewDecompressingSource(std::move(rest), compression_, cursor.offset), pool_,
                                             options, place);
  }
  ProduceNextOfStream(produced);
  if (!produced->status.ok() || produced->last) {
    StopTokens();
    return;
  }
  PassToken(produced->chunk.end);
  PassCursor(cursor.offset, true);
}

}  // namespace tfr
