// Values into columns, and the errors of values that do not fit; see row_writer.h.

#include "parse/row_writer.h"

#include <algorithm>
#include <cstring>

namespace tfr {
namespace {

std::string ShapeText(const std::vector<int64_t>& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) text += (i ? "," : "") + std::to_string(shape[i]);
  return text + "]";
}

Status Fault(const FeatureSpec& spec, std::string what) {
  return Status::InvalidArgument("feature '" + spec.key + "': " + std::move(what)).WithFeature(spec.key);
}

Status WrongCount(const FeatureSpec& spec, size_t got) {
  const char* kind = KindName(KindOf(spec.type));
  return Fault(spec, std::string("number of ") + kind + " values != expected: expected " + std::to_string(spec.elements) +
                         " (shape " + ShapeText(spec.shape) + "), got " + std::to_string(got));
}

Status NotAMultiple(const FeatureSpec& spec, size_t got) {
  return Fault(spec, std::string("number of ") + KindName(KindOf(spec.type)) + " values is not a multiple of " +
                         std::to_string(spec.elements) + " (shape " + ShapeText(spec.shape) + "), got " +
                         std::to_string(got));
}

Status Misfit(const FeatureSpec& spec, int64_t value) {
  return Fault(spec, "value " + std::to_string(value) + " is out of range for " + TypeName(spec.type));
}

Status WrongByteCount(const FeatureSpec& spec, size_t got) {
  return Fault(spec, "cannot view the bytes as " + Expectation(spec) + ": expected " +
                         std::to_string(spec.elements * ItemSize(spec.type)) + " bytes, got " + std::to_string(got));
}

// The bytes value of a numeric kFixed feature is the array itself, little-endian.
bool CopyRaw(const FeatureSpec& spec, const FeatureValue& value, uint8_t* out, Status* why) {
  Bytes bytes;
  size_t count;
  if (OnlyBytes(value, &bytes, &count) != Decoded::kOk) {
    if (why) *why = MalformedFeature(spec);
    return false;
  }
  if (count != 1) {
    if (why) {
      *why = Fault(spec, "expected one bytes value to view as " + Expectation(spec) + ", got " + std::to_string(count));
    }
    return false;
  }
  if (bytes.size != spec.elements * ItemSize(spec.type)) {
    if (why) *why = WrongByteCount(spec, bytes.size);
    return false;
  }
  if (spec.type == ColumnType::kBool) {
    const auto* bad = std::find_if(bytes.data, bytes.data + bytes.size, [](uint8_t byte) { return byte > 1; });
    if (bad != bytes.data + bytes.size) {
      if (why) *why = Misfit(spec, *bad);
      return false;
    }
  }
  std::memcpy(out, bytes.data, bytes.size);
  return true;
}

}  // namespace

std::string Expectation(const FeatureSpec& spec) {
  return std::string(TypeName(spec.type)) + " values of shape " + ShapeText(spec.shape);
}

Status WrongKind(const FeatureSpec& spec, Kind got) {
  return Fault(spec, std::string("data types don't match: expected type: ") + KindName(KindOf(spec.type)) +
                         ", got a list of type: " + KindName(got));
}

Status MissingFeature(const FeatureSpec& spec) {
  return Fault(spec, "(data type: " + std::string(TypeName(spec.type)) + ") is required but could not be found");
}

Status MalformedFeature(const FeatureSpec& spec) { return Fault(spec, "can't parse its value: malformed protobuf"); }

RowWriter::RowWriter(const Schema& schema) : schema_(schema) {
  for (size_t f = 0; f < schema.size(); ++f) {
    const FeatureSpec& spec = schema.features()[f];
    lists_.emplace_back(ItemSize(spec.type));
    steps_.emplace_back(sizeof(int64_t));
    if (spec.layout != Layout::kFixed) list_features_.push_back(static_cast<uint32_t>(f));
  }
}

void RowWriter::StartRange(const ColumnTarget* targets, size_t first_row, size_t rows) {
  targets_ = targets;
  first_row_ = first_row;
  rows_ = rows;
  for (const uint32_t f : list_features_) {
    lists_[f].Truncate(0);
    steps_[f].Truncate(0);
  }
}

