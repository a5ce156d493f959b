// The types that the values of a column can have: their names, sizes and families.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/records.h"

namespace tfr {

// First the integers, then the floats, then byte strings. Which list of a Feature holds them: KindOf in wire/example.h.
enum class ElementType : uint8_t {
  kBool,  // one byte per value: parsed, 0 or 1; encoded, true unless 0
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUInt8,
  kUInt16,
  kUInt32,
  kUInt64,
  kFloat16,   // IEEE 754 binary16
  kBFloat16,  // the upper half of a float32
  kFloat32,
  kFloat64,
  kBytes,  // views (struct Bytes), which own nothing
};

constexpr size_t kElementTypes = static_cast<size_t>(ElementType::kBytes) + 1;

constexpr bool IsFloat(ElementType type) { return type >= ElementType::kFloat16 && type <= ElementType::kFloat64; }

namespace internal {

constexpr uint8_t kItemSizes[] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, sizeof(Bytes)};
static_assert(sizeof kItemSizes == kElementTypes);

}  // namespace internal

// Bytes per value in memory.
constexpr size_t ItemSize(ElementType type) { return internal::kItemSizes[static_cast<size_t>(type)]; }

// "bool", "int8", …, "bfloat16", …; "string" for byte strings. These are NumPy's names, except for the last.
const char* TypeName(ElementType type);

// The type of that name; false if there is none.
bool TypeNamed(std::string_view name, ElementType* type);

}  // namespace tfr
