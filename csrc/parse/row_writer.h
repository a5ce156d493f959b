// Writes the features of rows into their columns; what the Example and the SequenceExample parser share.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "parse/columns.h"
#include "parse/feature.h"
#include "parse/padding.h"
#include "parse/schema.h"
#include "parse/steps.h"

namespace tfr {

// The arrays of one column, in which each thread writes its own rows.
struct ColumnTarget {
  uint8_t* fixed = nullptr;   // kFixed: the first row's value
  size_t row_bytes = 0;       // kFixed: from one row's value to the next one's; in a group, other columns lie between
  int64_t* splits = nullptr;  // kList and kPadded of Examples and contexts: ends of rows, counted in the range
  int64_t* row_steps = nullptr;  // feature lists of kList: ends of rows in steps, counted in the range
  int64_t* lengths = nullptr;    // feature lists of kPadded: the steps of each row
  uint8_t* padded = nullptr;     // and the rows of up to `stride` steps, padded to that; longer rows are in the list
  size_t stride = 0;
  uint8_t* present = nullptr;  // 0 for rows without the feature; kFixed: made of ones, otherwise of zeros
};

// One thread's part of the columns of a schema: a range of rows, written in order.
class RowWriter {
 public:
  explicit RowWriter(const Schema& schema);

  const Schema& schema() const { return schema_; }

  // Before a range of rows. `targets` must outlive it. `total_rows` guides the growth of lists.
  void StartRange(const ColumnTarget* targets, size_t first_row, size_t rows);

  // Decodes the value of feature `f` into `row`. Not for a value of kind kNone if the layout is kFixed. On failure,
  // sets *why unless that is null; the row must then be restarted or abandoned.
  bool Put(size_t f, size_t row, const FeatureValue& value, Status* why);

  // Before and after the steps of a feature list, or one after the other if the row has no such list.
  void StartList(size_t f, size_t row);
  void EndList(size_t f, size_t row);

  // Like Put, for one step of a feature list, with any layout except kFixed. A step of kind kNone has no values.
  bool PutStep(size_t f, size_t row, const FeatureValue& value, Status* why);

  // Takes the steps of a feature list from `p` on as long as they are of the usual kind: a Feature with the right list,
  // packed, and the right number of values; see steps.h. Returns the cursor after the last one taken. The rest is for
  // PutStep.
  const uint8_t* PutUsualSteps(size_t f, size_t row, const uint8_t* p, const uint8_t* end);

  // How many since StartList.
  size_t steps_put() const { return list_.steps; }

  // Notes that the row has the feature list, be it empty.
  void MarkPresent(size_t f, size_t row) {
    if (targets_[f].present != nullptr) targets_[f].present[row] = 1;
  }

  // Fills the kFixed feature `f` of `row` with its default, which it must have.
  void PutDefault(size_t f, size_t row);

  // The row is complete: notes where its lists end.
  void EndRow(size_t row);

  // Undoes what was appended to lists since the end of the previous row.
  void RestartRow(size_t row);

  // The values of lists, end to end; of padded feature lists those of rows of more than `stride` steps.
  Growing& values(size_t f) { return lists_[f]; }
  Growing& steps(size_t f) { return steps_[f]; }

 private:
  // The feature list whose steps are being put.
  struct OpenList {
    size_t steps = 0;
    uint8_t* out = nullptr;  // where the next step goes; null if it is appended to the list
    size_t room = 0;         // in steps, from `out` on
  };

  template <Kind kind>
  const uint8_t* TakeSteps(size_t f, size_t row, const uint8_t* p, const uint8_t* end);
  const uint8_t* TakePaddedSteps(size_t f, size_t row, const uint8_t* p, const uint8_t* end);
  const uint8_t* TakeEqualSteps(size_t f, const uint8_t* p, const uint8_t* end, uint8_t* out, size_t room,
                                size_t* taken) const;
  bool Spill(size_t f, size_t row, Status* why);
  bool PutPaddedStep(size_t f, size_t row, const FeatureValue& value, Status* why);
  bool PutFixed(size_t f, size_t row, const FeatureValue& value, Status* why);
  bool Append(size_t f, size_t row, const FeatureValue& value, size_t* count, Status* why);

  const Schema& schema_;
  const ColumnTarget* targets_ = nullptr;
  size_t first_row_ = 0;
  size_t rows_ = 0;
  std::vector<uint32_t> list_features_;
  std::vector<Growing> lists_;          // by feature; empty for kFixed
  std::vector<Growing> steps_;          // by feature; feature lists of kList only: where each step ends
  std::vector<Padding> paddings_;       // by feature
  std::vector<FloatStep> float_steps_;  // by feature
  OpenList list_;
};

}  // namespace tfr