bool RowWriter::PutFixed(size_t f, size_t row, const FeatureValue& value, Status* why) {
  const FeatureSpec& spec = schema_.features()[f];
  uint8_t* out = targets_[f].fixed + row * spec.elements * ItemSize(spec.type);
  if (value.kind != KindOf(spec.type)) {
    if (value.kind == Kind::kBytes) return CopyRaw(spec, value, out, why);
    if (why) *why = WrongKind(spec, value.kind);
    return false;
  }
  Sink sink{out, spec.elements, 0};
  int64_t misfit;
  const Decoded decoded = DecodeValues(value, spec.type, &sink, &misfit);
  if (decoded == Decoded::kOk && sink.count == spec.elements) [[likely]] return true;
  if (why) {
    *why = decoded == Decoded::kMalformed    ? MalformedFeature(spec)
           : decoded == Decoded::kOutOfRange ? Misfit(spec, misfit)
                                             : WrongCount(spec, sink.count);
  }
  return false;
}

bool RowWriter::Append(size_t f, size_t row, const FeatureValue& value, size_t* count, Status* why) {
  const FeatureSpec& spec = schema_.features()[f];
  *count = 0;
  if (value.kind == Kind::kNone) return true;
  if (value.kind != KindOf(spec.type)) {
    if (why) *why = WrongKind(spec, value.kind);
    return false;
  }
  Growing& list = lists_[f];
  const size_t most = MostValues(value);
  if (!list.Reserve(most, row - first_row_, rows_)) {
    if (why) *why = Status::OutOfMemory("no memory for the values of feature '" + spec.key + "'");
    return false;
  }
  Sink sink{list.end(), most, 0};
  int64_t misfit;
  const Decoded decoded = DecodeValues(value, spec.type, &sink, &misfit);
  if (decoded != Decoded::kOk) {
    if (why) *why = decoded == Decoded::kMalformed ? MalformedFeature(spec) : Misfit(spec, misfit);
    return false;
  }
  list.Advance(sink.count);
  *count = sink.count;
  return true;
}

bool RowWriter::Put(size_t f, size_t row, const FeatureValue& value, Status* why) {
  const FeatureSpec& spec = schema_.features()[f];
  if (spec.layout == Layout::kFixed) return PutFixed(f, row, value, why);
  size_t count;
  if (!Append(f, row, value, &count, why)) return false;
  if (spec.layout == Layout::kPadded && count % spec.elements != 0) {
    if (why) *why = NotAMultiple(spec, count);
    return false;
  }
  return true;
}

bool RowWriter::PutStep(size_t f, size_t row, const FeatureValue& value, Status* why) {
  const FeatureSpec& spec = schema_.features()[f];
  size_t count;
  if (!Append(f, row, value, &count, why)) return false;
  if (spec.layout == Layout::kPadded && count != spec.elements) {
    if (why) *why = WrongCount(spec, count);
    return false;
  }
  Growing& steps = steps_[f];
  if (!steps.Reserve(1, row - first_row_, rows_)) {
    if (why) *why = Status::OutOfMemory("no memory for the steps of feature '" + spec.key + "'");
    return false;
  }
  const auto end = static_cast<int64_t>(lists_[f].size());
  std::memcpy(steps.end(), &end, sizeof end);
  steps.Advance(1);
  return true;
}

void RowWriter::PutDefault(size_t f, size_t row) {
  const FeatureSpec& spec = schema_.features()[f];
  const size_t bytes = spec.elements * ItemSize(spec.type);
  const void* from = spec.type == ColumnType::kBytes ? static_cast<const void*>(schema_.default_views(f).data())
                                                     : static_cast<const void*>(spec.default_values.data());
  std::memcpy(targets_[f].fixed + row * bytes, from, bytes);
}

void RowWriter::EndRow(size_t row) {
  for (const uint32_t f : list_features_) {
    const ColumnTarget& target = targets_[f];
    if (target.splits) target.splits[row + 1] = static_cast<int64_t>(lists_[f].size());
    if (target.row_steps) target.row_steps[row + 1] = static_cast<int64_t>(steps_[f].size());
  }
}

void RowWriter::RestartRow(size_t row) {
  for (const uint32_t f : list_features_) {
    const ColumnTarget& target = targets_[f];
    if (target.splits) lists_[f].Truncate(row == first_row_ ? 0 : static_cast<size_t>(target.splits[row]));
    if (target.row_steps) {
      const size_t steps = row == first_row_ ? 0 : static_cast<size_t>(target.row_steps[row]);
      steps_[f].Truncate(steps);
      int64_t end = 0;
      if (steps > 0) std::memcpy(&end, steps_[f].data() + (steps - 1) * sizeof end, sizeof end);
      lists_[f].Truncate(static_cast<size_t>(end));
    }
  }
}

}  // namespace tfr
