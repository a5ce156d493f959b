// Opening a file, claiming its units, and the units of a stream; see lane.h. Regions are in lane_regions.cc.

#include "pipeline/lane.h"

#include <algorithm>
#include <new>
#include <string>
#include <utility>

namespace tfr {

Lane::Lane(const InputFile& input, uint32_t file, size_t turn, Place start, const LaneOptions& options,
           BufferPool* pool)
    : input_(input),
      file_number_(file),
      turn_(turn),
      start_(start),
      options_(options),
      pool_(pool),
      consumer_only_(input.open != nullptr) {
  token_.place = start;
}

size_t Lane::Claim() {
  busy_ = !InParallel(claim_kind_);
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
  if (!InParallel(claim_kind_)) busy_ = false;
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

bool Lane::Produce(size_t unit, bool consumer, Produced* produced) {
  try {
    if (kind_ == Kind::kUnopened) {
      const int64_t size = input_.open ? -1 : File::FindRegular(*input_.path);
      if (size < 0 && !consumer) return false;
      produced->status = Open(size);
    }
    if (produced->status.ok() && kind_ == Kind::kStream) ProduceNextOfStream(produced);
    if (produced->status.ok() && kind_ == Kind::kRegions) ProduceRegion(unit, produced);
    if (produced->status.ok() && kind_ == Kind::kParts) ProducePart(unit, produced);
  } catch (const std::bad_alloc&) {
    produced->status = Status::OutOfMemory("no memory for the records of a chunk");
  }
  // Whoever stood at the start has been told of what lies before it.
  std::erase_if(produced->skipped, [this](const Skipped& what) { return what.offset < start_.offset; });
  if (!produced->status.ok()) {
    produced->last = true;
    produced->status = std::move(produced->status).WithPath(*input_.path);
    StopTokens();
  }
  return true;
}

Status Lane::Open(int64_t size) {
  std::unique_ptr<Source> source;
  CompressionChoice choice = options_.compression;
  if (input_.open) {
    TFR_RETURN_IF_ERROR(input_.open(&source));
  } else {
    TFR_RETURN_IF_ERROR(size >= 0 ? File::OpenFound(*input_.path, size, &file_) : File::Open(*input_.path, &file_));
    if (file_->regular()) {
      if (!choice) {
        TFR_RETURN_IF_ERROR(Detect(&choice));
      }
      if (*choice == Compression::kNone) {
        const auto region_bytes = static_cast<int64_t>(options_.chunk_bytes);
        file_bytes_ = file_->opened_size();
        first_region_ = start_.offset / region_bytes;
        const int64_t regions = (file_bytes_ + region_bytes - 1) / region_bytes - first_region_;
        units_ = static_cast<size_t>(std::max<int64_t>(regions, 1));
        kind_ = Kind::kRegions;
        return {};
      }
      compression_ = *choice;
      bool marked = false;
      PartSizes sizes;
      TFR_RETURN_IF_ERROR(LookForPart(0, &marked, &sizes));
      if (marked) {
        file_bytes_ = file_->Size();
        token_.place = {};
        kind_ = Kind::kParts;
        return {};
      }
    }
    source = std::make_unique<FileSource>(std::move(file_));
  }
  std::unique_ptr<Source> frames;
  Compression found;
  TFR_RETURN_IF_ERROR(OpenFrames(std::move(source), choice, &frames, &found));
  RecordReader::Options reader_options;
  reader_options.chunk_bytes = options_.chunk_bytes;
  reader_ = std::make_unique<RecordReader>(std::move(frames), pool_, reader_options);
  kind_ = Kind::kStream;
  return {};
}

// From the file's first bytes. A small file is read whole: if it is not compressed, that is its region.
Status Lane::Detect(CompressionChoice* choice) {
  FileSource start(file_);
  if (start_.offset == 0 && file_->opened_size() <= static_cast<int64_t>(kSmallFile)) {
    head_ = pool_->Take(kSmallFile);
    if (!head_) return Status::OutOfMemory("buffer of " + std::to_string(kSmallFile) + " bytes");
    TFR_RETURN_IF_ERROR(ReadFully(&start, head_->data(), static_cast<size_t>(file_->opened_size()), &head_size_));
    *choice = DetectCompression(head_->data(), std::min(head_size_, kDetectBytes));
    if (*choice != Compression::kNone) head_.reset();
    return {};
  }
  uint8_t head[kDetectBytes];
  size_t got = 0;
  TFR_RETURN_IF_ERROR(ReadFully(&start, head, sizeof head, &got));
  *choice = DetectCompression(head, got);
  return {};
}

void Lane::ProduceNextOfStream(Produced* produced) {
  Chunk& chunk = produced->chunk;
  while (true) {
    Status status = reader_->Next(&chunk);
    if (!status.ok()) {
      if (!Passes(status)) {
        produced->status = std::move(status);
        return;
      }
      const std::string reason = status.detail().message;
      if (options_.on_corrupt == OnCorrupt::kSkip) {
        produced->status = reader_->Resume(reason, &produced->skipped);
        if (!produced->status.ok()) return;
        continue;
      }
      produced->skipped.push_back({status.detail().offset, -1, reason});
    }
    if (chunk.records.empty()) {
      produced->last = true;
      return;
    }
    if (chunk.end.index > start_.index) break;  // else all of it lies before the start
  }
  DropBeforeStart(&chunk);
  FinishChunk(produced);
}

void Lane::DropBeforeStart(Chunk* chunk) const {
  if (chunk->first_index >= start_.index) return;
  const int64_t before = std::min(start_.index - chunk->first_index, static_cast<int64_t>(chunk->records.size()));
  chunk->records.erase(chunk->records.begin(), chunk->records.begin() + before);
  chunk->first_index += before;
}

bool Lane::Passes(const Status& status) const {
  return status.code() == StatusCode::kDataLoss && options_.on_corrupt != OnCorrupt::kRaise;
}

void Lane::FinishChunk(Produced* produced) {
  Chunk& chunk = produced->chunk;
  if (options_.keep_divisor > 1) {
    const int64_t remainder = options_.keep_remainder - static_cast<int64_t>(file_number_);
    chunk.KeepEvery(options_.keep_divisor, remainder);
  }
  if (!options_.verify_data) return;
  const bool skip = options_.on_corrupt == OnCorrupt::kSkip;
  Status status = VerifyChunk(&chunk, skip ? &produced->skipped : nullptr);
  std::sort(produced->skipped.begin(), produced->skipped.end(),
            [](const Skipped& a, const Skipped& b) { return a.offset < b.offset; });
  if (status.ok()) return;
  if (!Passes(status)) {
    produced->status = std::move(status);
    return;
  }
  // The rest of the file goes with the damaged record, also for whoever goes on behind the chunk.
  const int64_t from = status.detail().offset;
  chunk.end = {from, status.detail().record_index};
  produced->skipped = {{from, kind_ == Kind::kRegions ? file_bytes_ - from : -1, status.detail().message}};
  produced->last = true;
  StopTokens();
}

bool Lane::PeekToken(size_t unit, Place* place) {
  std::lock_guard<std::mutex> lock(token_mutex_);
  if (stopped_ || token_.unit != unit) return false;
  *place = token_.place;
  return true;
}

bool Lane::AwaitToken(size_t unit, Place* place) {
  std::unique_lock<std::mutex> lock(token_mutex_);
  token_moved_.wait(lock, [&] { return stopped_ || token_.unit == unit; });
  if (stopped_) return false;
  *place = token_.place;
  return true;
}

void Lane::PassToken(Place place) {
  {
    std::lock_guard<std::mutex> lock(token_mutex_);
    token_ = {token_.unit + 1, place};
  }
  token_moved_.notify_all();
}

bool Lane::AwaitCursor(size_t unit, Cursor* cursor) {
  std::unique_lock<std::mutex> lock(token_mutex_);
  token_moved_.wait(lock, [&] { return stopped_ || cursor_.unit == unit || cursor_ended_; });
  if (stopped_ || cursor_.unit != unit) return false;
  *cursor = cursor_;
  return true;
}

void Lane::PassCursor(int64_t offset, bool streaming) {
  {
    std::lock_guard<std::mutex> lock(token_mutex_);
    cursor_ = {cursor_.unit + 1, offset, streaming};
  }
  token_moved_.notify_all();
}

void Lane::EndCursor() {
  {
    std::lock_guard<std::mutex> lock(token_mutex_);
    cursor_ended_ = true;
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
