// The search, and what it looks through; see search.h.

#include "framing/search.h"

#include <algorithm>

#include "base/interrupt.h"
#include "crc32c/concat.h"
#include "framing/scan.h"

namespace tfr {
namespace {

constexpr size_t kNearBytes = 256 << 10;  // per read
constexpr size_t kFarBytes = 64 << 10;
constexpr int64_t kStep = 8 << 10;       // from one CRC that is kept to the next
constexpr size_t kShort = 4 * kStep;     // a record up to this size is checked byte by byte
constexpr size_t kCandidate = 4 << 10;   // what a header costs, in bytes read
constexpr size_t kWorkAtOnce = 4 << 20;  // bytes, until the clock is looked at
constexpr std::chrono::milliseconds kInterruptInterval{50};
static_assert(kShort + kFrameBytes <= kFarBytes && kStep <= static_cast<int64_t>(kFarBytes));

}  // namespace

Status SearchedMemory::ShowHeader(int64_t offset, Bytes* shown) {
  *shown = {bytes_.data + offset, bytes_.size - static_cast<size_t>(offset)};
  return {};
}

Status SearchedMemory::Reach(int64_t end, bool* reached) {
  *reached = end <= static_cast<int64_t>(bytes_.size);
  return {};
}

Status SearchedMemory::Show(int64_t offset, size_t, Bytes* shown) { return ShowHeader(offset, shown); }

bool SearchedFile::Window::Holds(int64_t offset, size_t wanted) const {
  return offset >= begin && offset - begin + static_cast<int64_t>(wanted) <= static_cast<int64_t>(size);
}

Bytes SearchedFile::Window::From(int64_t offset) const {
  const auto skip = static_cast<size_t>(offset - begin);
  return {bytes.data() + skip, size - skip};
}

Status SearchedFile::Fill(Window* window, int64_t offset, size_t size) {
  window->bytes.resize(size);
  window->begin = offset;
  window->size = 0;
  return file_.ReadFullyAt(offset, window->bytes.data(), size, &window->size);
}

Status SearchedFile::ShowHeader(int64_t offset, Bytes* shown) {
  if (!near_.Holds(offset, kHeaderBytes)) TFR_RETURN_IF_ERROR(Fill(&near_, offset, kNearBytes));
  *shown = near_.From(offset);
  return {};
}

Status SearchedFile::Reach(int64_t end, bool* reached) {
  if (end > size_) TFR_RETURN_IF_ERROR(file_.Size(&size_));
  *reached = end <= size_;
  return {};
}

Status SearchedFile::Show(int64_t offset, size_t size, Bytes* shown) {
  const bool near = near_.Holds(offset, size);
  if (!near && !far_.Holds(offset, size)) TFR_RETURN_IF_ERROR(Fill(&far_, offset, kFarBytes));
  *shown = near ? near_.From(offset) : far_.From(offset);
  return {};
}

Status RecordSearch::Find(int64_t from, SearchedBytes* bytes, int64_t* found) {
  while (true) {
    Bytes shown;
    TFR_RETURN_IF_ERROR(bytes->ShowHeader(from, &shown));
    if (shown.size < kHeaderBytes) {
      *found = from + static_cast<int64_t>(shown.size);
      return {};
    }
    const size_t looked_at = std::min(shown.size, kNearBytes);
    const uint8_t* const header = FindHeader(shown.data, shown.data + looked_at, most_);
    if (header == nullptr) {  // one may begin in the last bytes
      from += static_cast<int64_t>(looked_at - (kHeaderBytes - 1));
      TFR_RETURN_IF_ERROR(Worked(looked_at));
      continue;
    }
    from += header - shown.data;
    bool intact = false;
    TFR_RETURN_IF_ERROR(Check(from, RecordLength(header), bytes, &intact));
    if (intact) {
      *found = from;
      return {};
    }
    TFR_RETURN_IF_ERROR(Worked(kCandidate));
    ++from;
  }
}

Status RecordSearch::Check(int64_t offset, size_t length, SearchedBytes* bytes, bool* intact) {
  const int64_t begin = offset + static_cast<int64_t>(kHeaderBytes);
  bool reached = false;
  TFR_RETURN_IF_ERROR(bytes->Reach(offset + static_cast<int64_t>(kFrameBytes + length), &reached));
  if (!reached) return {};
  if (length > kShort) return CheckLong(begin, begin + static_cast<int64_t>(length), bytes, intact);
  Bytes shown;
  TFR_RETURN_IF_ERROR(bytes->Show(begin, length + kFooterBytes, &shown));
  *intact = shown.size >= length + kFooterBytes && DataIsIntact(shown.data, length);
  return {};
}

// The data of a record from `begin` to `end`: up to the first step by itself, then from there to the last step out of
// the sums, then the rest.
Status RecordSearch::CheckLong(int64_t begin, int64_t end, SearchedBytes* bytes, bool* intact) {
  const int64_t first = (begin + kStep - 1) / kStep;
  const int64_t last = end / kStep;
  Bytes head, tail;
  TFR_RETURN_IF_ERROR(bytes->Show(begin, static_cast<size_t>(first * kStep - begin), &head));
  if (head.size < static_cast<size_t>(first * kStep - begin)) return {};
  const uint32_t head_crc = crc32c::Value(head.data, static_cast<size_t>(first * kStep - begin));

  if (sums_.empty() || first < first_step_ || first >= first_step_ + static_cast<int64_t>(sums_.size())) {
    first_step_ = first;
    sums_.assign(1, 0);
  }
  TFR_RETURN_IF_ERROR(SumUpTo(last, bytes));
  if (last >= first_step_ + static_cast<int64_t>(sums_.size())) return {};
  const uint32_t before = sums_[static_cast<size_t>(first - first_step_)];
  const uint32_t up_to = sums_[static_cast<size_t>(last - first_step_)];
  const auto between = static_cast<uint64_t>((last - first) * kStep);
  uint32_t crc = crc32c::Concat(head_crc, crc32c::Concat(before, up_to, between), between);

  const auto rest = static_cast<size_t>(end - last * kStep);
  TFR_RETURN_IF_ERROR(bytes->Show(last * kStep, rest + kFooterBytes, &tail));
  if (tail.size < rest + kFooterBytes) return {};
  crc = crc32c::Extend(crc, tail.data, rest);
  *intact = crc32c::Mask(crc) == LoadLE32(tail.data + rest);
  return {};
}

// Makes the sums up to this step, or as far as there are bytes.
Status RecordSearch::SumUpTo(int64_t step, SearchedBytes* bytes) {
  for (int64_t next = first_step_ + static_cast<int64_t>(sums_.size()); next <= step; ++next) {
    Bytes shown;
    TFR_RETURN_IF_ERROR(bytes->Show((next - 1) * kStep, kStep, &shown));
    if (shown.size < static_cast<size_t>(kStep)) return {};
    sums_.push_back(crc32c::Extend(sums_.back(), shown.data, kStep));
    TFR_RETURN_IF_ERROR(Worked(kStep));
  }
  return {};
}

Status RecordSearch::Worked(size_t bytes) {
  if ((worked_ += bytes) < kWorkAtOnce) return {};
  worked_ = 0;
  if (cancelled_ != nullptr && cancelled_->load(std::memory_order_relaxed)) return Status::Cancelled();
  const auto now = std::chrono::steady_clock::now();
  if (now - asked_ < kInterruptInterval) return {};
  asked_ = now;
  return CheckInterrupt();
}

}  // namespace tfr
