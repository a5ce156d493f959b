// Chunks of records from one stream; see reader.h.

#include "framing/reader.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "framing/format.h"
#include "framing/scan.h"
#include "framing/search.h"

namespace tfr {
namespace {

std::string AtByte(int64_t offset) { return std::to_string(offset); }

Place PlaceAt(const Chunk& chunk, size_t i, int64_t index) {
  return {chunk.origin_offset + (chunk.records[i].data - kHeaderBytes - chunk.origin), index};
}

}  // namespace

Place Chunk::PlaceOf(size_t i) const {
  if (i >= records.size()) return end;
  return PlaceAt(*this, i, indices.empty() ? first_index + static_cast<int64_t>(i) * stride : indices[i]);
}

void Chunk::KeepEvery(int64_t divisor, int64_t remainder) {
  const int64_t first = ((remainder - first_index) % divisor + divisor) % divisor;
  size_t kept = 0;
  for (size_t i = static_cast<size_t>(first); i < records.size(); i += static_cast<size_t>(divisor)) {
    records[kept++] = records[i];
  }
  records.resize(kept);
  first_index += first;
  stride = divisor;
}

Status BadHeader(int64_t offset, int64_t index) {
  std::string message = "corrupted record at " + AtByte(offset) + ": the CRC of its length is wrong";
  if (offset == 0) message += " (Is this even a TFRecord file?)";
  return Status::DataLoss(std::move(message)).WithRecord(offset, index);
}

Status BadData(int64_t offset, int64_t index, size_t size) {
  return Status::DataLoss("corrupted record at " + AtByte(offset) + ": the CRC of its " + std::to_string(size) +
                          " data bytes is wrong")
      .WithRecord(offset, index);
}

Status TooLarge(int64_t offset, int64_t index, uint64_t length) {
  return Status::DataLoss("record size too large at " + AtByte(offset) + ": its header claims " +
                          std::to_string(length) + " bytes")
      .WithRecord(offset, index);
}

Status Truncated(int64_t offset, int64_t index, const uint8_t* rest, size_t size) {
  std::string message = "truncated record at " + AtByte(offset) + ": ";
  if (size < kHeaderBytes) {
    message += "expected a header of " + std::to_string(kHeaderBytes) + " bytes, got " + std::to_string(size);
  } else {
    message += "its header claims " + std::to_string(RecordLength(rest)) + " bytes and " +
               std::to_string(kFooterBytes) + " of CRC, the stream ends after " + std::to_string(size - kHeaderBytes);
  }
  return Status::DataLoss(std::move(message)).WithRecord(offset, index);
}

Status VerifyChunk(Chunk* chunk, std::vector<Skipped>* skipped) {
  std::vector<Bytes>& records = chunk->records;
  size_t bad = FirstDamaged(records.data(), records.size());
  if (bad == records.size()) return {};
  Place place = chunk->PlaceOf(bad);
  Status damage = BadData(place.offset, place.index, records[bad].size);
  if (skipped == nullptr) {
    records.resize(bad);
    return damage;
  }
  std::vector<Bytes> kept(records.begin(), records.begin() + static_cast<ptrdiff_t>(bad));
  std::vector<int64_t> indices;
  for (size_t i = 0; i < bad; ++i) indices.push_back(chunk->PlaceOf(i).index);
  for (size_t i = bad; i < records.size(); ++i) {
    place = chunk->PlaceOf(i);
    if (DataIsIntact(records[i].data, records[i].size)) {
      kept.push_back(records[i]);
      indices.push_back(place.index);
    } else {
      damage = BadData(place.offset, place.index, records[i].size);
      skipped->push_back({place.offset, static_cast<int64_t>(kFrameBytes + records[i].size), damage.detail().message});
    }
  }
  records = std::move(kept);
  chunk->indices = std::move(indices);
  return {};
}

RecordReader::RecordReader(std::unique_ptr<Source> frames, BufferPool* pool, const Options& options, Place begin)
    : frames_(std::move(frames)), pool_(pool), options_(options), place_(begin) {}

Status RecordReader::Next(Chunk* chunk) {
  *chunk = {};
  chunk->first_index = place_.index;
  while (true) {
    size_t got = 0;
    TFR_RETURN_IF_ERROR(MakeRoom());
    Status read = Fill(&got);
    const uint8_t* const rest = buffer_->data() + begin_;
    const Hop hop = HopRecords(rest, buffer_->data() + end_, &chunk->records);
    if (!chunk->records.empty()) {
      // Whatever else was found is found again on the next call: it lies at the start of what is left.
      chunk->buffer = buffer_;
      chunk->buffer_bytes = buffer_->capacity();
      chunk->origin = rest;
      chunk->origin_offset = place_.offset;
      shared_ = true;
      Drop(static_cast<size_t>(hop.next - rest));
      place_.index += static_cast<int64_t>(chunk->records.size());
      chunk->end = place_;
      return {};
    }
    chunk->end = place_;
    const size_t left = end_ - begin_;
    if (hop.end == Hop::End::kBadHeader) return BadHeader(place_.offset, place_.index);
    if (hop.end == Hop::End::kTooLarge) return TooLarge(place_.offset, place_.index, RecordLength(rest));
    if (!read.ok()) return std::move(read).WithRecord(place_.offset, place_.index);
    if (got == 0) return left == 0 ? Status() : Truncated(place_.offset, place_.index, rest, left);
    // If the end is known, a record that extends beyond it is not waited for: the rest need not be read into memory.
    const int64_t remaining = left >= kHeaderBytes ? frames_->Remaining() : -1;
    if (remaining >= 0 && RecordLength(rest) + kFrameBytes > left + static_cast<uint64_t>(remaining)) {
      return Truncated(place_.offset, place_.index, rest, left + static_cast<size_t>(remaining));
    }
  }
}

// What Resume looks through: what the reader holds, and what its source still gives.
class RecordReader::Searched : public SearchedBytes {
 public:
  explicit Searched(RecordReader* reader) : reader_(*reader) {}

