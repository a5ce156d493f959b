// Claims and hand-ins of units, and their errors; see lane.h.

#include "pipeline/lane.h"

#include <algorithm>
#include <new>
#include <utility>

#include "pipeline/open_units.h"

namespace tfr {

size_t Lane::Claim() {
  busy_ = !in_parallel_;
  const size_t unit = next_unit_++;
  if (next_unit_ >= units_) all_claimed_ = true;
  return unit;
}

void Lane::Unclaim(size_t unit) {
  busy_ = false;
  consumer_only_ = true;
  next_unit_ = unit;
}

void Lane::Deposit(size_t unit, Produced produced) {
  if (!in_parallel_) busy_ = false;
  if (!opened_ && maker_) {
    opened_ = true;
    in_parallel_ = maker_->in_parallel();
    units_ = maker_->units();
  }
  if (produced.last || next_unit_ >= units_) all_claimed_ = true;
  unit_bytes_ = produced.chunk.buffer_bytes;
  ready_.emplace(unit, std::move(produced));
}

size_t Lane::ready_bytes() const {
  size_t bytes = 0;
  for (const auto& [unit, produced] : ready_) bytes += produced.chunk.buffer_bytes;
  return bytes;
}

bool Lane::Take(Produced* produced) {
  const auto found = ready_.find(next_taken_);
  if (found == ready_.end()) return false;
  *produced = std::move(found->second);
  ready_.erase(found);
  ++next_taken_;
  return true;
}

// The unit that opens the file never waits, and is the only one until it was deposited.
void Lane::Cancel() {
  file_.cancelled.store(true, std::memory_order_relaxed);
  if (opened_) maker_->Cancel();
}

bool Lane::Produce(size_t unit, Caller caller, Produced* produced) noexcept {
  try {
    return Make(unit, caller, produced);
  } catch (const std::bad_alloc&) {
    produced->chunk.records.clear();
    produced->status = Status::OutOfMemory();
    produced->last = true;
    if (maker_) maker_->CancelAfter(unit);
    return true;
  }
}

bool Lane::Make(size_t unit, Caller caller, Produced* produced) {
  if (!maker_) {
    const int64_t size = file_.input.open || object_ ? -1 : File::FindRegular(*file_.input.path);
    if (size < 0 && !object_ && caller == Caller::kWorker) return false;
    produced->status = object_ ? OpenObject(file_, object_, &maker_) : OpenUnits(file_, size, &maker_);
    const bool may_be_tried_again = caller != Caller::kLoneConsumer && !file_.input.open && !object_;
    if (may_be_tried_again && produced->status.too_many_open_files()) return false;
  }
  if (maker_) maker_->Produce(unit, produced);
  file_.DropBeforeStart(&produced->skipped);
  if (!produced->status.ok()) {
    produced->last = true;
    produced->status = std::move(produced->status).WithPath(*file_.input.path);
    if (maker_) maker_->CancelAfter(unit);
  }
  return true;
}

}  // namespace tfr
