// Copying; see copied_row.h.

#include "encode/copied_row.h"

namespace tfr {
namespace {

// Copies item by item: memcpy may copy the two bytes of an item at different times, and so make a value never written.
template <typename T>
void CopyItems(const void* from, size_t begin, size_t end, void* to) {
  for (size_t i = begin; i < end; ++i) static_cast<T*>(to)[i - begin] = Load<T>(from, i);
}

void CopyItems(size_t item_size, const void* from, size_t begin, size_t end, void* to) {
  switch (item_size) {
    case 1:
      return CopyItems<uint8_t>(from, begin, end, to);
    case 2:
      return CopyItems<uint16_t>(from, begin, end, to);
    case 4:
      return CopyItems<uint32_t>(from, begin, end, to);
    default: {  // a string is two words
      const size_t words = item_size / sizeof(uint64_t);
      return CopyItems<uint64_t>(from, begin * words, end * words, to);
    }
  }
}

}  // namespace

CopiedRow::CopiedRow(const EncodeColumn& from, size_t row) : column_(from) {
  const size_t first = from.steps ? static_cast<size_t>(from.steps[row]) : row;
  const size_t last = from.steps ? static_cast<size_t>(from.steps[row + 1]) : row + 1;
  const size_t begin = from.splits ? static_cast<size_t>(from.splits[first]) : first * from.count;
  const size_t end = from.splits ? static_cast<size_t>(from.splits[last]) : last * from.count;

  const size_t item_size = ItemSize(from.type);
  values_.resize((end - begin) * item_size / sizeof(uint64_t) + 1);
  CopyItems(item_size, from.values, begin, end, values_.data());
  column_.values = values_.data();
  column_.value_count = end - begin;
  if (from.splits) {
    for (size_t item = first; item <= last; ++item) splits_.push_back(from.splits[item] - from.splits[first]);
    column_.splits = splits_.data();
  }
  if (from.valid) {
    valid_.assign(from.valid + first, from.valid + last);
    column_.valid = valid_.data();
  }
  if (from.steps) {
    steps_[0] = 0;
    steps_[1] = static_cast<int64_t>(last - first);
    column_.steps = steps_;
  }
  if (from.row_valid) {
    row_valid_ = from.row_valid[row];
    column_.row_valid = &row_valid_;
  }
}

}  // namespace tfr
