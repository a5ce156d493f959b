// One column of the encoder: sizes and writes its Features. A scalar, the common case, is a fixed text and then a
// value; the text is made once, for every length that the value can have.
//
// Values may change after they were sized (column.h). So whatever is written is written between `out` and `end`, and
// agrees with the lengths written before it; if that can't be, the result is null.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/status.h"
#include "encode/column.h"
#include "varint/varint.h"
#include "wire/wire.h"

namespace tfr {

struct ColumnPlan {
  explicit ColumnPlan(EncodeColumn from);

  EncodeColumn column;

  enum class Op : uint8_t { kInt64Scalar, kIntScalar, kFloat32Scalar, kFloatScalar, kInts, kFloats, kBytes };
  Op op;
  uint8_t list_tag;    // of the list in its Feature
  uint8_t most_bytes;  // of a packed value

  // For scalars: the map entry up to the value's bytes, and its length; [n] is for a value of n bytes. Each text has
  // kTextSlack readable bytes after it.
  static constexpr size_t kTextSlack = 16;
  std::vector<uint8_t> texts;
  uint32_t text_at[kMaxVarintSize + 1] = {};
  uint32_t text_size[kMaxVarintSize + 1] = {};
  uint32_t entry_size[kMaxVarintSize + 1] = {};  // the whole entry with its own tag and length
  // If this much room is left in the record, bytes after the entry may be written, which are overwritten later.
  uint32_t loose_room = 0;

  bool HasItem(size_t item) const { return column.valid == nullptr || column.valid[item] != 0; }

  // Size of the item's Feature, without the tag and length before it.
  uint64_t FeatureSize(size_t item, Measure measure) const {
    return HasItem(item) ? FieldSize(SizesOf(RunOf(item), measure).list) : 0;
  }

  // The size of each row's entry, if it is the same for all rows; else 0.
  uint64_t EntrySizeOfAll(Measure measure) const {
    const bool is_float = op == Op::kFloat32Scalar || op == Op::kFloatScalar;
    const bool same = column.valid == nullptr && (is_float || (measure == Measure::kBound && !texts.empty()));
    return same ? entry_size[most_bytes] : 0;
  }
  // Adds the sizes of the entries of these rows to sizes[0], sizes[1], …. Not for feature lists.
  void AddEntrySizes(RowRange rows, Measure measure, uint64_t* sizes) const;
  // Writes the row's entry. All of [out, end) may be written to.
  uint8_t* WriteEntry(size_t row, uint8_t* out, const uint8_t* end) const;
  // Writes the item as a step of a feature list: its tag, its length and its Feature.
  uint8_t* WriteStep(size_t item, uint8_t* out, const uint8_t* end) const;

  // The first item in [first, last) with a value above 2^63 - 1; `last` if there is none.
  size_t FindTooLarge(size_t first, size_t last) const;

 private:
  struct Run {
    size_t begin;
    size_t count;
  };
  Run RunOf(size_t item) const {
    if (column.splits == nullptr) return {item * column.count, column.count};
    return {static_cast<size_t>(column.splits[item]),
            static_cast<size_t>(column.splits[item + 1] - column.splits[item])};
  }
  // Sizes of a run of values: of the packed values (if packed), and of the list message around them.
  struct Sizes {
    uint64_t packed;
    uint64_t list;
  };
  void LayTexts(size_t value_size);
  Sizes SizesOf(Run run, Measure measure = Measure::kExact) const;
  uint64_t PackedSize(Run run) const;
  uint8_t* WriteEntryHead(uint64_t feature, uint8_t* out, const uint8_t* end) const;
  // Out of line, so that they cost scalars no registers.
  __attribute__((noinline)) void AddListSizes(RowRange rows, Measure measure, uint64_t* sizes) const;
  __attribute__((noinline)) uint8_t* WriteListEntry(size_t row, uint8_t* out, const uint8_t* end) const;
  uint64_t HeadSize(uint64_t packed) const;
  uint8_t* WriteLongInts(Run run, uint8_t* out, const uint8_t* end) const;
  uint8_t* WriteList(Run run, Sizes sizes, uint8_t* out, const uint8_t* end) const;
  uint64_t StringsSize(Run run) const;
  uint8_t* WriteStrings(Run run, uint8_t* out) const;
  uint8_t* WriteInts(Run run, uint8_t* out, const uint8_t* end) const;
  uint8_t* WriteFloats(Run run, uint8_t* out) const;
  __attribute__((always_inline)) uint8_t* WriteScalar(int64_t value, uint8_t* out, const uint8_t* end) const;
  __attribute__((always_inline)) uint8_t* WriteScalarFloat(float value, uint8_t* out, const uint8_t* end) const;
};

}  // namespace tfr
