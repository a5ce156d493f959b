// One row of a column, with its own copy of the values, which no other thread writes to.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "encode/column.h"

namespace tfr {

class CopiedRow {
 public:
  // `from` must have been checked. The strings of a kBytes column stay where they are.
  CopiedRow(const EncodeColumn& from, size_t row);
  CopiedRow(const CopiedRow&) = delete;
  CopiedRow& operator=(const CopiedRow&) = delete;

  // A column of one row. Valid as long as this object is.
  const EncodeColumn& column() const { return column_; }

 private:
  EncodeColumn column_;
  std::vector<uint64_t> values_;  // aligned for every type
  std::vector<int64_t> splits_;
  std::vector<uint8_t> valid_;
  int64_t steps_[2];
  uint8_t row_valid_;
};

}  // namespace tfr
