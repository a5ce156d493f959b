// Cutting and shuffling; see batch_cutter.h.

#include "pipeline/batch_cutter.h"

#include <algorithm>
#include <utility>

namespace tfr {
namespace {

constexpr uint64_t kShuffleUse = 2;
constexpr size_t kInterleavedBatch = 1024;  // records of a batch of an interleave, as they come
constexpr size_t kOwnersLookedAt = 8;
constexpr size_t kRoomAtOnce = 64 << 10;  // records; a batch may be larger than all files together

CutterOptions Possible(CutterOptions options) {
  options.shuffle_buffer = std::min<size_t>(options.shuffle_buffer, ShuffleStep::kMostSlots);
  return options;
}

}  // namespace

BatchCutter::BatchCutter(Sequence* sequence, const CutterOptions& options, const CutterState& start,
                         std::vector<ShuffleItem> buffer)
    : sequence_(sequence),
      options_(Possible(options)),
      random_(start.random),
      started_(start.started),
      draining_(start.draining),
      buffer_(std::move(buffer)) {
  cut_.batch = std::make_shared<RecordBatch>();
}

BatchCutter::Event BatchCutter::Next(Cut* cut) {
  while (!Full()) {
    Sequence::Event event;
    if (options_.shuffle_buffer > 0) {
      event = draining_ || buffer_.size() >= options_.shuffle_buffer ? Draw() : Fill();
    } else {
      Run run;
      const size_t room =
          options_.batch_size == CutterOptions::kAsTheyCome ? SIZE_MAX : options_.batch_size - cut_.batch->size();
      event = sequence_->Next(room, &run);
      if (event == Sequence::Event::kRun) Append(run);
    }
    if (event == Sequence::Event::kWait) return Event::kWait;
    if (event == Sequence::Event::kError) {
      // With kAsTheyCome, records before the damage are delivered first; the sequence will report the error again.
      if (options_.batch_size == CutterOptions::kAsTheyCome && cut_.batch->size() > 0) break;
      return Finish(Event::kError, cut);
    }
    if (event == Sequence::Event::kEnd) {
      const bool drop = options_.drop_remainder || cut_.batch->size() == 0;
      if (drop) return Finish(Event::kEnd, cut);
      break;
    }
  }
  return Finish(Event::kBatch, cut);
}

bool BatchCutter::Full() const {
  const size_t size = cut_.batch->size();
  if (options_.batch_size != CutterOptions::kAsTheyCome) return size >= options_.batch_size;
  // A run may be a whole chunk; but the runs of an interleave are short.
  return size >= kInterleavedBatch || (size > 0 && options_.shuffle_buffer == 0 && !sequence_->interleaves());
}

BatchCutter::Event BatchCutter::Finish(Event event, Cut* cut) {
  cut_.skipped = sequence_->TakeSkipped();
  if (event == Event::kBatch) {
    cut_.after.sequence = sequence_->State();
    cut_.after.random = random_.state();
    cut_.after.started = started_;
    cut_.after.draining = draining_;
  } else {
    cut_.batch.reset();
  }
  *cut = std::exchange(cut_, {});
  cut_.batch = std::make_shared<RecordBatch>();
  return event;
}

void BatchCutter::Append(const Run& run) {
  RecordBatch& batch = *cut_.batch;
  std::vector<Bytes>& from = run.chunk->records;
  const Bytes& last = from[run.begin + run.count - 1];
  cut_.bytes += static_cast<size_t>(last.data + last.size - from[run.begin].data);
  const bool even = run.chunk->indices.empty();
  for (size_t i = 0; i < (even ? 1 : run.count); ++i) {
    const Place place = run.chunk->PlaceOf(run.begin + i);
    batch.origins.push_back(
        {batch.size() + i, run.lane->path(), place.index, run.chunk->stride, sequence_->epoch(), place.offset});
  }
  AddOwner(run.chunk->buffer);
  if (batch.records.empty() && run.begin == 0 && run.count == from.size()) {
    batch.records.swap(from);
  } else {
    if (batch.records.empty()) batch.records.reserve(std::max(run.count, std::min(options_.batch_size, kRoomAtOnce)));
    const auto begin = from.begin() + static_cast<ptrdiff_t>(run.begin);
    batch.records.insert(batch.records.end(), begin, begin + static_cast<ptrdiff_t>(run.count));
  }
}

void BatchCutter::Append(ShuffleItem item) {
  RecordBatch& batch = *cut_.batch;
  const Place& place = item.place.place;
  batch.origins.push_back({batch.size(), std::move(item.path), place.index, 1, BufferEpoch(), place.offset});
  AddOwner(item.owner);
  batch.records.push_back(item.record);
  cut_.bytes += item.record.size;
}

// The same few buffers come again and again. Naming an owner twice does no harm.
void BatchCutter::AddOwner(const Owner& owner) {
  std::vector<Owner>& owners = cut_.batch->owners;
  const size_t looked_at = std::min(owners.size(), kOwnersLookedAt);
  for (size_t i = 1; i <= looked_at; ++i) {
    if (owners[owners.size() - i] == owner) return;
  }
  owners.push_back(owner);
}

Sequence::Event BatchCutter::Fill() {
  Run run;
  const Sequence::Event event = sequence_->Next(options_.shuffle_buffer - buffer_.size(), &run);
  if (event == Sequence::Event::kRun) {
    for (size_t i = run.begin; i < run.begin + run.count; ++i) {
      const RecordPlace place = {run.lane->file(), run.chunk->PlaceOf(i)};
      buffer_.push_back({run.chunk->records[i], run.chunk->buffer, run.lane->path(), place});
      cut_.steps.push_back({ShuffleStep::kAppend, place});
    }
  } else if (event == Sequence::Event::kEpochEnd) {
    draining_ = true;
  }
  return event;
}

Sequence::Event BatchCutter::Draw() {
  if (!started_) {
    random_ = Random::For(options_.seed, kShuffleUse, static_cast<uint64_t>(BufferEpoch()));
    started_ = true;
  }
  if (draining_) {
    if (buffer_.empty()) {
      draining_ = started_ = false;
      return Sequence::Event::kRun;
    }
    const auto slot = static_cast<uint32_t>(random_.Below(buffer_.size()));
    Append(std::move(buffer_[slot]));
    if (slot + 1u < buffer_.size()) buffer_[slot] = std::move(buffer_.back());
    buffer_.pop_back();
    cut_.steps.push_back({slot, {ShuffleStep::kGone, {}}});
    return Sequence::Event::kRun;
  }
  const size_t room = options_.batch_size == CutterOptions::kAsTheyCome ? kInterleavedBatch : options_.batch_size;
  Run run;
  const Sequence::Event event = sequence_->Next(room - cut_.batch->size(), &run);
  if (event == Sequence::Event::kRun) {
    for (size_t i = run.begin; i < run.begin + run.count; ++i) {
      const auto slot = static_cast<uint32_t>(random_.Below(buffer_.size()));
      const RecordPlace place = {run.lane->file(), run.chunk->PlaceOf(i)};
      Append(std::exchange(buffer_[slot], {run.chunk->records[i], run.chunk->buffer, run.lane->path(), place}));
      cut_.steps.push_back({slot, place});
    }
  } else if (event == Sequence::Event::kEpochEnd) {
    draining_ = true;
  }
  return event;
}

}  // namespace tfr
