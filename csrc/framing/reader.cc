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

Status TooLarge(int64_t offset, int64_t index, uint64_t length, uint64_t most) {
  std::string message =
      "record size too large at " + AtByte(offset) + ": its header claims " + std::to_string(length) + " bytes";
  if (most < kMaxRecordBytes) message += ", max_record_bytes is " + std::to_string(most);
  return Status::DataLoss(std::move(message)).WithRecord(offset, index);
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
    : frames_(std::move(frames)),
      pool_(pool),
      options_(options),
      place_(begin),
      search_(options.most, options.cancelled) {}

Status RecordReader::Next(Chunk* chunk) {
  *chunk = {};
  chunk->first_index = place_.index;
  while (true) {
    // Held bytes come first: after damage, that may be much.
    TFR_RETURN_IF_ERROR(Held(chunk));
    if (!chunk->records.empty()) return {};
    const size_t left = end_ - begin_;
    TFR_RETURN_IF_ERROR(MakeRoom(left < kHeaderBytes ? 0 : kFrameBytes + RecordLength(buffer_->data() + begin_)));
    size_t got = 0;
    Status read = Fill(&got);
    if (got > 0) continue;
    if (!read.ok()) return std::move(read).WithRecord(place_.offset, place_.index);
    return left == 0 ? Status() : Truncated(place_.offset, place_.index, buffer_->data() + begin_, left);
  }
}

// The records that are held, if there is a whole one; else what is wrong with the one that begins there, as far as that
// shows.
Status RecordReader::Held(Chunk* chunk) {
  chunk->end = place_;
  if (end_ - begin_ < kHeaderBytes) return {};
  const uint8_t* const rest = buffer_->data() + begin_;
  const Hop hop = HopRecords(rest, buffer_->data() + end_, options_.most, &chunk->records);
  if (!chunk->records.empty()) {
    // Further records are found again on the next call: it lies at the start of what is left.
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
  if (hop.end == Hop::End::kBadHeader) return BadHeader(place_.offset, place_.index);
  if (hop.end == Hop::End::kTooLarge) {
    return TooLarge(place_.offset, place_.index, RecordLength(rest), options_.most);
  }
  return CheckClaim();
}

// If the end is known, a record that extends beyond it is not waited for: the rest need not be read into memory.
Status RecordReader::CheckClaim() const {
  const uint8_t* const header = buffer_->data() + begin_;
  const size_t left = end_ - begin_;
  int64_t remaining = -1;
  TFR_RETURN_IF_ERROR(frames_->Remaining(&remaining));
  if (remaining < 0 || RecordLength(header) + kFrameBytes <= left + static_cast<uint64_t>(remaining)) return {};
  return Truncated(place_.offset, place_.index, header, left + static_cast<size_t>(remaining));
}

// The bytes that Resume searches: those that the reader holds, then those of its source.
class RecordReader::Searched : public SearchedBytes {
 public:
  explicit Searched(RecordReader* reader) : reader_(*reader) {}

  Status ShowHeader(int64_t offset, Bytes* shown) override {
    reader_.Drop(static_cast<size_t>(offset - reader_.place_.offset));
    return Show(offset, kHeaderBytes, shown);
  }

  Status Reach(int64_t end, bool* reached) override {
    const auto wanted = static_cast<size_t>(end - reader_.place_.offset);
    int64_t remaining = -1;
    TFR_RETURN_IF_ERROR(reader_.frames_->Remaining(&remaining));
    if (remaining < 0) TFR_RETURN_IF_ERROR(Hold(wanted));
    *reached = wanted <= Held() + static_cast<size_t>(std::max<int64_t>(remaining, 0));
    return {};
  }

  Status Show(int64_t offset, size_t size, Bytes* shown) override {
    const auto skip = static_cast<size_t>(offset - reader_.place_.offset);
    TFR_RETURN_IF_ERROR(Hold(skip + size));
    const size_t there = std::min(skip, Held());
    *shown = {reader_.buffer_->data() + reader_.begin_ + there, Held() - there};
    return {};
  }

 private:
  size_t Held() const { return reader_.end_ - reader_.begin_; }

  // Reads until that many bytes are held, or to the end.
  Status Hold(size_t size) {
    while (Held() < size) {
      TFR_RETURN_IF_ERROR(reader_.MakeRoom(size));
      size_t got = 0;
      Status read = reader_.Fill(&got);
      // Where a stream breaks off, its bytes end.
      if (got == 0 && !read.ok() && read.code() != StatusCode::kDataLoss) return read;
      if (got == 0) break;
    }
    return {};
  }

  RecordReader& reader_;
};

Status RecordReader::Resume(const std::string& reason, std::vector<Skipped>* skipped) {
  const int64_t from = place_.offset;
  bool broken = false;         // the stream: what it lost can't be known
  if (begin_ < end_) Drop(1);  // what starts here is damaged
  while (true) {
    Searched rest(this);
    int64_t found = 0;
    TFR_RETURN_IF_ERROR(search_.Find(place_.offset, &rest, &found));
    Drop(static_cast<size_t>(found - place_.offset));
    if (begin_ < end_ || failed_.ok()) break;
    broken = true;
    bool again = false;
    TFR_RETURN_IF_ERROR(frames_->SkipDamage([this](size_t bytes) { return search_.Worked(bytes); }, &again));
    failed_ = {};
    if (!again) {
      frames_ = std::make_unique<MemorySource>(Bytes{nullptr, 0}, nullptr);
      break;
    }
  }
  skipped->push_back({from, broken ? -1 : place_.offset - from, reason});
  return {};
}

void RecordReader::Drop(size_t bytes) {
  begin_ += bytes;
  place_.offset += static_cast<int64_t>(bytes);
}

// Makes room after end_, and for `wanted` bytes from begin_ on once that many bytes have come or the source knows that
// they will: never allocate based on an unverified length. Bytes before end_ may be in use elsewhere and stay as they
// are, so a shared buffer is filled up, but nothing in it is moved. A large buffer that is not shared grows in place.
// Its bytes are moved only when as many bytes before them were dropped, so that a search among long records takes no
// more time than their bytes.
Status RecordReader::MakeRoom(uint64_t wanted) {
  const size_t left = end_ - begin_;
  const size_t room = buffer_ ? buffer_->capacity() - end_ : 0;
  if (room > 0 && (room >= buffer_->capacity() / 4 || (!shared_ && begin_ == 0))) return {};
  size_t capacity = std::max(options_.chunk_bytes, left + 1);
  if (wanted > capacity) {
    int64_t remaining = -1;
    TFR_RETURN_IF_ERROR(frames_->Remaining(&remaining));
    const size_t earned = remaining >= 0 ? left + static_cast<size_t>(remaining) : 2 * left;
    capacity = std::max(capacity, static_cast<size_t>(std::min<uint64_t>(wanted, earned)));
  }
  const bool large = left >= options_.chunk_bytes && begin_ < left;
  if (buffer_ && !shared_ && large) return Grow(std::max(capacity, wanted > capacity ? 0 : left + left / 2));
  if (buffer_ && !shared_ && buffer_->capacity() >= capacity) {
    if (left > 0) std::memmove(buffer_->data(), buffer_->data() + begin_, left);
  } else {
    std::shared_ptr<Buffer> fresh = pool_->Take(capacity);
    if (!fresh) return NoRoom(capacity);
    if (left > 0) std::memcpy(fresh->data(), buffer_->data() + begin_, left);
    buffer_ = std::move(fresh);
    shared_ = false;
  }
  begin_ = 0;
  end_ = left;
  return {};
}

// Makes the buffer, which no chunk holds, so large that `capacity` bytes fit from begin_ on.
Status RecordReader::Grow(size_t capacity) {
  if (begin_ + capacity <= buffer_->capacity()) return {};
  return buffer_->Grow(begin_ + capacity, end_) ? Status() : NoRoom(capacity);
}

Status RecordReader::NoRoom(size_t capacity) const {
  return Status::OutOfMemory("buffer of " + std::to_string(capacity) + " bytes")
      .WithRecord(place_.offset, place_.index);
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
