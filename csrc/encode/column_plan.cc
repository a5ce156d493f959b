// Sizes and bytes of one column; see column_plan.h.

#include "encode/column_plan.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/endian.h"
#include "base/float_mode.h"
#include "base/half.h"
#include "wire/example.h"
#include "wire/wire.h"

namespace tfr {
namespace {

constexpr size_t kBlock = 256;                     // values converted at a time, on the stack
constexpr size_t kLongRun = 32;                    // values that take longer to read twice than a head to guess
constexpr uint64_t kTooLarge = uint64_t{1} << 33;  // for any record, as is each string of this size

template <typename T>
int64_t LoadAs(const void* values, size_t i) {
  return static_cast<int64_t>(Load<T>(values, i));
}

int64_t LoadInt(ElementType type, const void* values, size_t i) {
  switch (type) {
    case ElementType::kBool:
      return Load<uint8_t>(values, i) != 0;
    case ElementType::kInt8:
      return LoadAs<int8_t>(values, i);
    case ElementType::kInt16:
      return LoadAs<int16_t>(values, i);
    case ElementType::kInt32:
      return LoadAs<int32_t>(values, i);
    case ElementType::kUInt8:
      return LoadAs<uint8_t>(values, i);
    case ElementType::kUInt16:
      return LoadAs<uint16_t>(values, i);
    case ElementType::kUInt32:
      return LoadAs<uint32_t>(values, i);
    case ElementType::kUInt64:
      return LoadAs<uint64_t>(values, i);
    default:
      return LoadAs<int64_t>(values, i);
  }
}

float LoadFloat(ElementType type, const void* values, size_t i) {
  switch (type) {
    case ElementType::kFloat16:
      return FromHalf(Load<uint16_t>(values, i));
    case ElementType::kBFloat16:
      return FromBFloat16(Load<uint16_t>(values, i));
    case ElementType::kFloat64:
      return ToFloat(Load<double>(values, i));
    default:
      return Load<float>(values, i);
  }
}

// Not inlined: see float_mode.h.
__attribute__((noinline)) void NarrowAll(const void* values, size_t begin, size_t count, uint8_t* out) {
  for (size_t i = 0; i < count; ++i) {
    const auto value = static_cast<float>(Load<double>(values, begin + i));
    std::memcpy(out + i * sizeof value, &value, sizeof value);
  }
}

// At most kBlock values from `at` on as int64. False if one has no encoding.
bool LoadBlock(const EncodeColumn& column, size_t at, size_t n, int64_t* block) {
  int64_t all = 0;
  for (size_t i = 0; i < n; ++i) all |= block[i] = LoadInt(column.type, column.values, at + i);
  return column.type != ElementType::kUInt64 || all >= 0;
}

// Bytes that a packed value takes at most; strings are not packed.
uint8_t MostBytes(ElementType type) {
  switch (type) {
    case ElementType::kBool:
      return 1;
    case ElementType::kUInt8:
      return 2;
    case ElementType::kUInt16:
      return 3;
    case ElementType::kUInt32:
      return 5;
    default:
      return IsFloat(type) ? sizeof(float) : kMaxVarintSize;
  }
}

const Bytes* Strings(const EncodeColumn& column) { return static_cast<const Bytes*>(column.values); }

// The low 56 bits of a value, 7 to a byte, lowest first.
uint64_t SpreadGroups(uint64_t x) {
  x = (x & 0x000000000fffffff) | (x & 0x00fffffff0000000) << 4;
  x = (x & 0x00003fff00003fff) | (x & 0x0fffc0000fffc000) << 2;
  return (x & 0x007f007f007f007f) | (x & 0x3f803f803f803f80) << 1;
}

// Copies `size` bytes and perhaps up to 15 more, which must be readable and writable.
void CopyLoosely(const uint8_t* from, size_t size, uint8_t* to) {
  size_t done = 0;
  do {
    std::memcpy(to + done, from + done, ColumnPlan::kTextSlack);
    done += ColumnPlan::kTextSlack;
  } while (done < size);
}

}  // namespace

ColumnPlan::ColumnPlan(EncodeColumn from) : column(std::move(from)) {
  const bool scalar = column.splits == nullptr && column.count == 1 && column.steps == nullptr;
  list_tag = ListTag(KindOf(column.type));
  most_bytes = MostBytes(column.type);
  if (column.type == ElementType::kBytes) {
    op = Op::kBytes;
  } else if (IsFloat(column.type)) {
    op = !scalar ? Op::kFloats : column.type == ElementType::kFloat32 ? Op::kFloat32Scalar : Op::kFloatScalar;
    if (scalar) LayTexts(sizeof(float));
  } else {
    op = !scalar ? Op::kInts : column.type == ElementType::kInt64 ? Op::kInt64Scalar : Op::kIntScalar;
    for (size_t size = 1; scalar && size <= kMaxVarintSize; ++size) LayTexts(size);
  }
}

void ColumnPlan::LayTexts(size_t value_size) {
  const size_t list = FieldSize(value_size);
  const size_t feature = FieldSize(list);
  const size_t entry = FieldSize(column.key.size()) + FieldSize(feature);
  const size_t text = FieldSize(entry) - value_size;
  text_at[value_size] = static_cast<uint32_t>(texts.size());
  text_size[value_size] = static_cast<uint32_t>(text);
  entry_size[value_size] = static_cast<uint32_t>(text + value_size);
  texts.resize(texts.size() + text + kTextSlack);
  uint8_t* out = texts.data() + text_at[value_size];
  out = WriteField(kEntryTag, entry, out);
  out = WriteField(kKeyTag, column.key.size(), out);
  out = std::copy(column.key.begin(), column.key.end(), out);
  out = WriteField(kValueTag, feature, out);
  out = WriteField(list_tag, list, out);
  WriteField(kPackedTag, value_size, out);
  const size_t copied = (text + kTextSlack - 1) / kTextSlack * kTextSlack;
  loose_room = std::max<uint32_t>(loose_room, static_cast<uint32_t>(std::max(copied, text + kMaxVarintSize)));
}

// ---- Sizes ----

uint64_t ColumnPlan::PackedSize(Run run) const {
  if (IsFloat(column.type)) return run.count * sizeof(float);
  if (column.type == ElementType::kInt64 || column.type == ElementType::kUInt64) {
    return EncodedVarintsSize(static_cast<const int64_t*>(column.values) + run.begin, run.count);
  }
  int64_t block[kBlock];
  uint64_t size = 0;
  for (size_t done = 0; done < run.count; done += kBlock) {
    const size_t n = std::min(kBlock, run.count - done);
    LoadBlock(column, run.begin + done, n, block);
    size += EncodedVarintsSize(block, n);
  }
  return size;
}

ColumnPlan::Sizes ColumnPlan::SizesOf(Run run, Measure measure) const {
  if (run.count == 0) return {0, 0};
  if (op != Op::kBytes) {
    const uint64_t packed = measure == Measure::kBound ? run.count * most_bytes : PackedSize(run);
    return {packed, FieldSize(packed)};
  }
  return {0, StringsSize(run)};
}

inline uint64_t ColumnPlan::StringsSize(Run run) const {
  const Bytes* const strings = Strings(column) + run.begin;
  uint64_t size = 0, all = 0;
  for (size_t i = 0; i < run.count; ++i) {
    size += FieldSize(strings[i].size);
    all |= strings[i].size;
  }
  // A sum that wraps around must not pass for a small one.
  return all >> 32 == 0 ? size : std::max<uint64_t>(size, kTooLarge);
}

void ColumnPlan::AddEntrySizes(RowRange rows, Measure measure, uint64_t* sizes) const {
  if (op == Op::kFloat32Scalar || op == Op::kFloatScalar || (measure == Measure::kBound && !texts.empty())) {
    for (size_t i = 0, row = rows.first; i < rows.count; ++i, row += rows.step) {
      if (HasItem(row)) sizes[i] += entry_size[most_bytes];
    }
  } else if (op == Op::kInt64Scalar) {
    const auto* values = static_cast<const int64_t*>(column.values);
    if (rows.step == 1 && column.valid == nullptr) {
      values += rows.first;
      for (size_t i = 0; i < rows.count; ++i) sizes[i] += entry_size[VarintSize(static_cast<uint64_t>(values[i]))];
      return;
    }
    for (size_t i = 0, row = rows.first; i < rows.count; ++i, row += rows.step) {
      if (HasItem(row)) sizes[i] += entry_size[VarintSize(static_cast<uint64_t>(values[row]))];
    }
  } else if (op == Op::kIntScalar) {
    for (size_t i = 0, row = rows.first; i < rows.count; ++i, row += rows.step) {
      const auto value = static_cast<uint64_t>(LoadInt(column.type, column.values, row));
      if (HasItem(row)) sizes[i] += entry_size[VarintSize(value)];
    }
  } else {
    AddListSizes(rows, measure, sizes);
  }
}

void ColumnPlan::AddListSizes(RowRange rows, Measure measure, uint64_t* sizes) const {
  const uint64_t key_field = FieldSize(column.key.size());
  for (size_t i = 0, row = rows.first; i < rows.count; ++i, row += rows.step) {
    if (!HasItem(row)) continue;
    const uint64_t list = op == Op::kBytes ? StringsSize(RunOf(row)) : SizesOf(RunOf(row), measure).list;
    sizes[i] += FieldSize(key_field + FieldSize(FieldSize(list)));
  }
}

size_t ColumnPlan::FindTooLarge(size_t first, size_t last) const {
  if (column.type != ElementType::kUInt64) return last;
  const auto* values = static_cast<const int64_t*>(column.values);
  for (size_t item = first; item < last; ++item) {
    if (!HasItem(item)) continue;
    const Run run = RunOf(item);
    for (size_t i = 0; i < run.count; ++i) {
      if (values[run.begin + i] < 0) return item;
    }
  }
  return last;
}

// ---- Bytes ----

inline uint8_t* ColumnPlan::WriteScalar(int64_t value, uint8_t* out, const uint8_t* end) const {
  const auto bits = static_cast<uint64_t>(value);
  const size_t size = VarintSize(bits);
  const uint8_t* text = texts.data() + text_at[size];
  const size_t text_bytes = text_size[size];
  const auto room = static_cast<size_t>(end - out);
  if (room < loose_room || size > sizeof bits) {
    if (text_bytes + size > room) return nullptr;
    std::memcpy(out, text, text_bytes);
    return EncodeVarint(bits, out + text_bytes);
  }
  CopyLoosely(text, text_bytes, out);
  constexpr uint64_t kTopBits = 0x8080808080808080;
  StoreLE64(out + text_bytes, SpreadGroups(bits) | (kTopBits & ((uint64_t{1} << (8 * (size - 1))) - 1)));
  return out + text_bytes + size;
}

inline uint8_t* ColumnPlan::WriteScalarFloat(float value, uint8_t* out, const uint8_t* end) const {
  const uint8_t* text = texts.data() + text_at[sizeof value];
  const size_t text_bytes = text_size[sizeof value];
  const auto room = static_cast<size_t>(end - out);
  if (room < loose_room) {
    if (text_bytes + sizeof value > room) return nullptr;
    std::memcpy(out, text, text_bytes);
  } else {
    CopyLoosely(text, text_bytes, out);
  }
  std::memcpy(out + text_bytes, &value, sizeof value);
  return out + text_bytes + sizeof value;
}

uint8_t* ColumnPlan::WriteInts(Run run, uint8_t* out, const uint8_t* end) const {
  if (column.type == ElementType::kInt64) {
    return EncodeVarints(static_cast<const int64_t*>(column.values) + run.begin, run.count, out, end);
  }
  int64_t block[kBlock];
  for (size_t done = 0; done < run.count && out != nullptr; done += kBlock) {
    const size_t n = std::min(kBlock, run.count - done);
    out = LoadBlock(column, run.begin + done, n, block) ? EncodeVarints(block, n, out, end) : nullptr;
  }
  return out;
}

uint8_t* ColumnPlan::WriteFloats(Run run, uint8_t* out) const {
  if (column.type == ElementType::kFloat32) {
    std::memcpy(out, static_cast<const float*>(column.values) + run.begin, run.count * sizeof(float));
  } else if (column.type == ElementType::kFloat64) {
    const SubnormalNumbers exact;
    NarrowAll(column.values, run.begin, run.count, out);
  } else {
    for (size_t i = 0; i < run.count; ++i) {
      const float value = LoadFloat(column.type, column.values, run.begin + i);
      std::memcpy(out + i * sizeof value, &value, sizeof value);
    }
  }
  return out + run.count * sizeof(float);
}

inline uint8_t* ColumnPlan::WriteStrings(Run run, uint8_t* out) const {
  const Bytes* const strings = Strings(column) + run.begin;
  for (size_t i = 0; i < run.count; ++i) {
    out = WriteField(kStringTag, strings[i].size, out);
    if (strings[i].size > 0) std::memcpy(out, strings[i].data, strings[i].size);
    out += strings[i].size;
  }
  return out;
}

// A Feature with the list, for which there is room; `sizes` are what lengths before it have promised.
uint8_t* ColumnPlan::WriteList(Run run, Sizes sizes, uint8_t* out, const uint8_t* end) const {
  out = WriteField(list_tag, sizes.list, out);
  if (run.count == 0) return out;
  if (op == Op::kBytes) return WriteStrings(run, out);  // whose sizes do not change
  const uint8_t* const after = out + sizes.list;
  out = WriteField(kPackedTag, sizes.packed, out);
  out = IsFloat(column.type) ? WriteFloats(run, out) : WriteInts(run, out, end);
  return out == after ? out : nullptr;
}

uint8_t* ColumnPlan::WriteStep(size_t item, uint8_t* out, const uint8_t* end) const {
  const bool has = HasItem(item);
  const Run run = has ? RunOf(item) : Run{0, 0};
  const Sizes sizes = has ? SizesOf(run) : Sizes{0, 0};
  const uint64_t feature = has ? FieldSize(sizes.list) : 0;
  if (FieldSize(feature) > static_cast<size_t>(end - out)) return nullptr;
  out = WriteField(kStepTag, feature, out);
  return has ? WriteList(run, sizes, out, end) : out;
}

uint8_t* ColumnPlan::WriteEntry(size_t row, uint8_t* out, const uint8_t* end) const {
  if (!HasItem(row)) return out;
  switch (op) {
    case Op::kInt64Scalar:
      return WriteScalar(Load<int64_t>(column.values, row), out, end);
    case Op::kFloat32Scalar:
      return WriteScalarFloat(Load<float>(column.values, row), out, end);
    case Op::kIntScalar: {
      const int64_t value = LoadInt(column.type, column.values, row);
      return column.type == ElementType::kUInt64 && value < 0 ? nullptr : WriteScalar(value, out, end);
    }
    case Op::kFloatScalar:
      return WriteScalarFloat(LoadFloat(column.type, column.values, row), out, end);
    default:  // both in one: with another case, the compiler makes a table of jumps, which are predicted worse
      return WriteListEntry(row, out, end);
  }
}

// The entry up to its Feature of `feature` bytes, for which there is room then.
inline uint8_t* ColumnPlan::WriteEntryHead(uint64_t feature, uint8_t* out, const uint8_t* end) const {
  const size_t key = column.key.size();
  const uint64_t entry = FieldSize(key) + FieldSize(feature);
  if (FieldSize(entry) > static_cast<size_t>(end - out)) return nullptr;
  out = WriteField(kEntryTag, entry, out);
  out = WriteField(kKeyTag, key, out);
  std::memcpy(out, column.key.data(), key);
  return WriteField(kValueTag, feature, out + key);
}

// How many bytes of an entry come before its packed values.
uint64_t ColumnPlan::HeadSize(uint64_t packed) const {
  return FieldSize(FieldSize(column.key.size()) + FieldSize(FieldSize(FieldSize(packed)))) - packed;
}

// The entry, its values read once: they are written where they probably belong, and moved if the head before them has
// another size. Null if they do not fit there.
uint8_t* ColumnPlan::WriteLongInts(Run run, uint8_t* out, const uint8_t* end) const {
  const auto room = static_cast<size_t>(end - out);
  const uint64_t guess = HeadSize(std::min<uint64_t>(run.count * most_bytes, room));
  if (guess >= room) return nullptr;
  uint8_t* const values = out + guess;
  const uint8_t* const after = WriteInts(run, values, end);
  if (after == nullptr) return nullptr;
  const auto packed = static_cast<size_t>(after - values);
  const uint64_t head = HeadSize(packed);
  if (head + packed > room) return nullptr;
  if (head != guess) std::memmove(out + head, values, packed);
  uint8_t* const list = WriteEntryHead(FieldSize(FieldSize(packed)), out, end);
  return WriteField(kPackedTag, packed, WriteField(list_tag, FieldSize(packed), list)) + packed;
}

uint8_t* ColumnPlan::WriteListEntry(size_t row, uint8_t* out, const uint8_t* end) const {
  const Run run = RunOf(row);
  if (op == Op::kInts && run.count >= kLongRun) {
    if (uint8_t* const after = WriteLongInts(run, out, end)) return after;
  }
  if (op == Op::kBytes) {
    const uint64_t list = StringsSize(run);
    out = WriteEntryHead(FieldSize(list), out, end);
    return out != nullptr ? WriteStrings(run, WriteField(list_tag, list, out)) : nullptr;
  }
  const Sizes sizes = SizesOf(run);
  out = WriteEntryHead(FieldSize(sizes.list), out, end);
  return out != nullptr ? WriteList(run, sizes, out, end) : nullptr;
}

}  // namespace tfr