  Status ShowHeader(int64_t offset, Bytes* shown) override { return Show(offset, kHeaderBytes, shown); }

  Status ShowRecord(int64_t offset, size_t size, Bytes* shown) override {
    const size_t held = reader_.end_ - reader_.begin_;
    const int64_t remaining = reader_.frames_->Remaining();
    if (size <= held || remaining < 0 || size <= held + static_cast<uint64_t>(remaining))
      return Show(offset, size, shown);
    *shown = {nullptr, 0};
    return {};
  }

 private:
  Status Show(int64_t offset, size_t size, Bytes* shown) {
    reader_.Drop(static_cast<size_t>(offset - reader_.place_.offset));
    while (reader_.end_ - reader_.begin_ < size) {
      TFR_RETURN_IF_ERROR(reader_.MakeRoom());
      size_t got = 0;
      TFR_RETURN_IF_ERROR(reader_.Fill(&got));
      if (got == 0) break;
    }
    *shown = {reader_.buffer_->data() + reader_.begin_, reader_.end_ - reader_.begin_};
    return {};
  }

  RecordReader& reader_;
};

Status RecordReader::Resume(const std::string& reason, std::vector<Skipped>* skipped) {
  const int64_t from = place_.offset;
  if (begin_ < end_) Drop(1);  // what starts here is damaged
  if (failed_.ok()) {
    Searched rest(this);
    int64_t found = 0;
    Status status = FindIntactRecord(place_.offset, &rest, &found);
    if (status.ok()) {
      Drop(static_cast<size_t>(found - place_.offset));
      skipped->push_back({from, found - from, reason});
      return {};
    }
    if (failed_.ok()) return status;  // not the stream's fault: no memory
  }
  // The stream is broken, compressed or not: what would have come can't be known.
  if (failed_.code() != StatusCode::kDataLoss) return failed_;
  Drop(end_ - begin_);
  skipped->push_back({from, -1, reason});
  frames_ = std::make_unique<MemorySource>(Bytes{nullptr, 0}, nullptr);
  failed_ = {};
  return {};
}

void RecordReader::Drop(size_t bytes) {
  begin_ += bytes;
  place_.offset += static_cast<int64_t>(bytes);
}

// Makes sure that there is room after end_. Bytes before it may be in use elsewhere and stay as they are, so a shared
// buffer is filled up, but nothing in it is moved. A record that outgrows the buffer gets twice the room each time its
// bytes have really come, or all of it in one step if the source knows that this much is left.
Status RecordReader::MakeRoom() {
  const size_t left = end_ - begin_;
  const size_t room = buffer_ ? buffer_->capacity() - end_ : 0;
  if (room > 0 && (room >= buffer_->capacity() / 4 || (!shared_ && begin_ == 0))) return {};
  size_t capacity = options_.chunk_bytes;
  if (left >= kHeaderBytes) {
    const uint64_t needed = kFrameBytes + std::min(RecordLength(buffer_->data() + begin_), kMaxRecordBytes);
    const int64_t remaining = frames_->Remaining();
    const size_t earned = remaining >= 0 ? left + static_cast<size_t>(remaining) : 2 * left;
    capacity = std::max(capacity, static_cast<size_t>(std::min<uint64_t>(needed, earned)));
  }
  capacity = std::max(capacity, left + 1);
  if (buffer_ && !shared_ && buffer_->capacity() >= capacity) {
    if (left > 0) std::memmove(buffer_->data(), buffer_->data() + begin_, left);
  } else {
    std::shared_ptr<Buffer> fresh = pool_->Take(capacity);
    if (!fresh) {
      return Status::OutOfMemory("buffer of " + std::to_string(capacity) + " bytes")
          .WithRecord(place_.offset, place_.index);
    }
    if (left > 0) std::memcpy(fresh->data(), buffer_->data() + begin_, left);
    buffer_ = std::move(fresh);
    shared_ = false;
  }
  begin_ = 0;
  end_ = left;
  return {};
}

// Fills the buffer; stops early if the source has no more right now, so that a slow pipe's records come through.
Status RecordReader::Fill(size_t* got) {
  *got = 0;
  if (!failed_.ok()) return failed_;
  while (end_ < buffer_->capacity()) {
    const size_t room = buffer_->capacity() - end_;
    size_t now = 0;
    failed_ = frames_->Read(buffer_->data() + end_, room, &now);
    if (!failed_.ok()) return failed_;
    end_ += now;
    *got += now;
    if (now < room) break;
  }
  return {};
}

}  // namespace tfr
