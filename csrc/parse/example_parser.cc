// The Example parser; see example_parser.h. The message: example.proto and feature.proto of TensorFlow.
//
//   Example  { Features features = 1; }
//   Features { map<string, Feature> feature = 1; }        an entry is { string key = 1; Feature value = 2; }
//   Feature  { oneof { BytesList 1; FloatList 2; Int64List 3; } }

#include "parse/example_parser.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/endian.h"
#include "varint/varint.h"
#include "wire/wire.h"

namespace tfr {
namespace {

constexpr uint8_t kFeaturesTag = WireTag(1, kWireDelimited);
constexpr uint8_t kEntryTag = WireTag(1, kWireDelimited);
constexpr uint8_t kKeyTag = WireTag(1, kWireDelimited);
constexpr uint8_t kValueTag = WireTag(2, kWireDelimited);
constexpr uint8_t kFloatListTag = WireTag(2, kWireDelimited);
constexpr uint8_t kInt64ListTag = WireTag(3, kWireDelimited);
constexpr uint8_t kPackedTag = WireTag(1, kWireDelimited);

// What stands between a key and its only value, as one little-endian word of six bytes:
//   value tag, its length | list tag, its length | packed tag, its length
// with the three lengths growing together with the bytes of the value.
constexpr uint64_t Between(uint8_t list_tag, uint64_t value_bytes) {
  return kValueTag | (value_bytes + 4) << 8 | static_cast<uint64_t>(list_tag) << 16 | (value_bytes + 2) << 24 |
         static_cast<uint64_t>(kPackedTag) << 32 | value_bytes << 40;
}
constexpr size_t kBetweenBytes = 6;
constexpr uint64_t kBetweenMask = (uint64_t{1} << 8 * kBetweenBytes) - 1;
constexpr uint64_t kPerValueByte = Between(0, 1) - Between(0, 0);
static_assert(kPerValueByte == 0x0000010001000100);

constexpr size_t kHeaderBytes = 4;        // entry tag, its length, key tag, its length
constexpr uint32_t kEntryLengthUnit = 1u << 8;
constexpr uint32_t kValueMessageBytes = 4;  // list tag and length, packed tag and length
constexpr uint64_t kContinue = 0x8080808080808080;

// Header, what is between, the eight bytes of a value's load, and the eight that a short key's load may take.
constexpr size_t kReadAhead = kHeaderBytes + kBetweenBytes + 8 + 8;

// If an entry of this slot's key with one packed varint of 1 to 8 bytes stands at `p`, takes it and returns the
// cursor behind it, else null. kReadAhead bytes and the key are readable at p.
inline const uint8_t* TakeOneInt64(const uint8_t* p, const KeyTable::Slot& slot, int64_t* value) {
  const uint8_t* between = p + kHeaderBytes + slot.size;
  const uint64_t word = LoadLE64(between);
  const uint64_t bytes = word >> 40 & 0xff;
  if (bytes - 1 > 7) return nullptr;
  const uint64_t header = LoadLE32(p) ^ (slot.entry_header + static_cast<uint32_t>(bytes + kValueMessageBytes) *
                                                                 kEntryLengthUnit);
  const uint64_t differs = header | ((word & kBetweenMask) ^ (Between(kInt64ListTag, 0) + bytes * kPerValueByte));
  if (differs != 0 || !KeyTable::SameBytes(slot, p + kHeaderBytes)) return nullptr;
  const uint64_t mask = ~uint64_t{0} >> (64 - 8 * bytes);
  const uint64_t varint = LoadLE64(between + kBetweenBytes) & mask;
  if ((varint & kContinue) != (kContinue & mask >> 8)) return nullptr;  // not one varint of that many bytes
  *value = static_cast<int64_t>(internal::JoinGroups(varint & ~kContinue));
  return between + kBetweenBytes + bytes;
}

inline const uint8_t* TakeOneFloat(const uint8_t* p, const KeyTable::Slot& slot, uint32_t* bits) {
  const uint8_t* between = p + kHeaderBytes + slot.size;
  const uint64_t header = LoadLE32(p) ^ (slot.entry_header + (4 + kValueMessageBytes) * kEntryLengthUnit);
  const uint64_t differs = header | ((LoadLE64(between) & kBetweenMask) ^ Between(kFloatListTag, 4));
  if (differs != 0 || !KeyTable::SameBytes(slot, p + kHeaderBytes)) return nullptr;
  *bits = LoadLE32(between + kBetweenBytes);
  return between + kBetweenBytes + 4;
}

// Behind an entry of this slot's key with a value of fewer than 128 bytes, none of which matter.
inline const uint8_t* TakeSkipped(const uint8_t* p, const uint8_t* end, const KeyTable::Slot& slot) {
  const uint8_t* value = p + kHeaderBytes + slot.size;
  const uint32_t size = value[1];
  if (slot.size + kHeaderBytes + size > KeyTable::kMaxOneByteLength) return nullptr;
  const uint32_t header = LoadLE32(p) ^ (slot.entry_header + size * kEntryLengthUnit);
  if (header != 0 || value[0] != kValueTag || !KeyTable::SameBytes(slot, p + kHeaderBytes)) return nullptr;
  value += 2;
  return static_cast<size_t>(end - value) >= size ? value + size : nullptr;
}

// Takes a map entry of this slot's key, in the one form that its shape stands for, and puts its value into the row;
// null if it is anything else.
__attribute__((always_inline)) inline const uint8_t* TakeWhole(const uint8_t* p, const uint8_t* end,
                                                               const KeyTable::Slot& slot, size_t row) {
  if (slot.shape == KeyTable::kGeneral || static_cast<size_t>(end - p) < kReadAhead + slot.size) return nullptr;
  if (slot.shape == KeyTable::kOneInt64) {
    int64_t value;
    const uint8_t* const behind = TakeOneInt64(p, slot, &value);
    if (behind) reinterpret_cast<int64_t*>(slot.out)[row] = value;
    return behind;
  }
  if (slot.shape == KeyTable::kOneFloat) {
    uint32_t bits;
    const uint8_t* const behind = TakeOneFloat(p, slot, &bits);
    if (behind) reinterpret_cast<uint32_t*>(slot.out)[row] = bits;
    return behind;
  }
  return TakeSkipped(p, end, slot);
}

// A map entry that is a key and then a value, as every writer makes it; null if it is anything else.
inline const uint8_t* TakeEntry(const uint8_t* p, const uint8_t* end, Bytes* key, Bytes* value) {
  size_t size;
  if (*p != kEntryTag) return nullptr;
  p = ReadLength(p + 1, end, &size);
  if (p == nullptr) return nullptr;
  end = p + size;
  if (p == end || *p != kKeyTag) return nullptr;
  p = ReadLength(p + 1, end, &key->size);
  if (p == nullptr) return nullptr;
  key->data = p;
  p += key->size;
  if (p == end || *p != kValueTag) return nullptr;
  p = ReadLength(p + 1, end, &value->size);
  if (p == nullptr || p + value->size != end) return nullptr;
  value->data = p;
  return end;
}

}  // namespace

ExampleParser::ExampleParser(SchemaPtr schema) : schema_(std::move(schema)), keys_(*schema_), writer_(*schema_) {
  seen_.resize(schema_->size() / 64 + 1);
  fixed_.resize(seen_.size());
  for (size_t f = 0; f < schema_->size(); ++f) {
    if (schema_->features()[f].layout == Layout::kFixed) fixed_[f >> 6] |= uint64_t{1} << (f & 63);
  }
}

Status ExampleParser::ParseRows(const Bytes* records, size_t first, size_t last, const ColumnTarget* targets,
                                bool single, size_t* bad_row) {
  for (size_t f = 0; f < schema_->size(); ++f) keys_.slot_of_feature(f).out = targets[f].fixed;
  writer_.StartRange(targets, first, last - first);
  for (size_t row = first; row < last; ++row) {
    PrefetchScattered(records, row, last);
    if (!ParseFast(records[row], row)) [[unlikely]] {
      Status status = ParseSlow(records[row], row, single);
      if (!status.ok()) {
        *bad_row = row;
        return status;
      }
    }
    writer_.EndRow(row);
  }
  return {};
}

bool ExampleParser::ParseFast(const Bytes& record, size_t row) {
  std::fill(seen_.begin(), seen_.end(), 0);
  if (record.size == 0) return FillMissing(row);
  const uint8_t* p = record.data;
  const uint8_t* const end = p + record.size;
  size_t size;
  if (*p != kFeaturesTag) return false;
  p = ReadLength(p + 1, end, &size);
  if (p == nullptr || p + size != end) return false;

  uint32_t last = KeyTable::kStart;
  while (p < end) {
    const KeyTable::Slot* const slots = keys_.slots();
    const uint32_t guess = slots[last].next[way_];
    const KeyTable::Slot& slot = slots[guess];
    const uint8_t* const behind = TakeWhole(p, end, slot, row);
    if (behind) [[likely]] {
      if (slot.feature >= 0 && !Mark(slot.feature)) return false;
      last = guess;
      p = behind;
    } else {
      p = TakeUnguessed(p, end, row, &last);
      if (p == nullptr) return false;
    }
  }
  return FillMissing(row);
}

// Takes an entry whose key, or whose form, is not the one that was guessed; null where ParseFast has to give up. *last
// becomes the entry's slot.
const uint8_t* ExampleParser::TakeUnguessed(const uint8_t* p, const uint8_t* end, size_t row, uint32_t* last) {
  KeyTable::Slot* slots = keys_.slots();
  const uint32_t guess = slots[*last].next[way_];
  uint32_t found = slots[*last].next[way_ ^ 1];
  const uint8_t* behind = TakeWhole(p, end, slots[found], row);
  Bytes key{}, value{};
  if (!behind) {
    p = TakeEntry(p, end, &key, &value);
    if (p == nullptr) return nullptr;
    if (guess > KeyTable::kUnknown && KeyTable::Matches(slots[guess], key.data, key.size)) {
      found = guess;
    } else if (found <= KeyTable::kUnknown || !KeyTable::Matches(slots[found], key.data, key.size)) {
      found = keys_.Find(key.data, key.size);
      slots = keys_.slots();
      keys_.Learn(*last, found, &way_);
    }
  }
  if (found != slots[*last].next[way_]) {
    if (slots[*last].next[way_] <= KeyTable::kUnknown) {
      slots[*last].next[way_] = found;  // both orders go on alike here
    } else {
      way_ ^= 1;
    }
  }
  *last = found;
  const int32_t feature = slots[found].feature;
  if (behind) return feature < 0 || Mark(feature) ? behind : nullptr;
  return feature < 0 || PutValue(feature, row, value.data, value.data + value.size) ? p : nullptr;
}

bool ExampleParser::PutValue(int32_t feature, size_t row, const uint8_t* p, const uint8_t* end) {
  FeatureValue value;
  if (!FindValue(p, end, &value)) return false;
  const auto f = static_cast<size_t>(feature);
  if (value.kind == Kind::kNone && schema_->features()[f].layout != Layout::kList) return true;
  return Mark(feature) && writer_.Put(f, row, value, nullptr);
}

// Defaults into what the record did not have; false if a feature without one is missing.
bool ExampleParser::FillMissing(size_t row) {
  for (size_t word = 0; word < seen_.size(); ++word) {
    for (uint64_t missing = fixed_[word] & ~seen_[word]; missing != 0; missing &= missing - 1) {
      const size_t f = word * 64 + static_cast<size_t>(std::countr_zero(missing));
      if (!schema_->features()[f].has_default()) return false;
      writer_.PutDefault(f, row);
    }
  }
  return true;
}

bool ExampleParser::CollectFeatures(const uint8_t* p, const uint8_t* end) {
  while (p < end) {
    uint32_t tag;
    size_t size;
    p = ReadTag(p, end, &tag);
    if (p == nullptr) return false;
    if (tag != kEntryTag) {
      p = SkipField(p, end, tag);
      if (p == nullptr) return false;
      continue;
    }
    p = ReadLength(p, end, &size);
    if (p == nullptr) return false;
    const uint8_t* const entry_end = p + size;
    Entry entry{{p, 0}, {p, 0}};
    int fields = 0;
    while (p < entry_end) {
      p = ReadTag(p, entry_end, &tag);
      if (p == nullptr) return false;
      if (tag == kKeyTag || tag == kValueTag) {
        p = ReadLength(p, entry_end, &size);
        if (p == nullptr) return false;
        (tag == kKeyTag ? entry.key : entry.value) = {p, size};
        p += size;
        ++fields;
      } else {
        p = SkipField(p, entry_end, tag);
        if (p == nullptr) return false;
      }
    }
    if (fields < 2) return false;  // TensorFlow takes no entry without a key or a value
    entries_.push_back(entry);
  }
  return true;
}

bool ExampleParser::CollectEntries(const Bytes& record) {
  entries_.clear();
  const uint8_t* p = record.data;
  const uint8_t* const end = p + record.size;
  while (p < end) {
    uint32_t tag;
    p = ReadTag(p, end, &tag);
    if (p == nullptr) return false;
    if (tag == kFeaturesTag) {
      size_t size;
      p = ReadLength(p, end, &size);
      if (p == nullptr || !CollectFeatures(p, p + size)) return false;
      p += size;
    } else {
      if ((tag & 7) == kWireStartGroup) return false;  // as TensorFlow
      p = SkipField(p, end, tag);
      if (p == nullptr) return false;
    }
  }
  return true;
}

Status ExampleParser::ParseSlow(const Bytes& record, size_t row, bool single) {
  std::fill(seen_.begin(), seen_.end(), 0);
  writer_.RestartRow(row);
  if (!CollectEntries(record)) {
    return Status::InvalidArgument("could not parse the record as an Example: malformed protobuf (" +
                                   std::to_string(record.size) + " bytes)");
  }
  // From the last: it wins, and those before it are not looked at.
  for (size_t i = entries_.size(); i-- > 0;) {
    const Entry& entry = entries_[i];
    const uint32_t found = keys_.Find(entry.key.data, entry.key.size);
    const int32_t feature = keys_.slots()[found].feature;
    if (feature < 0 || Seen(feature)) continue;
    const FeatureSpec& spec = schema_->features()[static_cast<size_t>(feature)];
    FeatureValue value;
    if (!FindValue(entry.value.data, entry.value.data + entry.value.size, &value)) return MalformedFeature(spec);
    if (value.kind == Kind::kNone && (single || spec.layout != Layout::kList)) continue;
    Mark(feature);
    Status why;
    if (!writer_.Put(static_cast<size_t>(feature), row, value, &why)) return why;
  }
  if (FillMissing(row)) return {};
  for (size_t f = 0; f < schema_->size(); ++f) {
    const FeatureSpec& spec = schema_->features()[f];
    if (spec.layout == Layout::kFixed && !Seen(static_cast<int32_t>(f)) && !spec.has_default()) {
      return MissingFeature(spec);
    }
  }
  return {};
}

}  // namespace tfr
