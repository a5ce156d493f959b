// The check of splits and steps; see column.h.

#include "encode/column.h"

namespace tfr {
namespace {

Status CheckSplits(const EncodeColumn& column, const char* name, const int64_t* splits, size_t items, size_t limit) {
  int64_t before = 0;
  for (size_t i = 0; i <= items; ++i) {
    if (splits[i] < before || static_cast<size_t>(splits[i]) > limit) {
      return Status::InvalidArgument("feature '" + column.key + "': " + name + "[" + std::to_string(i) + "] is " +
                                     std::to_string(splits[i]) + ", expected " + std::to_string(before) + " to " +
                                     std::to_string(limit));
    }
    before = splits[i];
  }
  return {};
}

}  // namespace

Status CheckColumn(const EncodeColumn& column, size_t rows) {
  if (column.steps) TFR_RETURN_IF_ERROR(CheckSplits(column, "steps", column.steps, rows, SIZE_MAX / 2));
  const size_t items = column.ItemCount(rows);
  if (column.splits) return CheckSplits(column, "row_splits", column.splits, items, column.value_count);
  size_t needed;
  if (__builtin_mul_overflow(items, column.count, &needed) || needed > column.value_count) {
    return Status::InvalidArgument("feature '" + column.key + "': " + std::to_string(items) + " rows of " +
                                   std::to_string(column.count) + " values need more than the " +
                                   std::to_string(column.value_count) + " there are");
  }
  return {};
}

}  // namespace tfr
