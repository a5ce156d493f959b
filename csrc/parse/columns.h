// Columns: what parsing returns, one per feature, in memory that anyone may keep.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/block.h"
#include "base/records.h"
#include "images/image_maker.h"
#include "parse/schema.h"

namespace tfr {

struct Column {
  // kFixed: rows * elements values; of a group, the first feature has the group's array, and the others have nothing.
  // kPadded: rows * longest * elements. kList: all rows' values, end to end.
  // Strings are Bytes that look into the records, or into the schema's defaults. Images are pixels, once they are made
  // (image_columns.h).
  Block values;

  // kList: int64, row i has the values [splits[i], splits[i + 1]); rows + 1 of them. In a feature list the splits are
  // those of steps, and row i has the steps [row_steps[i], row_steps[i + 1]).
  Block splits;
  Block row_steps;

  // kPadded in a feature list: int64, the steps of each row.
  Block lengths;

  // If the spec asks for it: uint8, 0 for each row without the feature, 1 for others.
  Block present;

  // The longest row: in values (kList) or in steps (kPadded). In a feature list of kList, the longest step, in values;
  // `longest_row` is then the longest row, in steps.
  size_t longest = 0;
  size_t longest_row = 0;

  // Images of their own sizes, one for each row; those of one size are in `values`.
  std::vector<OwnSize> images;
};

struct Columns {
  size_t rows = 0;
  std::vector<Column> columns;  // in the order of the schema's features

  // Owners of the views in kBytes columns: the batch's owners, and the schema if defaults are views too.
  std::shared_ptr<const std::vector<Owner>> owners;
};

// About how many bytes the columns keep alive, counting the strings that they look into.
size_t BytesHeld(const Schema& schema, const Columns& columns);

// A list of values that grows at its end and is then handed over as a Block.
class Growing {
 public:
  explicit Growing(size_t item_size) : item_size_(item_size) {}

  size_t size() const { return block_.count; }
  uint8_t* end() const { return block_.data + block_.count * item_size_; }
  const uint8_t* data() const { return block_.data; }

  // Makes room for `more` values from end() on; false if out of memory. The present size is the result of `done` of
  // `total` units of work, from which the final one is estimated.
  bool Reserve(size_t more, size_t done, size_t total) {
    return capacity_ - block_.count >= more || Grow(more, done, total);
  }

  // Lets the list grow in memory that it doesn't own, from `data` on. If that is not enough, it moves to its own.
  void Place(uint8_t* data, size_t capacity) {
    block_ = Block{nullptr, data, 0};
    capacity_ = capacity;
    placed_ = true;
  }
  // Drops that memory, and the values in it.
  void Unplace() {
    if (placed_) Clear();
  }
  bool placed() const { return placed_; }
  size_t room() const { return capacity_ - block_.count; }

  void Advance(size_t count) { block_.count += count; }
  void Truncate(size_t size) { block_.count = size; }
  // Empty, and without memory.
  void Clear() {
    block_ = Block{};
    capacity_ = 0;
    placed_ = false;
  }

  // Gives the values away; false if out of memory. Copies only if much room is left over. The next list starts
  // with room for as many values per unit of work as this one had.
  bool Release(Block* block);

 private:
  bool Grow(size_t more, size_t done, size_t total);

  size_t item_size_;
  size_t capacity_ = 0;
  Block block_;
  bool placed_ = false;
  size_t total_ = 0;     // units of work of the present list
  double per_unit_ = 0;  // values per unit of work in the last list
};

}  // namespace tfr
