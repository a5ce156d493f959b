// Allocates fixed arrays, small ones in one block; see fixed_arrays.h.

#include "parse/fixed_arrays.h"

#include <algorithm>

#include "parse/ranges.h"

namespace tfr {
namespace {

// Batches below this size keep all fixed columns in one block: one allocation instead of one per column. In larger
// batches, a column that is kept would hold on to too much memory of its neighbours.
constexpr size_t kMaxSharedBytes = 8 << 10;
constexpr size_t kCacheLine = 64;

// SIZE_MAX / 4 if they are more than can be counted.
size_t BytesOf(const FixedArray& array, size_t rows) {
  size_t bytes;
  if (__builtin_mul_overflow(rows, array.elements, &bytes) ||
      __builtin_mul_overflow(bytes, ItemSize(array.type), &bytes)) {
    return SIZE_MAX / 4;
  }
  return bytes;
}

size_t RoundUp(size_t bytes) { return (bytes + kCacheLine - 1) / kCacheLine * kCacheLine; }

}  // namespace

void PointTo(const FixedArray& array, uint8_t* data, ColumnTarget* targets) {
  for (size_t i = 0; i < array.features.size(); ++i) {
    ColumnTarget& target = targets[array.features[i]];
    target.fixed = data + i * ItemSize(array.type);
    target.row_bytes = array.row_bytes();
  }
}

Status AllocateFixed(const Schema& schema, Columns* columns, std::vector<ColumnTarget>* targets) {
  const size_t rows = columns->rows;
  size_t total = 0;
  for (const FixedArray& array : schema.fixed_arrays()) {
    total += std::min(RoundUp(BytesOf(array, rows)), kMaxSharedBytes + 1);
  }
  Block shared;
  if (total <= kMaxSharedBytes && !AllocateBlock(total, 1, 0, &shared)) return NoMemory();
  size_t offset = 0;
  for (const FixedArray& array : schema.fixed_arrays()) {
    const uint32_t first = array.features[0];
    Block& block = columns->columns[first].values;
    if (shared.owner) {
      block = {shared.owner, shared.data + offset, rows * array.elements};
      offset += RoundUp(BytesOf(array, rows));
    } else if (BytesOf(array, rows) >= SIZE_MAX / 4 ||
               !AllocateBlock(rows * array.elements, ItemSize(array.type), first, &block)) {
      return NoMemory();
    }
    PointTo(array, block.data, targets->data());
  }
  return {};
}

}  // namespace tfr
