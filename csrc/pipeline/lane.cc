// Opening a file and making its units; see lane.h.

#include "pipeline/lane.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "framing/format.h"
#include "framing/scan.h"

namespace tfr {
namespace {

// Room behind a region for the end of its last record, as a part of the region.
constexpr size_t kSlackPart = 4;

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

Lane::Lane(const InputFile& input, const LaneOptions& options, BufferPool* pool)
    : input_(input), options_(options), pool_(pool), consumer_only_(input.open != nullptr) {}

bool Lane::CanClaim(bool consumer) const {
  if (all_claimed_ || busy_) return false;
  return consumer || !consumer_only_;
}

size_t Lane::Claim() {
  busy_ = claim_kind_ != Kind::kRegions;
  const size_t unit = next_unit_++;
  if (claim_kind_ == Kind::kRegions && next_unit_ >= units_) all_claimed_ = true;
  return unit;
}

void Lane::Unclaim(size_t unit) {
  busy_ = false;
  consumer_only_ = true;
  next_unit_ = unit;
}

void Lane::Deposit(size_t unit, Produced produced) {
  if (claim_kind_ != Kind::kRegions) busy_ = false;
  claim_kind_ = kind_;
  if (produced.last || (kind_ == Kind::kRegions && next_unit_ >= units_)) all_claimed_ = true;
  ready_.emplace(unit, std::move(produced));
}

bool Lane::Take(Produced* produced) {
  const auto found = ready_.find(next_taken_);
  if (found == ready_.end()) return false;
  *produced = std::move(found->second);
  ready_.erase(found);
  ++next_taken_;
  return true;
}

void Lane::Cancel() { StopTokens(); }

bool Lane::Produce(size_t unit, bool consumer, Produced* produced) {
  try {
    if (kind_ == Kind::kUnopened) {
      if (!consumer && !File::IsRegular(*input_.path)) return false;
      produced->status = Open();
    }
    if (produced->status.ok() && kind_ == Kind::kStream) ProduceNextOfStream(produced);
    if (produced->status.ok() && kind_ == Kind::kRegions) ProduceRegion(unit, produced);
  } catch (const std::bad_alloc&) {
    produced->status = Status::OutOfMemory("no memory for the records of a chunk");
  }
  if (!produced->status.ok()) {
    produced->last = true;
    produced->status = std::move(produced->status).WithPath(*input_.path);
    StopTokens();
  }
  return true;
}

Status Lane::Open() {
  std::unique_ptr<Source> source;
  CompressionChoice choice = options_.compression;
  if (input_.open) {
    TFR_RETURN_IF_ERROR(input_.open(&source));
  } else {
    TFR_RETURN_IF_ERROR(File::Open(*input_.path, &file_));
    if (file_->regular()) {
      if (!choice) {
        uint8_t head[kDetectBytes];
        size_t got = 0;
        TFR_RETURN_IF_ERROR(ReadAtFully(*file_, 0, head, sizeof head, &got));
        choice = DetectCompression(head, got);
      }
      if (*choice == Compression::kNone) {
        file_bytes_ = file_->Size();
        units_ = static_cast<size_t>((file_bytes_ + static_cast<int64_t>(options_.chunk_bytes) - 1) /
                                     static_cast<int64_t>(options_.chunk_bytes));
        units_ = std::max<size_t>(units_, 1);
        kind_ = Kind::kRegions;
        return {};
      }
    }
    source = std::make_unique<FileSource>(std::move(file_));
  }
  std::unique_ptr<Source> frames;
  Compression found;
  TFR_RETURN_IF_ERROR(OpenFrames(std::move(source), choice, &frames, &found));
  RecordReader::Options reader_options;
  reader_options.verify_data = options_.verify_data;
  reader_options.chunk_bytes = options_.chunk_bytes;
  reader_ = std::make_unique<RecordReader>(std::move(frames), pool_, reader_options);
  kind_ = Kind::kStream;
  return {};
}

void Lane::ProduceNextOfStream(Produced* produced) {
  produced->status = reader_->Next(&produced->chunk);
  if (produced->chunk.records.empty()) produced->last = true;
}

// What a region's unit has read so far: the file's bytes from `offset` on.
struct Lane::Region {
  std::shared_ptr<Buffer> buffer;
  size_t used = 0;
  int64_t offset = 0;
  int64_t end = 0;  // of the region in the file

