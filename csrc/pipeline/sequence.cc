// Epochs, slots and visits; see sequence.h.

#include "pipeline/sequence.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/random.h"

namespace tfr {
namespace {

constexpr uint64_t kFileOrderUse = 1;

}  // namespace

Status CheckFiles(const SequenceState& state, size_t files) {
  for (const SequenceState::Slot& slot : state.slots) {
    if (slot.file >= static_cast<int64_t>(files)) {
      return Status::InvalidArgument("the saved state names a file that is not in the list");
    }
  }
  return {};
}

uint32_t FileOrder::At(int64_t epoch, size_t place) {
  if (!options_.shuffle_files) return static_cast<uint32_t>(place);
  if (drawn_epoch_ != epoch) {
    drawn_.resize(files_);
    std::iota(drawn_.begin(), drawn_.end(), 0u);
    Random random = Random::For(options_.seed, kFileOrderUse, static_cast<uint64_t>(epoch));
    for (size_t i = files_; i > 1; --i) std::swap(drawn_[i - 1], drawn_[random.Below(i)]);
    drawn_epoch_ = epoch;
  }
  return drawn_[place];
}

Sequence::Sequence(FileOrder* order, const SequenceOptions& options, const SequenceState& start, LaneAccess* lanes)
    : order_(order),
      options_(options),
      lanes_(lanes),
      slots_(SlotsFor(options, order->files())),
      epoch_(start.epoch),
      next_file_(start.next_file),
      cursor_(start.cursor % slots_.size()),
      visit_(start.visit) {
  for (size_t i = 0; i < std::min(slots_.size(), start.slots.size()); ++i) {
    const SequenceState::Slot& saved = start.slots[i];
    if (saved.file < 0) continue;
    // The lane is named by its place in the epoch's order.
    slots_[i].begin = saved.next;
    slots_[i].lane = lanes_->OpenLane(epoch_, static_cast<size_t>(saved.file), saved.next);
    ++active_;
    any_record_ = true;
  }
  if (next_file_ > 0) any_record_ = true;
}

Sequence::Event Sequence::Next(size_t max, Run* run) {
  if (!error_.ok()) return Event::kError;
  waiting_for_.reset();
  while (true) {
    if (!order_->HasEpoch(epoch_) || order_->files() == 0) return Event::kEnd;
    if (slots_.size() > 1 && visit_ >= options_.block_length) Advance();
    Slot& slot = slots_[cursor_];
    if (!slot.lane && !FillSlot(&slot)) {
      if (active_ > 0) {
        Advance();
        continue;
      }
      // An endless run over files without any record would never return.
      if (!any_record_ && options_.num_epochs < 0) return Event::kEnd;
      ++epoch_;
      next_file_ = cursor_ = visit_ = 0;
      any_record_ = false;
      return Event::kEpochEnd;
    }
    if (slot.taken == slot.size) {
      const Event event = Refill(&slot);
      if (event != Event::kRun) return event;
      if (slot.taken == slot.size) continue;
    }
    any_record_ = true;
    size_t count = std::min(max, slot.size - slot.taken);
    if (slots_.size() > 1) count = std::min(count, options_.block_length - visit_);
    *run = {&slot.chunk, slot.lane.get(), slot.taken, count};
    slot.taken += count;
    visit_ += count;
    if (slot.noted < slot.skipped.size()) NoteSkipped(&slot, PlaceIn(slot).offset);
    return Event::kRun;
  }
}

// Replaces the slot's chunk, which is used up, by the next one; retires the lane at its end. kRun: look again.
Sequence::Event Sequence::Refill(Slot* slot) {
  NoteSkipped(slot, INT64_MAX);
  if (!slot->error.ok()) {
    error_ = slot->error;
    return Event::kError;
  }
  if (slot->last) {
    lanes_->Retire(slot->lane);
    *slot = {};
    --active_;
    Advance();
    return Event::kRun;
  }
  Produced produced;
  if (!lanes_->TryTake(slot->lane, &produced)) {
    waiting_for_ = slot->lane;
    return Event::kWait;
  }
  slot->skipped = std::move(produced.skipped);
  slot->noted = 0;
  slot->chunk = std::move(produced.chunk);
  slot->taken = 0;
  slot->size = slot->chunk.records.size();
  slot->error = std::move(produced.status);
  slot->last = produced.last;
  slot->begin = slot->chunk.end;
  return Event::kRun;
}

void Sequence::NoteSkipped(Slot* slot, int64_t before) {
  for (; slot->noted < slot->skipped.size() && slot->skipped[slot->noted].offset < before; ++slot->noted) {
    skipped_.push_back({slot->lane->path(), std::move(slot->skipped[slot->noted])});
  }
}

bool Sequence::FillSlot(Slot* slot) {
  if (next_file_ >= order_->files()) return false;
  *slot = {};
  slot->lane = lanes_->OpenLane(epoch_, next_file_++, {});
  ++active_;
  return true;
}

void Sequence::Advance() {
  visit_ = 0;
  cursor_ = (cursor_ + 1) % slots_.size();
}

Place Sequence::PlaceIn(const Slot& slot) const {
  return slot.taken < slot.size ? slot.chunk.PlaceOf(slot.taken) : slot.begin;
}

SequenceState Sequence::State() const {
  SequenceState state;
  state.epoch = epoch_;
  state.next_file = next_file_;
  state.cursor = cursor_;
  state.visit = visit_;
  for (const Slot& slot : slots_) {
    SequenceState::Slot saved;
    if (slot.lane) {
      saved.file = static_cast<int64_t>(slot.lane->turn());
      saved.next = PlaceIn(slot);
    }
    state.slots.push_back(saved);
  }
  return state;
}

}  // namespace tfr
