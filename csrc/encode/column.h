// Columns as the encoder takes them: plain arrays and how they are cut into rows. Nothing here owns memory.

#ifndef TFRECORD_FAST_ENCODE_COLUMN_H_
#define TFRECORD_FAST_ENCODE_COLUMN_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/records.h"
#include "base/status.h"

namespace tfr {

// Integers and bool become an int64 list, floating types a float list (cast to float32), kBytes a bytes list.
enum class ElementType : uint8_t {
  kBool,  // one byte a value, true unless 0
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUInt8,
  kUInt16,
  kUInt32,
  kUInt64,  // above 2^63 - 1: kInvalidArgument
  kFloat16,
  kBFloat16,
  kFloat32,
  kFloat64,
  kBytes,  // an array of Bytes
};

constexpr bool IsInteger(ElementType type) { return type <= ElementType::kUInt64; }
constexpr bool IsFloat(ElementType type) { return type >= ElementType::kFloat16 && type <= ElementType::kFloat64; }

// False if there is no type of this name: "bool", "int8", …, "bfloat16", …, "bytes".
bool ElementTypeOf(const std::string& name, ElementType* type);

// One feature of all rows. An item is what makes one Feature: the row's, or in a feature list one step's.
struct EncodeColumn {
  std::string key;  // UTF-8
  ElementType type = ElementType::kInt64;
  const void* values = nullptr;  // aligned for the type
  size_t value_count = 0;

  // Item i has the values [splits[i], splits[i + 1]), or [i * count, (i + 1) * count) if `splits` is null.
  const int64_t* splits = nullptr;
  size_t count = 1;
  // Of each item, 0 where it has no value: the key is left out (a step becomes an empty Feature). Null: all have.
  const uint8_t* valid = nullptr;

  // Only in a feature list: row r has the steps (items) [steps[r], steps[r + 1]), and none, not even the key, if
  // row_valid[r] is 0.
  const int64_t* steps = nullptr;
  const uint8_t* row_valid = nullptr;

  size_t ItemCount(size_t rows) const { return steps ? static_cast<size_t>(steps[rows]) : rows; }
};

// Whether splits and steps ascend from 0 or more and stay inside what they cut; kInvalidArgument, naming the key.
Status CheckColumn(const EncodeColumn& column, size_t rows);

}  // namespace tfr

#endif  // TFRECORD_FAST_ENCODE_COLUMN_H_
