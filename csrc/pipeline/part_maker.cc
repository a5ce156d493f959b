// Inflating and cutting parts; see part_maker.h.

#include "pipeline/part_maker.h"

#include <algorithm>
#include <string>
#include <utility>

#include "framing/format.h"
#include "framing/scan.h"
#include "framing/search.h"

namespace tfr {
namespace {

// A part that claims more than this, or more than deflate can make of its bytes, is inflated as a stream: no room is
// made for a mere claim.
constexpr size_t kMaxPartBytes = size_t{64} << 20;
constexpr size_t kDeflateRatio = 1032;

Status Mismatch(Compression compression, int64_t offset, const std::string& what) {
  return Status::DataLoss(std::string(CompressionName(compression)) + ": " + what +
                          " (in the part at compressed byte " + std::to_string(offset) + ")");
}

}  // namespace

PartMaker::PartMaker(const LaneFile& lane, std::shared_ptr<File> file, Compression compression)
    : lane_(lane),
      file_(std::move(file)),
      file_bytes_(file_->opened_size()),
      compression_(compression),
      cursor_(Cursor()),
      token_(Place()) {}

Status PartMaker::LookForPart(const File& file, Compression compression, int64_t offset,
                              std::optional<PartSizes>* sizes) {
  uint8_t head[kPartHeaderBytes];
  size_t got = 0;
  TFR_RETURN_IF_ERROR(file.ReadFullyAt(offset, head, sizeof head, &got));
  PartSizes claim;
  if (!ReadPartSizes(compression, head, got, &claim) || claim.compressed == 0 || claim.uncompressed == 0) return {};
  int64_t end = 0;
  TFR_RETURN_IF_ERROR(file.Size(&end));
  const auto left = static_cast<uint64_t>(std::max<int64_t>(end - offset, 0));
  const size_t most = std::min(std::max(kMaxPartBytes / 4, claim.compressed * kDeflateRatio), kMaxPartBytes);
  if (claim.compressed <= left && claim.uncompressed <= most) *sizes = claim;
  return {};
}

void PartMaker::Cancel() {
  cursor_.Stop();
  token_.Stop();
}

void PartMaker::CancelAfter(size_t unit) {
  cursor_.StopAfter(unit);
  token_.StopAfter(unit);
}

void PartMaker::Produce(size_t unit, Produced* produced) {
  Cursor cursor;
  if (!cursor_.Await(unit, &cursor)) {
    produced->last = true;  // an earlier unit has ended the file; its status counts
    return;
  }
  std::optional<PartSizes> sizes;
  if (!cursor.streaming) {
    produced->status = LookForPart(*file_, compression_, cursor.offset, &sizes);
    if (produced->status.ok() && sizes && lane_.options.on_corrupt == OnCorrupt::kSkip) {
      bool holds = false;
      produced->status = MarkHolds(cursor.offset + static_cast<int64_t>(sizes->compressed), &holds);
      if (!holds) sizes.reset();
    }
    if (!produced->status.ok()) return CancelAfter(unit);
  }
  if (sizes) {
    ProduceMarked(unit, cursor.offset, *sizes, produced);
  } else {
    ProduceUnmarked(unit, cursor, produced);
  }
}

// True if a part, or the end of the file, is where a mark sets the end of its own part. A mark that is damaged must not
// cost the parts after it.
Status PartMaker::MarkHolds(int64_t next, bool* holds) const {
  uint8_t head[kPartHeaderBytes];
  size_t got = 0;
  TFR_RETURN_IF_ERROR(file_->ReadFullyAt(next, head, sizeof head, &got));
  *holds = got == 0 || MayBeginPart(compression_, head, got);
  return {};
}

void PartMaker::ProduceMarked(size_t unit, int64_t offset, const PartSizes& sizes, Produced* produced) {
  const int64_t next = offset + static_cast<int64_t>(sizes.compressed);
  produced->last = next >= file_bytes_;
  if (produced->last) {
    cursor_.Stop();  // no unit follows; the token still goes to those that are being made
  } else {
    cursor_.Pass({next, false});
  }

  Inflated inflated;
  inflated.status = Inflate(offset, sizes, &inflated);
  Place place;
  if (!token_.Await(unit, &place)) {
    produced->last = true;
    return;
  }
  Chunk& chunk = produced->chunk;
  const int64_t begin = place.offset;
  chunk.first_index = place.index;
  Status status;
  if (inflated.buffer) {
    chunk.buffer_bytes = inflated.buffer->capacity();
    chunk.origin = inflated.buffer->data();
    chunk.origin_offset = place.offset;
    status = Cut(inflated, &place, produced);
    chunk.buffer = std::move(inflated.buffer);
  }
  if (status.ok()) status = std::move(inflated.status);
  if (!status.ok()) {
    status = std::move(status).WithRecord(place.offset, place.index);
    if (lane_.Passes(status)) {
      chunk.end = place;
      const auto bytes = inflated.ended ? inflated.size : sizes.uncompressed;
      PassOver(begin, begin + static_cast<int64_t>(bytes), status, &place, produced);
      status = {};
    }
  }
  chunk.end = place;
  if (!status.ok() || produced->last) {
    Cancel();
  } else {
    token_.Pass(place);
  }
  lane_.DropBeforeStart(&chunk);
  lane_.DropBeforeStart(&produced->skipped);
  if (status.ok() && produced->last && produced->skipped.empty()) status = lane_.CheckEnd(place.offset);
  if (lane_.Finish(-1, produced) == LaneFile::Rest::kDropped) Cancel();
  if (produced->status.ok()) produced->status = std::move(status);
}

// Notes what is lost of a damaged part. Records after its first damaged record are lost: the damage may have made them,
// as copies of what stands elsewhere in the part. *place is after its last whole record, and
// goes to where the next part starts. If nothing is lost, as far as its records tell, a stretch of no bytes names the
// part.
void PartMaker::PassOver(int64_t begin, int64_t end, const Status& damage, Place* place, Produced* produced) const {
  const std::string& reason = damage.detail().message;
  const Status first = VerifyChunk(&produced->chunk);
  if (!first.ok()) *place = {first.detail().offset, first.detail().record_index};
  if (lane_.options.on_corrupt == OnCorrupt::kSkipFile) {
    produced->skipped.push_back({place->offset, -1, reason});
    produced->last = true;
    return;
  }
  if (place->offset < end) {
    produced->skipped.push_back({place->offset, end - place->offset, reason});
  } else {
    produced->skipped.insert(produced->skipped.begin(), {begin, 0, reason});
  }
  place->offset = end;
}

Status PartMaker::Inflate(int64_t offset, const PartSizes& sizes, Inflated* inflated) const {
  const std::shared_ptr<Buffer> part = lane_.pool->Take(sizes.compressed);
  std::shared_ptr<Buffer> out = lane_.pool->Take(sizes.uncompressed + 1);  // one more, to see what does not fit
  if (!part || !out) return Status::OutOfMemory("a part of " + std::to_string(sizes.uncompressed) + " bytes");
  size_t read = 0;
  TFR_RETURN_IF_ERROR(file_->ReadFullyAt(offset, part->data(), sizes.compressed, &read));
  inflated->buffer = std::move(out);
  Status status = InflatePart({part->data(), read}, sizes, inflated);
  if (status.code() != StatusCode::kDataLoss) return status;
  if (read < sizes.compressed) return FileWasCut(file_bytes_, offset + static_cast<int64_t>(read));
  return Mismatch(compression_, offset, status.detail().message);
}

// Inflates as much as the part holds; kDataLoss if that differs from its mark.
Status PartMaker::InflatePart(Bytes part, const PartSizes& sizes, Inflated* inflated) const {
  if (part.size == sizes.compressed &&
      InflateWholePart(compression_, part, inflated->buffer->data(), sizes.uncompressed)) {
    inflated->size = sizes.uncompressed;
    inflated->ended = true;
    return {};
  }
  const std::unique_ptr<Decompressor> decompressor = NewDecompressor(compression_);
  if (!decompressor) return Status::OutOfMemory("a decompressor");
  size_t taken = 0;
  size_t got = 0;
  Progress progress;
  do {
    Status status = decompressor->Decompress(part.data + taken, part.size - taken, inflated->buffer->data() + got,
                                             sizes.uncompressed + 1 - got, &progress);
    taken += progress.consumed;
    got += progress.produced;
    inflated->size = std::min(got, sizes.uncompressed);
    TFR_RETURN_IF_ERROR(std::move(status));
  } while (got <= sizes.uncompressed && (progress.consumed > 0 || progress.produced > 0));
  inflated->ended = got <= sizes.uncompressed && taken == sizes.compressed && progress.between_parts;
  if (inflated->ended && got == sizes.uncompressed) return {};
  return Status::DataLoss("its mark specifies " + std::to_string(sizes.uncompressed) + " bytes in " +
                          std::to_string(sizes.compressed) + ", but its contents differ");
}

// Appends the records, past damage if that is wanted; *place ends up after them. What is left at the end is a damaged
// record if the part was inflated whole; else the rest of that record may just not be there.
Status PartMaker::Cut(const Inflated& inflated, Place* place, Produced* produced) const {
  const uint8_t* begin = inflated.buffer->data();
  const uint8_t* const end = begin + inflated.size;
  const uint64_t most = lane_.options.max_record_bytes;
  SearchedMemory all({begin, inflated.size});
  RecordSearch search(most, &lane_.cancelled);
  while (true) {
    const size_t before = produced->chunk.records.size();
    const Hop hop = HopRecords(begin, end, most, &produced->chunk.records);
    place->offset += hop.next - begin;
    place->index += static_cast<int64_t>(produced->chunk.records.size() - before);
    begin = hop.next;
    const auto left = static_cast<size_t>(end - begin);
    Status status;
    if (hop.end == Hop::End::kBadHeader) {
      status = BadHeader(place->offset, place->index);
    } else if (hop.end == Hop::End::kTooLarge) {
      status = TooLarge(place->offset, place->index, RecordLength(begin), most);
    } else if (left > 0 && inflated.status.ok()) {
      status = Truncated(place->offset, place->index, begin, left);
    } else {
      return {};
    }
    if (!lane_.Passes(status)) return status;
    if (!inflated.status.ok()) return {};  // the rest is dropped
    const std::string reason = status.detail().message;
    if (lane_.options.on_corrupt == OnCorrupt::kSkipFile) {
      produced->skipped.push_back({place->offset, -1, reason});
      produced->last = true;
      return {};
    }
    const int64_t from = begin - inflated.buffer->data();
    int64_t next = 0;
    TFR_RETURN_IF_ERROR(search.Find(from + 1, &all, &next));
    produced->skipped.push_back({place->offset, next - from, reason});
    place->offset += next - from;
    begin += next - from;
  }
}

// From here on parts have no marks: the rest is a stream, whose maker goes from unit to unit.
void PartMaker::ProduceUnmarked(size_t unit, const Cursor& cursor, Produced* produced) {
  Place place;
  if (!token_.Await(unit, &place)) {
    produced->last = true;
    return;
  }
  if (!cursor.streaming) {
    auto rest = std::make_unique<FileSource>(file_, cursor.offset);
    rest_ = std::make_unique<StreamMaker>(lane_, NewDecompressingSource(std::move(rest), compression_, cursor.offset),
                                          place);
  }
  rest_->Produce(unit, produced);
  if (!produced->status.ok() || produced->last) {
    Cancel();
    return;
  }
  token_.Pass(produced->chunk.end);
  cursor_.Pass({cursor.offset, true});
}

}  // namespace tfr
