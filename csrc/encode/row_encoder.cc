// Messages of many columns; see row_encoder.h.

#include "encode/row_encoder.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "encode/column_plan.h"
#include "wire/wire.h"

namespace tfr {
namespace {

// Rows sized together, column after column: their sizes stay in the cache.
constexpr size_t kSizeBlock = 1024;

Status MakePlans(std::vector<EncodeColumn> columns, size_t rows, std::vector<ColumnPlan>* plans) {
  // Bytewise, as protobuf orders the keys of a map; std::string compares bytes as unsigned.
  std::sort(columns.begin(), columns.end(), [](const EncodeColumn& a, const EncodeColumn& b) { return a.key < b.key; });
  plans->reserve(columns.size());
  for (size_t i = 0; i < columns.size(); ++i) {
    if (i > 0 && columns[i].key == plans->back().column.key) {
      return Status::InvalidArgument("feature '" + columns[i].key + "' is given twice");
    }
    if (columns[i].key.size() > RowEncoder::kMaxRecordBytes) return Status::InvalidArgument("a key of more than 2 GiB");
    TFR_RETURN_IF_ERROR(CheckColumn(columns[i], rows));
    plans->emplace_back(std::move(columns[i]));
  }
  return {};
}

Status TooLarge(const ColumnPlan& plan, size_t row) {
  return Status::InvalidArgument("feature '" + plan.column.key + "', row " + std::to_string(row) +
                                 ": a uint64 above 2^63 - 1, which an int64 list can't hold");
}

// The length of a message's last field, given what tag, length and field take together; false if no field takes that.
bool InnerSize(uint64_t outer, uint64_t* inner) {
  for (uint64_t head = 2; head <= 1 + kMaxVarintSize && head <= outer; ++head) {
    *inner = outer - head;
    if (1 + VarintSize(*inner) == head) return true;
  }
  return false;
}

// The steps of one row of a feature list.
struct Steps {
  size_t first;
  size_t last;
};

Steps StepsOf(const ColumnPlan& plan, size_t row) {
  return {static_cast<size_t>(plan.column.steps[row]), static_cast<size_t>(plan.column.steps[row + 1])};
}

bool HasRow(const ColumnPlan& plan, size_t row) {
  return plan.column.row_valid == nullptr || plan.column.row_valid[row] != 0;
}

uint64_t ListBytes(const ColumnPlan& plan, size_t row, Measure measure = Measure::kExact) {
  const Steps steps = StepsOf(plan, row);
  uint64_t size = 0;
  for (size_t step = steps.first; step < steps.last; ++step) size += FieldSize(plan.FeatureSize(step, measure));
  return size;
}

}  // namespace

RowEncoder::RowEncoder() = default;
RowEncoder::~RowEncoder() = default;

Status RowEncoder::Init(MessageType type, std::vector<EncodeColumn> columns, std::vector<EncodeColumn> lists,
                        size_t rows) {
  rows_ = rows;
  type_ = type;
  TFR_RETURN_IF_ERROR(MakePlans(std::move(columns), rows, &columns_));
  return MakePlans(std::move(lists), rows, &lists_);
}

Status RowEncoder::FindTooLarge(size_t first, size_t last) const {
  for (const ColumnPlan& plan : columns_) {
    const size_t bad = plan.FindTooLarge(first, last);
    if (bad < last) return TooLarge(plan, bad);
  }
  for (size_t row = first; !lists_.empty() && row < last; ++row) {
    for (const ColumnPlan& plan : lists_) {
      if (!HasRow(plan, row)) continue;
      const Steps steps = StepsOf(plan, row);
      if (plan.FindTooLarge(steps.first, steps.last) < steps.last) return TooLarge(plan, row);
    }
  }
  return {};
}

void RowEncoder::MeasureRows(RowRange rows, Measure measure, uint64_t* sizes) const {
  uint64_t all = 0;
  for (const ColumnPlan& plan : columns_) all += plan.EntrySizeOfAll(measure);
  std::fill_n(sizes, rows.count, all);
  for (const ColumnPlan& plan : columns_) {
    if (plan.EntrySizeOfAll(measure) == 0) plan.AddEntrySizes(rows, measure, sizes);
  }
  if (type_ == MessageType::kExample || !columns_.empty()) {
    for (size_t i = 0; i < rows.count; ++i) sizes[i] = FieldSize(sizes[i]);
  }
  if (lists_.empty()) return;
  for (size_t i = 0, row = rows.first; i < rows.count; ++i, row += rows.step) {
    uint64_t total = 0;
    for (const ColumnPlan& plan : lists_) {
      if (!HasRow(plan, row)) continue;
      total += FieldSize(FieldSize(plan.column.key.size()) + FieldSize(ListBytes(plan, row, measure)));
    }
    sizes[i] += FieldSize(total);
  }
}

Status RowEncoder::Check(size_t first, size_t last, uint64_t* bounds) const {
  for (size_t begin = first; begin < last; begin += kSizeBlock) {
    const size_t end = std::min(last, begin + kSizeBlock);
    TFR_RETURN_IF_ERROR(FindTooLarge(begin, end));
    MeasureRows({begin, end - begin}, Measure::kBound, bounds + (begin - first));
    for (size_t row = begin; row < end; ++row) {
      uint64_t* const size = bounds + (row - first);
      if (*size <= kMaxRecordBytes) continue;
      MeasureRows({row, 1}, Measure::kExact, size);
      if (*size > kMaxRecordBytes) {
        return Status::InvalidArgument("row " + std::to_string(row) + " takes " + std::to_string(*size) +
                                       " bytes, more than the 2 GiB of a protobuf message");
      }
    }
  }
  return {};
}

void RowEncoder::Size(RowRange rows, uint64_t* sizes) const {
  for (size_t done = 0; done < rows.count; done += kSizeBlock) {
    const size_t count = std::min(rows.count - done, kSizeBlock);
    MeasureRows({rows.first + done * rows.step, count, rows.step}, Measure::kExact, sizes + done);
  }
}

bool RowEncoder::Write(size_t row, uint64_t size, uint8_t* out) const {
  const uint8_t* const end = out + size;
  if (type_ == MessageType::kExample) {
    uint64_t features;
    if (!InnerSize(size, &features)) return false;
    return WriteFeatures(row, WriteField(kFeaturesTag, features, out), end) == end;
  }
  if (!columns_.empty()) out = WriteContext(row, out, end);
  if (!lists_.empty() && out != nullptr) out = WriteLists(row, out, end);
  return out == end;
}

uint8_t* RowEncoder::WriteFeatures(size_t row, uint8_t* out, const uint8_t* end) const {
  for (const ColumnPlan& plan : columns_) {
    out = plan.WriteEntry(row, out, end);
    if (out == nullptr) [[unlikely]]
      break;
  }
  return out;
}

uint8_t* RowEncoder::WriteContext(size_t row, uint8_t* out, const uint8_t* end) const {
  uint64_t features = 0;
  for (const ColumnPlan& plan : columns_) plan.AddEntrySizes({row, 1}, Measure::kExact, &features);
  if (FieldSize(features) > static_cast<size_t>(end - out)) return nullptr;
  out = WriteField(kFeaturesTag, features, out);
  uint8_t* const after = out + features;
  return WriteFeatures(row, out, after) == after ? after : nullptr;
}

uint8_t* RowEncoder::WriteLists(size_t row, uint8_t* out, const uint8_t* end) const {
  uint64_t lists;
  if (!InnerSize(static_cast<uint64_t>(end - out), &lists)) return nullptr;
  out = WriteField(kFeatureListsTag, lists, out);
  for (const ColumnPlan& plan : lists_) {
    if (!HasRow(plan, row)) continue;
    const std::string& key = plan.column.key;
    const uint64_t list = ListBytes(plan, row);
    const uint64_t entry = FieldSize(key.size()) + FieldSize(list);
    if (FieldSize(entry) > static_cast<size_t>(end - out)) return nullptr;
    out = WriteField(kEntryTag, entry, out);
    out = WriteField(kKeyTag, key.size(), out);
    std::memcpy(out, key.data(), key.size());
    out = WriteField(kValueTag, list, out + key.size());
    const uint8_t* const after = out + list;
    const Steps steps = StepsOf(plan, row);
    for (size_t step = steps.first; step < steps.last && out != nullptr; ++step) {
      out = plan.WriteStep(step, out, after);
    }
    if (out != after) return nullptr;
  }
  return out;
}

Status RowChanged(size_t row) {
  return Status::InvalidArgument("row " + std::to_string(row) +
                                 ": an array was changed while it was encoded; do not write to it from other threads");
}

}  // namespace tfr
