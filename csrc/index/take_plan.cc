// Sorting and cutting of requests; see take_plan.h.

#include "index/take_plan.h"

#include <algorithm>
#include <array>
#include <utility>

namespace tfr {
namespace {

constexpr size_t kNoPlace = SIZE_MAX;

// A block is closed with the frame that brings it to this size, or to kBlockFrames.
constexpr int64_t kBlockBytes = 512 << 10;

struct Row {
  int64_t number;
  size_t position;  // in the request
};

// Least significant digit first. About a tenth of the time of std::sort, which would be a tenth of the whole.
void RadixSort(std::vector<Row>* rows, int64_t limit) {
  constexpr int kDigitBits = 10;
  constexpr size_t kDigits = size_t{1} << kDigitBits;
  std::vector<Row> other(rows->size());
  for (int shift = 0; shift < 63 && (limit - 1) >> shift > 0; shift += kDigitBits) {
    std::array<size_t, kDigits> begin{};
    const auto digit = [shift](const Row& row) { return static_cast<size_t>(row.number >> shift) & (kDigits - 1); };
    for (const Row& row : *rows) ++begin[digit(row)];
    size_t sum = 0;
    for (size_t& count : begin) sum += std::exchange(count, sum);
    for (const Row& row : *rows) other[begin[digit(row)]++] = row;
    rows->swap(other);
  }
}

void Sort(std::vector<Row>* rows, int64_t limit) {
  constexpr size_t kFewRows = 128;
  const auto before = [](const Row& a, const Row& b) { return a.number < b.number; };
  if (std::is_sorted(rows->begin(), rows->end(), before)) return;
  if (rows->size() <= kFewRows) {
    std::sort(rows->begin(), rows->end(), before);
  } else {
    RadixSort(rows, limit);
  }
}

// Small frames lie in the order of the request: a caller that reads them in that order, field by field, would otherwise
// wait for memory longer than the copy does, which moves many bytes at once. Large ones lie in the order of the files,
// so that one call reads several.
void SetPlaces(TakePlan* plan) {
  constexpr int64_t kSmall = 2 << 10;
  int64_t all_bytes = 0;
  for (const Frame& frame : plan->frames) all_bytes += frame.size;
  if (all_bytes > kSmall * static_cast<int64_t>(plan->frames.size())) {
    for (Frame& frame : plan->frames) {
      frame.place = plan->total_bytes;
      plan->total_bytes += static_cast<size_t>(frame.size);
    }
    return;
  }
  for (const uint32_t number : plan->frame_of) {
    Frame& frame = plan->frames[number];
    if (frame.place != kNoPlace) continue;
    frame.place = plan->total_bytes;
    plan->total_bytes += static_cast<size_t>(frame.size);
  }
}

}  // namespace

size_t RecordNumbers::FileOf(int64_t number) const {
  return static_cast<size_t>(std::upper_bound(first.begin(), first.end(), number) - first.begin()) - 1;
}

TakePlan PlanTake(const int64_t* numbers, size_t count, const RecordNumbers& all,
                  const std::vector<RecordIndexPtr>& indexes) {
  std::vector<Row> rows(count);
  for (size_t i = 0; i < count; ++i) rows[i] = {numbers[i], i};
  Sort(&rows, all.size());

  TakePlan plan;
  plan.frames.reserve(count);
  plan.frame_of.resize(count);
  size_t file = 0;
  int64_t block_bytes = 0;
  size_t checkpoint = 0;  // before the frame that was planned last
  for (size_t i = 0; i < count; ++i) {
    const int64_t number = rows[i].number;
    if (i == 0 || number != rows[i - 1].number) {
      const bool other_file = i == 0 || number >= all.first[file + 1];
      if (other_file) file = all.FileOf(number);
      const int64_t record = number - all.first[file];
      const RecordIndex& index = *indexes[file];
      const int64_t size = index.sizes()[static_cast<size_t>(record)];
      const int64_t offset = index.offsets()[static_cast<size_t>(record)];
      bool other_block = other_file;
      if (index.checkpoints()) {
        const size_t before = index.checkpoints()->Before(offset);
        other_block = other_block || before != checkpoint;
        checkpoint = before;
        if (other_block) ++plan.blocks_to_inflate;
      } else if (!other_block) {
        other_block = plan.frames.size() - plan.blocks.back().begin == kBlockFrames || block_bytes >= kBlockBytes;
      }
      if (other_block) {
        plan.blocks.push_back({file, plan.frames.size(), plan.frames.size()});
        block_bytes = 0;
      }
      plan.frames.push_back({offset, size, record, kNoPlace});
      block_bytes += size;
      plan.blocks.back().end = plan.frames.size();
    }
    plan.frame_of[rows[i].position] = static_cast<uint32_t>(plan.frames.size() - 1);
  }
  SetPlaces(&plan);
  return plan;
}

}  // namespace tfr
