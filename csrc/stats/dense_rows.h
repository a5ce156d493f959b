// Records that are all alike, as those of tables are: the same keys in the same order, one number under each. They are
// taken by the parser's script (parse/key_script.h), into columns.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/records.h"
#include "parse/key_script.h"
#include "parse/key_table.h"
#include "parse/schema.h"
#include "stats/moments.h"
#include "wire/example.h"

namespace tfr {

class DenseRows {
 public:
  struct Column {
    std::string key;
    Kind kind;  // kInt64 or kFloat
  };

  // Null if the script does not know entries of this form.
  static std::unique_ptr<DenseRows> Make(const std::vector<Column>& columns);

  // Takes the record as the next row, if it has exactly these keys, with a number each. There must be room.
  bool Take(const Bytes& record);

  size_t rows() const { return rows_; }
  bool full() const { return rows_ == kBlock; }
  // One int64 or float for each row.
  const void* column(size_t i) const { return outs_[i]; }
  Kind kind(size_t i) const { return KindOf(schema_->features()[i].type); }
  void Clear() { rows_ = 0; }

 private:
  explicit DenseRows(const Schema& schema) : keys_(schema) {}

  SchemaPtr schema_;  // whose keys the table looks at
  KeyTable keys_;
  KeyScript script_;
  std::vector<uint8_t> memory_;
  std::vector<uint8_t*> outs_;
  size_t rows_ = 0;
};

}  // namespace tfr
