// The units of an uncompressed regular file: regions of equal size; see lane.h.

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "framing/format.h"
#include "framing/scan.h"
#include "pipeline/lane.h"

namespace tfr {
namespace {

// Room behind a region for the end of its last record, as a part of the region.
constexpr size_t kSlackPart = 4;
constexpr size_t kSearchBytes = 256 << 10;  // read at once while looking for an intact record

Status ReadAtFully(const File& file, int64_t offset, uint8_t* out, size_t size, size_t* got) {
  *got = 0;
  while (*got < size) {
    size_t now = 0;
    TFR_RETURN_IF_ERROR(file.ReadAt(offset + static_cast<int64_t>(*got), out + *got, size - *got, &now));
    if (now == 0) break;
    *got += now;
  }
  return {};
}

}  // namespace

// What a region's unit has read so far: the file's bytes from `offset` on.
struct Lane::Region {
  std::shared_ptr<Buffer> buffer;
  size_t used = 0;
  int64_t offset = 0;
  int64_t end = 0;  // of the region in the file

  const uint8_t* At(int64_t file_offset) const { return buffer->data() + (file_offset - offset); }
  int64_t UsedEnd() const { return offset + static_cast<int64_t>(used); }
};

void Lane::ProduceRegion(size_t unit, Produced* produced) {
  const auto region_bytes = static_cast<int64_t>(options_.chunk_bytes);
  const int64_t begin = (first_region_ + static_cast<int64_t>(unit)) * region_bytes;
  produced->last = unit + 1 >= units_;

  // Read ahead of the token, unless it is here already and says that there is less to read, or nothing.
  Region region;
  region.end = std::min(begin + region_bytes, file_bytes_);
  Place place;
  const bool known = PeekToken(unit, &place);
  region.offset = known ? std::max(begin, place.offset) : begin;
  Status read = ReadRegion(&region);
  if (!known && !AwaitToken(unit, &place)) {
    produced->last = true;  // an earlier unit has ended the file; its word counts
    return;
  }
  Chunk& chunk = produced->chunk;
  chunk.end = place;
  chunk.first_index = place.index;
  if (!read.ok()) {
    produced->status = std::move(read).WithRecord(place.offset, place.index);
    return;
  }
  // A record from before covers the whole region; or the file was cut while it was read.
  if (place.offset >= region.end || place.offset < region.offset || place.offset > region.UsedEnd()) {
    PassToken(place);
    return;
  }
  Status after = CutRegion(&region, &place, produced);
  if (!after.ok() || produced->last) StopTokens();
  chunk.buffer = region.buffer;
  chunk.buffer_bytes = region.buffer->capacity();
  chunk.origin = region.buffer->data();
  chunk.origin_offset = region.offset;
  chunk.end = place;
  FinishChunk(produced);
  if (produced->status.ok()) produced->status = std::move(after);
}

Status Lane::ReadRegion(Region* region) {
  if (region->offset >= region->end) return {};
  if (head_) {
    region->buffer = std::move(head_);
    region->used = head_size_;
    return {};
  }
  const bool small = file_bytes_ <= static_cast<int64_t>(kSmallFile);
  const size_t capacity = small ? kSmallFile : options_.chunk_bytes + options_.chunk_bytes / kSlackPart;
  region->buffer = pool_->Take(capacity);
  if (!region->buffer) return Status::OutOfMemory("buffer of " + std::to_string(capacity) + " bytes");
  return ReadAtFully(*file_, region->offset, region->buffer->data(), static_cast<size_t>(region->end - region->offset),
                     &region->used);
}

// Appends the records that start in the region, past damage if that is wanted. *place ends up where the next
// record stands, and the token is passed unless the status says that there is none.
Status Lane::CutRegion(Region* region, Place* place, Produced* produced) {
  while (true) {
    Status status = CutRun(region, place, &produced->chunk);
    if (status.ok() || !Passes(status)) return status;
    const std::string reason = status.detail().message;
    if (options_.on_corrupt == OnCorrupt::kSkipFile) {
      produced->skipped.push_back({place->offset, file_bytes_ - place->offset, reason});
      produced->last = true;
      return {};
    }
    int64_t next = 0;
    TFR_RETURN_IF_ERROR(FindNextIntact(place->offset + 1, &next));
    produced->skipped.push_back({place->offset, next - place->offset, reason});
    place->offset = next;
    if (next >= region->end || next > region->UsedEnd()) {
      PassToken(*place);
      return {};
    }
  }
}

// Appends records as long as they are intact. OK: up to the region's end, and the token is passed.
Status Lane::CutRun(Region* region, Place* place, Chunk* chunk) {
  const uint8_t* const first = region->At(place->offset);
  const size_t before = chunk->records.size();
  const Hop hop = HopRecords(first, region->buffer->data() + region->used, &chunk->records);
  place->offset += hop.next - first;
  place->index += static_cast<int64_t>(chunk->records.size() - before);
  if (hop.end == Hop::End::kBadHeader) return BadHeader(place->offset, place->index);
  if (hop.end == Hop::End::kTooLarge) return TooLarge(place->offset, place->index, RecordLength(hop.next));
  if (place->offset >= region->UsedEnd()) {
    PassToken(*place);
    return {};
  }
  // A record starts here and ends behind the region. First its header, if that is cut, then its data.
  const int64_t offset = place->offset;
  TFR_RETURN_IF_ERROR(ReadUpTo(offset + static_cast<int64_t>(kHeaderBytes), region, chunk));
  const size_t there = static_cast<size_t>(region->UsedEnd() - offset);
  const uint8_t* const header = region->At(offset);
  if (there < kHeaderBytes) return Truncated(offset, place->index, header, there);
  if (!HeaderIsIntact(header)) return BadHeader(offset, place->index);
  const uint64_t length = RecordLength(header);
  if (length > kMaxRecordBytes) return TooLarge(offset, place->index, length);
  const int64_t record_end = offset + static_cast<int64_t>(kFrameBytes + length);
  const int64_t file_end = file_->Size();
  if (record_end > file_end) {
    return Truncated(offset, place->index, header, static_cast<size_t>(std::max(file_end, region->UsedEnd()) - offset));
  }
  const Place next = {record_end, place->index + 1};
  PassToken(next);
  Status read = ReadUpTo(record_end, region, chunk);
  if (!read.ok()) return std::move(read).WithRecord(offset, place->index);
  if (region->UsedEnd() < record_end) {  // the file was cut just now
    return Status::Errno(EIO, "read: the file was truncated while it was read").WithRecord(offset, place->index);
  }
  chunk->records.push_back({region->At(offset) + kHeaderBytes, static_cast<size_t>(length)});
  *place = next;
  return {};
}

// Reads on to `file_offset`, into a larger buffer where need be; the views of `chunk` move along.
Status Lane::ReadUpTo(int64_t file_offset, Region* region, Chunk* chunk) {
  if (file_offset <= region->UsedEnd()) return {};
  const size_t needed = static_cast<size_t>(file_offset - region->offset);
  if (needed > region->buffer->capacity()) {
    std::shared_ptr<Buffer> larger = pool_->Take(needed);
    if (!larger) return Status::OutOfMemory("buffer of " + std::to_string(needed) + " bytes");
    std::memcpy(larger->data(), region->buffer->data(), region->used);
    for (Bytes& record : chunk->records) record.data = larger->data() + (record.data - region->buffer->data());
    region->buffer = std::move(larger);
  }
  size_t got = 0;
  Status status = ReadAtFully(*file_, region->UsedEnd(), region->buffer->data() + region->used, needed - region->used, &got);
  region->used += got;
  return status;
}

// The offset of the first intact record from `from` on: its header's CRC holds, and so does its data's. The size of
// the file if there is none.
Status Lane::FindNextIntact(int64_t from, int64_t* found) const {
  const int64_t file_end = file_->Size();
  std::vector<uint8_t> block(kSearchBytes);
  std::vector<uint8_t> record;
  while (from < file_end) {
    size_t got = 0;
    TFR_RETURN_IF_ERROR(ReadAtFully(*file_, from, block.data(), block.size(), &got));
    if (got < kHeaderBytes) break;
    const uint8_t* at = block.data();
    const uint8_t* const end = block.data() + got;
    while ((at = FindHeader(at, end)) != nullptr) {
      const int64_t offset = from + (at - block.data());
      const uint64_t size = kFrameBytes + RecordLength(at);
      if (size <= static_cast<uint64_t>(file_end - offset)) {
        record.resize(size);
        size_t whole = 0;
        TFR_RETURN_IF_ERROR(ReadAtFully(*file_, offset, record.data(), size, &whole));
        if (whole == size && DataIsIntact(record.data() + kHeaderBytes, size - kFrameBytes)) {
          *found = offset;
          return {};
        }
      }
      ++at;
    }
    from += static_cast<int64_t>(got - (kHeaderBytes - 1));
  }
  *found = file_end;
  return {};
}

}  // namespace tfr
