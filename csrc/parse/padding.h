// Fills the rows of a padded column after their values.

#pragma once

#include <cstddef>
#include <cstdint>

#include "parse/schema.h"

namespace tfr {

class Padding {
 public:
  // For feature `f`, whose layout is kPadded. The schema must outlive it.
  Padding(const Schema& schema, size_t f);

  // Writes `count` padding values, in the column's type.
  void Fill(uint8_t* out, size_t count) const;

 private:
  const uint8_t* item_;
  size_t item_size_;
  bool zero_;
};

}  // namespace tfr
