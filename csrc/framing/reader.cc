// Chunks of records from one stream; see reader.h.

#include "framing/reader.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "framing/format.h"
#include "framing/scan.h"

namespace tfr {
namespace {

std::string AtByte(int64_t offset) { return std::to_string(offset); }

}  // namespace

int64_t Chunk::OffsetOf(size_t i) const {
  int64_t offset = first_offset;
  for (size_t before = 0; before < i; ++before) offset += static_cast<int64_t>(kFrameBytes + records[before].size);
  return offset;
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
    message += "its header claims " + std::to_string(RecordLength(rest)) + " bytes, the stream ends after " +
               std::to_string(size - kHeaderBytes) + " of them and the " + std::to_string(kFooterBytes) +
               " bytes of its CRC";
  }
  return Status::DataLoss(std::move(message)).WithRecord(offset, index);
}

Status VerifyChunk(Chunk* chunk) {
  const size_t bad = FirstDamaged(chunk->records.data(), chunk->records.size());
  if (bad == chunk->records.size()) return {};
  const size_t size = chunk->records[bad].size;
  chunk->records.resize(bad);
  return BadData(chunk->OffsetOf(bad), chunk->first_index + static_cast<int64_t>(bad), size);
}

RecordReader::RecordReader(std::unique_ptr<Source> frames, BufferPool* pool, const Options& options)
    : frames_(std::move(frames)), pool_(pool), options_(options) {}

Status RecordReader::Next(Chunk* chunk) {
  *chunk = {};
  chunk->first_index = index_;
  chunk->first_offset = offset_;
  while (true) {
    size_t got = 0;
    TFR_RETURN_IF_ERROR(MakeRoom());
    Status read = Fill(&got);
    const uint8_t* const rest = buffer_->data() + begin_;
    const Hop hop = HopRecords(rest, buffer_->data() + end_, &chunk->records);
    if (!chunk->records.empty()) {
      // Whatever else was found comes up again on the next call: it lies at the start of what is left.
      const size_t taken = static_cast<size_t>(hop.next - rest);
      chunk->buffer = buffer_;
      chunk->buffer_bytes = buffer_->capacity();
      begin_ += taken;
      offset_ += static_cast<int64_t>(taken);
      index_ += static_cast<int64_t>(chunk->records.size());
      return options_.verify_data ? VerifyChunk(chunk) : Status();
    }
    const size_t left = end_ - begin_;
    if (hop.end == Hop::End::kBadHeader) return BadHeader(offset_, index_);
    if (hop.end == Hop::End::kTooLarge) return TooLarge(offset_, index_, RecordLength(rest));
    if (!read.ok()) return std::move(read).WithRecord(offset_, index_);
    if (got == 0) return left == 0 ? Status() : Truncated(offset_, index_, rest, left);
    // Where the end is known, a record that passes it is not waited for: the rest need not be read into memory.
    const int64_t remaining = left >= kHeaderBytes ? frames_->Remaining() : -1;
    if (remaining >= 0 && RecordLength(rest) + kFrameBytes > left + static_cast<uint64_t>(remaining)) {
      return Truncated(offset_, index_, rest, left + static_cast<size_t>(remaining));
    }
  }
}

// Sees to it that there is room behind end_. Bytes in front of it may be in use elsewhere and stay as they are, so
// a shared buffer is filled up but never moved within. A record that outgrows the buffer gets twice the room each
// time its bytes have really come, or all at once where the source knows that so much is left.
Status RecordReader::MakeRoom() {
  const size_t left = end_ - begin_;
  const bool shared = buffer_ && buffer_.use_count() > 1;
  const size_t room = buffer_ ? buffer_->capacity() - end_ : 0;
  if (room > 0 && (room >= buffer_->capacity() / 4 || (!shared && begin_ == 0))) return {};
  size_t capacity = options_.chunk_bytes;
  if (left >= kHeaderBytes) {
    const uint64_t needed = kFrameBytes + std::min(RecordLength(buffer_->data() + begin_), kMaxRecordBytes);
    const int64_t remaining = frames_->Remaining();
    const size_t earned = remaining >= 0 ? left + static_cast<size_t>(remaining) : 2 * left;
    capacity = std::max(capacity, static_cast<size_t>(std::min<uint64_t>(needed, earned)));
  }
  capacity = std::max(capacity, left + 1);
  if (buffer_ && !shared && buffer_->capacity() >= capacity) {
    if (left > 0) std::memmove(buffer_->data(), buffer_->data() + begin_, left);
  } else {
    std::shared_ptr<Buffer> fresh = pool_->Take(capacity);
    if (!fresh) return Status::OutOfMemory("buffer of " + std::to_string(capacity) + " bytes").WithRecord(offset_, index_);
    if (left > 0) std::memcpy(fresh->data(), buffer_->data() + begin_, left);
    buffer_ = std::move(fresh);
  }
  begin_ = 0;
  end_ = left;
  return {};
}

// Fills the buffer; stops short where the source has no more just now, so that a slow pipe's records come through.
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