  const uint8_t* At(int64_t file_offset) const { return buffer->data() + (file_offset - offset); }
};

void Lane::ProduceRegion(size_t unit, Produced* produced) {
  const int64_t begin = static_cast<int64_t>(unit) * static_cast<int64_t>(options_.chunk_bytes);
  const int64_t end = std::min(begin + static_cast<int64_t>(options_.chunk_bytes), file_bytes_);
  produced->last = unit + 1 >= units_;

  // Read ahead of the token, unless it is here already and says that there is less to read, or nothing.
  Token token;
  const bool known = PeekToken(unit, &token);
  Region region;
  region.offset = known ? std::max(begin, token.offset) : begin;
  region.end = end;
  Status read = ReadRegion(&region);
  if (!known && !AwaitToken(unit, &token)) {
    produced->last = true;  // an earlier unit has ended the file; its word counts
    return;
  }
  if (!read.ok()) {
    produced->status = std::move(read).WithRecord(token.offset, token.index);
    return;
  }
  // A record from before covers the whole region; or the file was cut while it was read.
  if (token.offset >= end || token.offset < region.offset || token.offset > region.offset + static_cast<int64_t>(region.used)) {
    PassToken(token.offset, token.index);
    return;
  }
  Chunk& chunk = produced->chunk;
  chunk.first_index = token.index;
  chunk.first_offset = token.offset;
  Status after = CutRegion(token, &region, &chunk);
  chunk.buffer = region.buffer;
  chunk.buffer_bytes = region.buffer->capacity();
  if (!after.ok()) StopTokens();
  if (options_.verify_data) produced->status = VerifyChunk(&chunk);
  if (produced->status.ok()) produced->status = std::move(after);
}

Status Lane::ReadRegion(Region* region) {
  if (region->offset >= region->end) return {};
  const size_t capacity = options_.chunk_bytes + options_.chunk_bytes / kSlackPart;
  region->buffer = pool_->Take(capacity);
  if (!region->buffer) return Status::OutOfMemory("buffer of " + std::to_string(capacity) + " bytes");
  return ReadAtFully(*file_, region->offset, region->buffer->data(), static_cast<size_t>(region->end - region->offset),
                     &region->used);
}

// Appends the records that start in the region and passes the token as soon as it is known where the next starts.
// The status is about what stands behind them.
Status Lane::CutRegion(const Token& token, Region* region, Chunk* chunk) {
  const uint8_t* const first = region->At(token.offset);
  const Hop hop = HopRecords(first, region->buffer->data() + region->used, &chunk->records);
  const int64_t offset = token.offset + (hop.next - first);
  const int64_t index = token.index + static_cast<int64_t>(chunk->records.size());
  if (hop.end == Hop::End::kBadHeader) return BadHeader(offset, index);
  if (hop.end == Hop::End::kTooLarge) return TooLarge(offset, index, RecordLength(hop.next));
  const size_t at = static_cast<size_t>(hop.next - region->buffer->data());
  if (at == region->used) {
    PassToken(offset, index);
    return {};
  }
  // A record starts here and ends behind the region. First its header, if that is cut, then its data.
  if (region->used - at < kHeaderBytes) TFR_RETURN_IF_ERROR(ReadUpTo(offset + static_cast<int64_t>(kHeaderBytes), region, chunk));
  const uint8_t* header = region->At(offset);
  if (region->used - at < kHeaderBytes) return Truncated(offset, index, header, region->used - at);
  if (!HeaderIsIntact(header)) return BadHeader(offset, index);
  const uint64_t length = RecordLength(header);
  if (length > kMaxRecordBytes) return TooLarge(offset, index, length);
  const int64_t record_end = offset + static_cast<int64_t>(kFrameBytes + length);
  if (record_end > file_->Size()) return Truncated(offset, index, header, static_cast<size_t>(file_->Size() - offset));
  PassToken(record_end, index + 1);
  Status read = ReadUpTo(record_end, region, chunk);
  if (!read.ok()) return std::move(read).WithRecord(offset, index);
  if (region->offset + static_cast<int64_t>(region->used) < record_end) {
    return Truncated(offset, index, region->At(offset), region->used - at);
  }
  chunk->records.push_back({region->At(offset) + kHeaderBytes, static_cast<size_t>(length)});
  return {};
}

// Reads on to `file_offset`, into a larger buffer where need be; the views of `chunk` move along.
Status Lane::ReadUpTo(int64_t file_offset, Region* region, Chunk* chunk) {
  const size_t needed = static_cast<size_t>(file_offset - region->offset);
  if (needed > region->buffer->capacity()) {
    std::shared_ptr<Buffer> larger = pool_->Take(needed);
    if (!larger) return Status::OutOfMemory("buffer of " + std::to_string(needed) + " bytes");
    std::memcpy(larger->data(), region->buffer->data(), region->used);
    for (Bytes& record : chunk->records) record.data = larger->data() + (record.data - region->buffer->data());
    region->buffer = std::move(larger);
  }
  size_t got = 0;
  Status status = ReadAtFully(*file_, region->offset + static_cast<int64_t>(region->used),
                              region->buffer->data() + region->used, needed - region->used, &got);
  region->used += got;
  return status;
}

bool Lane::PeekToken(size_t unit, Token* token) {
  std::lock_guard<std::mutex> lock(token_mutex_);
  if (stopped_ || token_.unit != unit) return false;
  *token = token_;
  return true;
}

bool Lane::AwaitToken(size_t unit, Token* token) {
  std::unique_lock<std::mutex> lock(token_mutex_);
  token_moved_.wait(lock, [&] { return stopped_ || token_.unit == unit; });
  if (stopped_) return false;
  *token = token_;
  return true;
}

void Lane::PassToken(int64_t offset, int64_t index) {
  {
    std::lock_guard<std::mutex> lock(token_mutex_);
    token_ = {token_.unit + 1, offset, index};
  }
  token_moved_.notify_all();
}

void Lane::StopTokens() {
  {
    std::lock_guard<std::mutex> lock(token_mutex_);
    stopped_ = true;
  }
  token_moved_.notify_all();
}

}  // namespace tfr
