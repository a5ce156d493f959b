// Values into columns, and the errors of values that do not fit; see row_writer.h.

#include "parse/row_writer.h"

#include <algorithm>
#include <cstring>

#include "base/endian.h"
#include "parse/faults.h"
#include "varint/varint.h"
#include "wire/example.h"
#include "wire/wire.h"

namespace tfr {
namespace {

TFR_COLD bool NoMemory(const FeatureSpec& spec, Status* why) {
  if (why) *why = Status::OutOfMemory("no memory for the values of feature '" + spec.key + "'");
  return false;
}

// A numeric kFixed feature may also be given as one string: the array's own bytes, little-endian.
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
  if (spec.type == ElementType::kBool) {
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

RowWriter::RowWriter(const Schema& schema) : schema_(schema) {
  for (size_t f = 0; f < schema.size(); ++f) {
    const FeatureSpec& spec = schema.features()[f];
    lists_.emplace_back(ItemSize(spec.type));
    steps_.emplace_back(sizeof(int64_t));
    paddings_.emplace_back(schema, f);
    float_steps_.emplace_back(spec.elements);
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
  uint8_t* out = targets_[f].fixed + row * targets_[f].row_bytes;
  if (value.kind != KindOf(spec.type)) {
    if (value.kind == Kind::kBytes && spec.takes_raw_bytes) return CopyRaw(spec, value, out, why);
    if (why) *why = WrongKind(spec, value.kind);
    return false;
  }
  ValueTarget target{out, spec.elements, 0};
  int64_t misfit;
  const Decoded decoded = DecodeValues(value, spec.type, &target, &misfit);
  if (decoded == Decoded::kOk && target.count == spec.elements) [[likely]]
    return true;
  if (why) {
    *why = decoded == Decoded::kMalformed    ? MalformedFeature(spec)
           : decoded == Decoded::kOutOfRange ? Misfit(spec, misfit)
                                             : WrongCount(spec, target.count);
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
  MarkPresent(f, row);
  Growing& list = lists_[f];
  const size_t most = MostValues(value);
  const size_t room = list.placed() ? std::min(most, list.room()) : most;
  if (!list.Reserve(room, row - first_row_, rows_)) return NoMemory(spec, why);
  ValueTarget target{list.end(), room, 0};
  int64_t misfit;
  Decoded decoded = DecodeValues(value, spec.type, &target, &misfit);
  if (decoded == Decoded::kOk && target.count > room) [[unlikely]] {  // more than CountLists found
    if (!list.Reserve(most, row - first_row_, rows_)) return NoMemory(spec, why);
    target = {list.end(), most, 0};
    decoded = DecodeValues(value, spec.type, &target, &misfit);
  }
  if (decoded != Decoded::kOk) {
    if (why) *why = decoded == Decoded::kMalformed ? MalformedFeature(spec) : Misfit(spec, misfit);
    return false;
  }
  list.Advance(target.count);
  *count = target.count;
  return true;
}

bool RowWriter::Put(size_t f, size_t row, const FeatureValue& value, Status* why) {
  const FeatureSpec& spec = schema_.features()[f];
  if (spec.layout == Layout::kFixed) return PutFixed(f, row, value, why);
  size_t count;
  if (!Append(f, row, value, &count, why)) return false;
  if (spec.elements != 1 && count % spec.elements != 0) {
    if (why) *why = NotAMultiple(spec, count);
    return false;
  }
  return true;
}

void RowWriter::StartList(size_t f, size_t row) {
  const ColumnTarget& target = targets_[f];
  list_ = {};
  if (target.padded == nullptr) return;
  const FeatureSpec& spec = schema_.features()[f];
  list_.out = target.padded + row * target.stride * spec.elements * ItemSize(spec.type);
  list_.room = target.stride;
}

void RowWriter::EndList(size_t f, size_t row) {
  const ColumnTarget& target = targets_[f];
  if (target.lengths == nullptr) return;
  target.lengths[row] = static_cast<int64_t>(list_.steps);
  if (list_.room > 0) paddings_[f].Fill(list_.out, list_.room * schema_.features()[f].elements);
}

// Moves the open list's steps from their row of the padded column, which has too little room, to the end of the list.
bool RowWriter::Spill(size_t f, size_t row, Status* why) {
  const FeatureSpec& spec = schema_.features()[f];
  const size_t values = list_.steps * spec.elements;
  const size_t bytes = values * ItemSize(spec.type);
  if (!lists_[f].Reserve(values, row - first_row_, rows_)) return NoMemory(spec, why);
  if (bytes > 0) std::memcpy(lists_[f].end(), list_.out - bytes, bytes);
  lists_[f].Advance(values);
  list_.out = nullptr;
  list_.room = 0;
  return true;
}

// Into its row of the padded column if it is good and fits, or else into the list, which tells what is wrong with it.
bool RowWriter::PutPaddedStep(size_t f, size_t row, const FeatureValue& value, Status* why) {
  const FeatureSpec& spec = schema_.features()[f];
  if (list_.room > 0 && why == nullptr) {
    if (value.kind != KindOf(spec.type)) return false;
    ValueTarget target{list_.out, spec.elements, 0};
    int64_t misfit;
    if (DecodeValues(value, spec.type, &target, &misfit) != Decoded::kOk || target.count != spec.elements) return false;
    list_.out += spec.elements * ItemSize(spec.type);
    --list_.room;
    ++list_.steps;
    return true;
  }
  if (list_.out != nullptr && !Spill(f, row, why)) return false;
  size_t count;
  if (!Append(f, row, value, &count, why)) return false;
  if (count != spec.elements) {
    if (why) *why = WrongCount(spec, count);
    return false;
  }
  ++list_.steps;
  return true;
}

bool RowWriter::PutStep(size_t f, size_t row, const FeatureValue& value, Status* why) {
  const FeatureSpec& spec = schema_.features()[f];
  if (spec.layout == Layout::kPadded) return PutPaddedStep(f, row, value, why);
  size_t count;
  if (!Append(f, row, value, &count, why)) return false;
  Growing& steps = steps_[f];
  if (!steps.Reserve(1, row - first_row_, rows_)) return NoMemory(spec, why);
  const auto end = static_cast<int64_t>(lists_[f].size());
  std::memcpy(steps.end(), &end, sizeof end);
  steps.Advance(1);
  ++list_.steps;
  return true;
}

// Steps of any number of values each, all lengths in one byte.
template <Kind kind>
const uint8_t* RowWriter::TakeSteps(size_t f, size_t row, const uint8_t* p, const uint8_t* end) {
  constexpr size_t kChunk = 16;  // bytes copied at a time
  const auto bytes = static_cast<size_t>(end - p);
  const size_t most_steps = bytes / kFeatureHeaderBytes;
  const size_t most = kind == Kind::kFloat ? bytes / 4 : bytes;
  Growing& list = lists_[f];
  Growing& steps = steps_[f];
  if (!list.Reserve(most + kChunk / 4, row - first_row_, rows_) ||
      !steps.Reserve(most_steps, row - first_row_, rows_)) {
    return p;
  }
  auto* ends = reinterpret_cast<int64_t*>(steps.end());
  size_t size = list.size();
  uint8_t* out = list.end();
  size_t done = 0;
  while (static_cast<size_t>(end - p) >= sizeof(uint64_t)) {
    const uint64_t header = LoadLE64(p);
    const size_t packed = ValueBytes(header);
    if ((header & kFeatureHeaderMask) != FeatureHeader(kStepTag, kind, packed) || packed > kMaxShortValues ||
        packed > static_cast<size_t>(end - p) - kFeatureHeaderBytes) {
      break;
    }
    const uint8_t* values = p + kFeatureHeaderBytes;
    size_t count;
    if constexpr (kind == Kind::kFloat) {
      count = packed / 4;
      if (packed % 4 != 0) break;
      if (packed + kChunk <= static_cast<size_t>(end - values)) {
        // In whole chunks, some bytes too many if necessary: there is room, and the next step overwrites them.
        for (size_t i = 0; i < packed; i += kChunk) std::memcpy(out + i, values + i, kChunk);
      } else {
        std::memcpy(out, values, packed);
      }
    } else {
      if (DecodeVarintRun(values, values + packed, reinterpret_cast<int64_t*>(out), packed, &count) == nullptr) break;
    }
    out += count * (kind == Kind::kFloat ? sizeof(float) : sizeof(int64_t));
    size += count;
    ends[done++] = static_cast<int64_t>(size);
    p = values + packed;
  }
  list.Advance(size - list.size());
  steps.Advance(done);
  list_.steps += done;
  return p;
}

const uint8_t* RowWriter::TakeEqualSteps(size_t f, const uint8_t* p, const uint8_t* end, uint8_t* out, size_t room,
                                         size_t* taken) const {
  const FeatureSpec& spec = schema_.features()[f];
  return spec.type == ElementType::kInt64
             ? TakeInt64Steps(spec.elements, p, end, reinterpret_cast<int64_t*>(out), room, taken)
             : float_steps_[f].Take(p, end, out, room, taken);
}

const uint8_t* RowWriter::TakePaddedSteps(size_t f, size_t row, const uint8_t* p, const uint8_t* end) {
  const FeatureSpec& spec = schema_.features()[f];
  size_t taken = 0;
  if (list_.out != nullptr) {
    p = TakeEqualSteps(f, p, end, list_.out, list_.room, &taken);
    list_.out += taken * spec.elements * ItemSize(spec.type);
    list_.room -= taken;
    list_.steps += taken;
    // Only a step that follows takes the row into the list: after an unknown field a full row stays where it is.
    if (p == end || list_.room > 0 || *p != kStepTag || !Spill(f, row, nullptr)) return p;
    taken = 0;
  }
  // A step takes its header and, for each value, at least one byte or the four of a float.
  const size_t value_bytes = spec.type == ElementType::kInt64 ? 1 : sizeof(float);
  const size_t most_steps = static_cast<size_t>(end - p) / (kFeatureHeaderBytes + spec.elements * value_bytes);
  Growing& list = lists_[f];
  if (!list.Reserve(most_steps * spec.elements, row - first_row_, rows_)) return p;
  p = TakeEqualSteps(f, p, end, list.end(), most_steps, &taken);
  list.Advance(taken * spec.elements);
  list_.steps += taken;
  return p;
}

const uint8_t* RowWriter::PutUsualSteps(size_t f, size_t row, const uint8_t* p, const uint8_t* end) {
  const FeatureSpec& spec = schema_.features()[f];
  if (spec.type != ElementType::kInt64 && spec.type != ElementType::kFloat32) return p;
  if (spec.layout == Layout::kPadded) return TakePaddedSteps(f, row, p, end);
  return spec.type == ElementType::kInt64 ? TakeSteps<Kind::kInt64>(f, row, p, end)
                                          : TakeSteps<Kind::kFloat>(f, row, p, end);
}

void RowWriter::PutDefault(size_t f, size_t row) {
  const FeatureSpec& spec = schema_.features()[f];
  const size_t bytes = spec.elements * ItemSize(spec.type);
  const void* from = spec.type == ElementType::kBytes ? static_cast<const void*>(schema_.default_views(f).data())
                                                      : static_cast<const void*>(spec.default_values.data());
  std::memcpy(targets_[f].fixed + row * targets_[f].row_bytes, from, bytes);
  if (targets_[f].present != nullptr) targets_[f].present[row] = 0;
}

void RowWriter::EndRow(size_t row) {
  for (const uint32_t f : list_features_) {
    const ColumnTarget& target = targets_[f];
    if (target.splits) target.splits[row + 1] = static_cast<int64_t>(lists_[f].size());
    if (target.row_steps) target.row_steps[row + 1] = static_cast<int64_t>(steps_[f].size());
  }
}

void RowWriter::RestartRow(size_t row) {
  for (size_t f = 0; f < schema_.size(); ++f) {
    if (targets_[f].present != nullptr) targets_[f].present[row] = schema_.features()[f].layout == Layout::kFixed;
  }
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
