// Reading, hopping over and checking regions; see region_maker.h.

#include "pipeline/region_maker.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "framing/format.h"
#include "framing/scan.h"
#include "framing/search.h"

namespace tfr {
namespace {

// Room after a region for the end of its last record, as a part of the region.
constexpr size_t kSlackPart = 4;

std::vector<int64_t> BeginsOf(const Checkpoints& checkpoints) {
  std::vector<int64_t> begins;
  for (const Checkpoint& place : checkpoints.places()) begins.push_back(place.out);
  return begins;
}

// The region that holds `offset`.
int64_t RegionOf(int64_t offset, int64_t region_bytes, const std::vector<int64_t>& begins) {
  if (begins.empty()) return offset / region_bytes;
  return std::upper_bound(begins.begin(), begins.end(), offset) - begins.begin() - 1;
}

}  // namespace

// The bytes that a region's unit has read so far: the file's bytes from `offset` on.
struct RegionMaker::Region {
  std::shared_ptr<Buffer> buffer;
  size_t used = 0;
  int64_t offset = 0;
  int64_t end = 0;   // of the region in the file
  bool cut = false;  // the file ends before it should

  const uint8_t* At(int64_t file_offset) const { return buffer->data() + (file_offset - offset); }
  int64_t UsedEnd() const { return offset + static_cast<int64_t>(used); }
};

RegionMaker::RegionMaker(const LaneFile& lane, std::shared_ptr<File> file, WholeFile whole)
    : RegionMaker(lane, std::move(file), std::move(whole), {}) {}

RegionMaker::RegionMaker(const LaneFile& lane, const std::shared_ptr<InflatedFile>& file)
    : RegionMaker(lane, file, WholeFile(), BeginsOf(file->checkpoints())) {}

RegionMaker::RegionMaker(const LaneFile& lane, std::shared_ptr<File> file, WholeFile whole, std::vector<int64_t> begins)
    : lane_(lane),
      file_(whole.buffer ? nullptr : file),
      file_bytes_(lane.input.part ? lane.input.part->end : file->opened_size()),
      region_bytes_(static_cast<int64_t>(std::max(lane.options.chunk_bytes, whole.buffer ? kSmallFile : 0))),
      begins_(std::move(begins)),
      first_region_(RegionOf(lane.start.offset, region_bytes_, begins_)),
      units_(static_cast<size_t>(std::max<int64_t>(
          RegionOf(std::max<int64_t>(file_bytes_ - 1, 0), region_bytes_, begins_) + 1 - first_region_, 1))),
      whole_(std::move(whole)),
      token_(lane.start),
      search_(lane.options.max_record_bytes, &lane.cancelled) {
  if (file_) searched_.emplace(*file_);
}

int64_t RegionMaker::BeginOf(size_t unit) const {
  const int64_t region = first_region_ + static_cast<int64_t>(unit);
  if (begins_.empty()) return region * region_bytes_;
  return static_cast<size_t>(region) < begins_.size() ? begins_[static_cast<size_t>(region)] : file_bytes_;
}

void RegionMaker::Produce(size_t unit, Produced* produced) {
  const int64_t begin = BeginOf(unit);
  produced->last = unit + 1 >= units_;
  if (unit == 0) produced->status = lane_.CheckEnd(file_bytes_);
  if (!produced->status.ok()) return;

  // Read before the token comes, unless it is here already and leaves less to read, or nothing. An object's
  // bytes are there once, and are only copied: there the token comes first.
  Region region;
  region.end = std::min(BeginOf(unit + 1), file_bytes_);
  Place place;
  const bool is_remote = file_ && file_->is_remote();
  const bool known = is_remote ? token_.Await(unit, &place) : token_.Peek(unit, &place);
  region.offset = known ? std::max(begin, place.offset) : begin;
  Status read = is_remote && !known ? Status() : Read(&region);
  if (!known && (is_remote || !token_.Await(unit, &place))) {
    produced->last = true;  // an earlier unit has ended the file; its status counts
    return;
  }
  Chunk& chunk = produced->chunk;
  chunk.end = place;
  chunk.first_index = place.index;
  if (!read.ok()) {
    produced->status = std::move(read).WithRecord(place.offset, place.index);
    return;
  }
  if (place.offset >= region.end) {  // a record from before covers the whole region
    token_.Pass(place);
    return;
  }
  Status after = Cut(&region, &place, produced);
  if (!after.ok() || produced->last) Cancel();
  chunk.buffer = region.buffer;
  chunk.buffer_bytes = region.buffer->capacity();
  chunk.origin = region.buffer->data();
  chunk.origin_offset = region.offset;
  chunk.end = place;
  if (lane_.Finish(file_bytes_, produced) == LaneFile::Rest::kDropped) Cancel();
  if (produced->status.ok()) produced->status = std::move(after);
}

Status RegionMaker::Read(Region* region) {
  if (region->offset >= region->end) return {};
  if (whole_.buffer) {
    region->buffer = std::move(whole_.buffer);
    region->used = whole_.size;
    return {};
  }
  const bool small = file_bytes_ <= static_cast<int64_t>(kSmallFile);
  const size_t region_bytes =
      begins_.empty() ? lane_.options.chunk_bytes : static_cast<size_t>(region->end - region->offset);
  const size_t capacity = small ? kSmallFile : region_bytes + lane_.options.chunk_bytes / kSlackPart;
  region->buffer = lane_.pool->Take(capacity);
  if (!region->buffer) return Status::OutOfMemory("buffer of " + std::to_string(capacity) + " bytes");
  return file_->ReadFullyAt(region->offset, region->buffer->data(), static_cast<size_t>(region->end - region->offset),
                            &region->used);
}

// Appends the records that start in the region, past damage if that is wanted. *place ends up where the next record
// stands, and the token is passed unless the status reports that it is lost.
Status RegionMaker::Cut(Region* region, Place* place, Produced* produced) {
  while (true) {
    Status status = CutRun(region, place, &produced->chunk);
    if (status.ok() || !lane_.Passes(status)) return status;
    const std::string reason = status.detail().message;
    if (lane_.options.on_corrupt == OnCorrupt::kSkipFile || region->cut) {
      produced->skipped.push_back({place->offset, file_bytes_ - place->offset, reason});
      produced->last = true;
      return {};
    }
    int64_t next = 0;
    TFR_RETURN_IF_ERROR(FindNext(*region, place->offset + 1, &next));
    produced->skipped.push_back({place->offset, next - place->offset, reason});
    place->offset = next;
    if (next >= region->end || next > region->UsedEnd()) {
      token_.Pass(*place);
      return {};
    }
  }
}

// Appends records as long as they are intact. OK: up to the region's end, and the token is passed.
Status RegionMaker::CutRun(Region* region, Place* place, Chunk* chunk) {
  if (place->offset < region->offset || place->offset > region->UsedEnd()) return WasCut(region, *place);
  const uint8_t* const first = region->At(place->offset);
  const size_t before = chunk->records.size();
  const uint64_t most = lane_.options.max_record_bytes;
  const Hop hop = HopRecords(first, region->buffer->data() + region->used, most, &chunk->records);
  place->offset += hop.next - first;
  place->index += static_cast<int64_t>(chunk->records.size() - before);
  if (hop.end == Hop::End::kBadHeader) return BadHeader(place->offset, place->index);
  if (hop.end == Hop::End::kTooLarge) return TooLarge(place->offset, place->index, RecordLength(hop.next), most);
  if (region->UsedEnd() < region->end) return WasCut(region, *place);
  if (place->offset < region->UsedEnd()) return CutLast(region, place, chunk);
  token_.Pass(*place);
  return {};
}

// Appends the record that starts in the region and ends after it. First its header is read, if that is cut, and the
// token is passed; then its data.
Status RegionMaker::CutLast(Region* region, Place* place, Chunk* chunk) {
  const int64_t offset = place->offset;
  TFR_RETURN_IF_ERROR(ReadUpTo(offset + static_cast<int64_t>(kHeaderBytes), region, chunk));
  const size_t there = static_cast<size_t>(region->UsedEnd() - offset);
  const uint8_t* const header = region->At(offset);
  if (there < kHeaderBytes) {
    TFR_RETURN_IF_ERROR(CheckGrowth(*place));
    return Truncated(offset, place->index, header, there);
  }
  const uint64_t most = lane_.options.max_record_bytes;
  const uint64_t length = RecordLength(header);
  const HeaderState state = JudgeHeader(header, most);
  if (state == HeaderState::kBadCrc) return BadHeader(offset, place->index);
  if (state == HeaderState::kTooLarge) return TooLarge(offset, place->index, length, most);
  const int64_t record_end = offset + static_cast<int64_t>(kFrameBytes + length);
  int64_t file_end = 0;
  TFR_RETURN_IF_ERROR(FileEnd(&file_end));
  if (record_end > file_end) {
    TFR_RETURN_IF_ERROR(CheckGrowth(*place));
    return Truncated(offset, place->index, header, static_cast<size_t>(std::max(file_end, region->UsedEnd()) - offset));
  }
  const Place next = {record_end, place->index + 1};
  token_.Pass(next);
  Status read = ReadUpTo(record_end, region, chunk);
  if (!read.ok()) return std::move(read).WithRecord(offset, place->index);
  if (region->UsedEnd() < record_end) return WasCut(region, *place);  // just now
  chunk->records.push_back({region->At(offset) + kHeaderBytes, static_cast<size_t>(length)});
  *place = next;
  return {};
}

// The damage that the file is shorter than it was. Nothing follows it.
Status RegionMaker::WasCut(Region* region, const Place& place) const {
  region->cut = true;
  const int64_t end = std::min(place.offset, region->UsedEnd());
  return FileWasCut(file_bytes_, end).WithRecord(place.offset, place.index);
}

// Sets *end to the file's end, or the part's: a record that would reach over it is not the one that was there.
Status RegionMaker::FileEnd(int64_t* end) const {
  *end = file_bytes_;
  if (!file_) return {};
  Status status = file_->Size(end);
  *end = std::min(*end, file_bytes_);
  return status;
}

// Returns an error if the file has grown past its last, cut record: it was still being written. That is not damage.
Status RegionMaker::CheckGrowth(const Place& place) const {
  int64_t end = 0;
  if (!file_ || lane_.input.part) return {};
  TFR_RETURN_IF_ERROR(file_->Size(&end));
  if (end <= file_bytes_) return {};
  return Status::InvalidArgument("the file was still being written: it had " + std::to_string(file_bytes_) +
                                 " bytes when it was opened, and has " + std::to_string(end) + " now; read it again")
      .WithRecord(place.offset, place.index);
}

// Looks for the next intact record, from `from` on.
Status RegionMaker::FindNext(const Region& region, int64_t from, int64_t* next) {
  if (file_) return search_.Find(from, &*searched_, next);
  SearchedMemory all({region.buffer->data(), region.used});
  return search_.Find(from, &all, next);
}

// Reads on to `file_offset`, into a larger buffer if need be; the views of `chunk` move along.
Status RegionMaker::ReadUpTo(int64_t file_offset, Region* region, Chunk* chunk) {
  if (file_offset <= region->UsedEnd() || !file_) return {};
  const size_t needed = static_cast<size_t>(file_offset - region->offset);
  if (needed > region->buffer->capacity()) {
    std::shared_ptr<Buffer> larger = lane_.pool->Take(needed);
    if (!larger) return Status::OutOfMemory("buffer of " + std::to_string(needed) + " bytes");
    std::memcpy(larger->data(), region->buffer->data(), region->used);
    for (Bytes& record : chunk->records) record.data = larger->data() + (record.data - region->buffer->data());
    region->buffer = std::move(larger);
  }
  size_t got = 0;
  Status status =
      file_->ReadFullyAt(region->UsedEnd(), region->buffer->data() + region->used, needed - region->used, &got);
  region->used += got;
  return status;
}

}  // namespace tfr
