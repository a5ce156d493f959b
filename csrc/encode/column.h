// Columns as the encoder takes them: plain arrays and how they are cut into rows. Nothing here owns memory.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/element_type.h"
#include "base/status.h"

namespace tfr {

// One feature of all rows. An item is what becomes one Feature: a row or, in a feature list, a step.
//
// If another thread writes to `values`, `valid` or `row_valid` while rows are encoded, a row may fail (RowChanged), but
// no other memory is touched. What `splits`, `steps` and, in a column of strings, `values` hold must not change.
struct EncodeColumn {
  std::string key;  // UTF-8

  // Floats are cast to float32. A uint64 above 2^63 - 1 has no encoding: kInvalidArgument.
  ElementType type = ElementType::kInt64;
  const void* values = nullptr;  // aligned for the type
  size_t value_count = 0;

  // Item i has the values [splits[i], splits[i + 1]), or [i * count, (i + 1) * count) if `splits` is null.
  const int64_t* splits = nullptr;
  size_t count = 1;
  // One byte per item, 0 if it has no value: the key is left out (a step becomes an empty Feature). Null: all have one.
  const uint8_t* valid = nullptr;

  // Only in a feature list: row r has the steps (items) [steps[r], steps[r + 1]); if row_valid[r] is 0 the key is left
  // out.
  const int64_t* steps = nullptr;
  const uint8_t* row_valid = nullptr;

  size_t ItemCount(size_t rows) const { return steps ? static_cast<size_t>(steps[rows]) : rows; }
};

// Rows `first`, `first + step`, …: those of one file, if rows are dealt to several.
struct RowRange {
  size_t first;
  size_t count;
  size_t step = 1;
};

// An exact size reads every value; a bound, only splits and the lengths of strings.
enum class Measure : uint8_t { kExact, kBound };

// Item i of `values`, which someone else may write to at the same time: read once, and as a whole.
template <typename T>
T Load(const void* values, size_t i) {
  T value;
  __atomic_load(static_cast<const T*>(values) + i, &value, __ATOMIC_RELAXED);
  return value;
}

// Checks that splits and steps ascend and stay inside what they cut; kInvalidArgument, naming the key, if not.
Status CheckColumn(const EncodeColumn& column, size_t rows);

}  // namespace tfr
