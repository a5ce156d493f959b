// Memory of columns; see columns.h.

#include "parse/columns.h"

#include <algorithm>
#include <cstring>

namespace tfr {
namespace {

constexpr size_t kMinGrowth = 64;
constexpr size_t kMaxWaste = 64 << 10;
constexpr double kHeadroom = 1.125;

}  // namespace

size_t BytesHeld(const Schema& schema, const Columns& columns) {
  size_t bytes = 0;
  for (size_t f = 0; f < columns.columns.size(); ++f) {
    const Column& column = columns.columns[f];
    const FeatureSpec& spec = schema.features()[f];
    if (spec.image) {
      bytes += column.values.count * spec.image->value_bytes();
      for (const OwnSize& image : column.images) bytes += image.values.count * spec.image->value_bytes();
      continue;
    }
    const ElementType type = spec.type;
    bytes += column.values.count * ItemSize(type) + column.present.count;
    bytes += (column.splits.count + column.row_steps.count + column.lengths.count) * sizeof(int64_t);
    if (type != ElementType::kBytes) continue;
    for (size_t i = 0; i < column.values.count; ++i) bytes += column.values.as<Bytes>()[i].size;
  }
  return bytes;
}

bool Growing::Grow(size_t more, size_t done, size_t total) {
  const size_t need = block_.count + more;
  size_t want = std::max({need, block_.count * 2, kMinGrowth});
  total_ = total;
  if (block_.count == 0 && per_unit_ > 0) {
    want = std::max(want, static_cast<size_t>(per_unit_ * static_cast<double>(total) * kHeadroom));
  } else if (done > 0 && done < total) {
    // Suppose the rest is like what came so far, with an eighth to spare; but never go far beyond what doubling three
    // times would give, as the first rows may be misleading.
    const double guess = static_cast<double>(need) / static_cast<double>(done) * static_cast<double>(total) * kHeadroom;
    want = std::max(want, static_cast<size_t>(std::min(guess, 8.0 * static_cast<double>(want))));
  }
  Block grown;
  if (!AllocateBlock(want, item_size_, 0, &grown)) return false;
  if (block_.count > 0) std::memcpy(grown.data, block_.data, block_.count * item_size_);
  grown.count = block_.count;
  block_ = std::move(grown);
  capacity_ = want;
  placed_ = false;
  return true;
}

bool Growing::Release(Block* block) {
  const size_t wasted = (capacity_ - block_.count) * item_size_;
  if (block_.data == nullptr || (wasted > kMaxWaste && wasted > block_.count * item_size_)) {
    Block exact;
    if (!AllocateBlock(block_.count, item_size_, 0, &exact)) return false;
    if (block_.count > 0) std::memcpy(exact.data, block_.data, block_.count * item_size_);
    block_ = std::move(exact);
  }
  if (total_ > 0) per_unit_ = static_cast<double>(block_.count) / static_cast<double>(total_);
  *block = std::move(block_);
  Clear();
  return true;
}

}  // namespace tfr
