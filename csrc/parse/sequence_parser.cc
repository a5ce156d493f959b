// The SequenceExample parser; see sequence_parser.h, and wire/example.h for the grammar.

#include "parse/sequence_parser.h"

#include <algorithm>

#include "parse/faults.h"
#include "parse/map_entry.h"
#include "wire/example.h"
#include "wire/wire.h"

namespace tfr {
namespace {

// Marks the value of a context feature that is in its column already. No value can have this address.
constexpr uint8_t kElsewhere = 0;
constexpr Bytes kInPlace{&kElsewhere, 0};

// A length of one or two bytes, without a branch on which of the two, since lists are longer than 127 bytes as often as
// not. If it takes more, *good is cleared. Two bytes are readable at p.
inline const uint8_t* ReadShortLength(const uint8_t* p, size_t* size, bool* good) {
  const uint32_t word = p[0] | static_cast<uint32_t>(p[1]) << 8;
  const uint32_t two = word >> 7 & 1;
  *good &= (word & (two << 15)) == 0;
  *size = (word & 0x7f) | (word >> 1 & 0x3f80 & (0 - two));
  return p + 1 + two;
}

// Takes the entry of a map at `p` if it is the slot's key and then a value of less than 16 kB, as every writer makes
// it; null if it is anything else.
inline const uint8_t* TakeEntryOf(const KeyTable::Slot& slot, const uint8_t* p, const uint8_t* end,
                                  const uint8_t* readable_end, Bytes* value) {
  constexpr size_t kMostHeaders = 8;  // three tags, a length of one byte, two lengths of two
  if (slot.size > kMaxShortLength || static_cast<size_t>(readable_end - p) < kMostHeaders + 8 + slot.size) {
    return nullptr;
  }
  size_t size, value_size;
  bool good = *p == kEntryTag;
  const uint8_t* const key = ReadShortLength(p + 1, &size, &good) + 2;
  good &= key[-2] == kKeyTag && key[-1] == slot.size;
  const uint8_t* const key_end = key + slot.size;
  good &= *key_end == kValueTag;
  const uint8_t* const data = ReadShortLength(key_end + 1, &value_size, &good);
  const uint8_t* const entry_end = key - 2 + size;
  if (!good || data + value_size != entry_end || entry_end > end || !KeyTable::SameBytes(slot, key)) return nullptr;
  *value = {data, value_size};
  return entry_end;
}

// True if a Feature, or a step of a FeatureList, has a kind.
bool HasKind(const Bytes& feature) {
  FeatureValue value;
  return FindValue(feature.data, feature.data + feature.size, &value) && value.kind != Kind::kNone;
}

bool AnyStepHasKind(const Bytes& list) {
  bool has_kind = false;
  ForEachField(list, {kStepTag}, [&](uint32_t, const Bytes& step) {
    has_kind = HasKind(step);
    return !has_kind;
  });
  return has_kind;
}

}  // namespace

SequenceParser::Map::Map(SchemaPtr wanted) : schema(std::move(wanted)), keys(*schema), writer(*schema) {
  found.resize(schema->size());
}

SequenceParser::SequenceParser(SchemaPtr context, SchemaPtr lists)
    : context_(std::move(context)), lists_(std::move(lists)) {}

Status SequenceParser::ParseRows(const Bytes* records, size_t first, size_t last, const ColumnTarget* context_targets,
                                 const ColumnTarget* list_targets, size_t* bad_row) {
  for (size_t f = 0; f < context_.schema->size(); ++f) {
    context_.keys.SetColumn(f, context_targets[f].fixed, context_targets[f].row_bytes);
  }
  context_.script.SetColumns(context_.keys);
  context_.writer.StartRange(context_targets, first, last - first);
  lists_.writer.StartRange(list_targets, first, last - first);
  for (size_t row = first; row < last; ++row) {
    PrefetchScattered(records, row, last);
    Status status = ParseRow(records[row], row);
    if (!status.ok()) [[unlikely]] {
      *bad_row = row;
      return status;
    }
    context_.writer.EndRow(row);
    lists_.writer.EndRow(row);
  }
  return {};
}

bool SequenceParser::WalkContext(const Bytes& record, const uint8_t* p, const uint8_t* end, size_t row) {
  const uint8_t* const readable_end = record.data + record.size;
  KeyScript& script = context_.script;
  if (script.has_noted()) [[unlikely]]
    script.Insert(context_.keys);
  size_t at = 0;  // the script's step that is expected next
  while (p < end) {
    const size_t from = at;
    p = script.Take(record.data, p, end, readable_end, row, context_.keys, &at);
    for (size_t step = from; step < at; ++step) {
      const int32_t feature = context_.keys.slot(script.step(step).slot).feature;
      if (feature >= 0) context_.found[static_cast<size_t>(feature)] = kInPlace;
    }
    MapEntry entry;
    p = NextEntry(p, end, EntryOrder::kKeyFirst, &entry);
    if (p == nullptr) return false;
    const Bytes& key = entry.key;
    if (key.data == nullptr) break;
    const bool expected =
        at < script.size() && KeyTable::Matches(context_.keys.slot(script.step(at).slot), key.data, key.size);
    const uint32_t slot = expected ? script.step(at).slot : context_.keys.Find(key.data, key.size);
    if (context_.is_other(slot)) {
      if (!HasKind(entry.value)) continue;
      other_ = OtherKey(*context_.schema, key);
      return false;
    }
    if (slot == KeyTable::kUnknown) continue;
    const uint32_t place = script.Place(slot);
    if (place == KeyScript::kNowhere) script.Note(at, slot);
    if (place < script.size()) at = place + 1;
    const int32_t feature = context_.keys.slot(slot).feature;
    if (feature >= 0) context_.found[static_cast<size_t>(feature)] = entry.value;
  }
  return true;
}

bool SequenceParser::WalkLists(const uint8_t* readable_end, const uint8_t* p, const uint8_t* end) {
  const KeyTable::Slot* slots = lists_.keys.slots();
  while (p < end) {
    uint32_t found = slots[lists_.last_key].next;
    Bytes value;
    const uint8_t* const after = TakeEntryOf(slots[found], p, end, readable_end, &value);
    if (after != nullptr) [[likely]] {
      p = after;
    } else {
      MapEntry entry;
      p = NextEntry(p, end, EntryOrder::kKeyFirst, &entry);
      if (p == nullptr) return false;
      if (entry.key.data == nullptr) break;
      value = entry.value;
      found = lists_.keys.Find(entry.key.data, entry.key.size);
      if (lists_.is_other(found)) {
        slots = lists_.keys.slots();
        if (!AnyStepHasKind(value)) continue;
        other_ = OtherKey(*lists_.schema, entry.key);
        return false;
      }
      lists_.keys.slots()[lists_.last_key].next = found;
      slots = lists_.keys.slots();
    }
    lists_.last_key = found;
    if (slots[found].feature >= 0) lists_.found[static_cast<size_t>(slots[found].feature)] = value;
  }
  return true;
}

bool SequenceParser::Walk(const Bytes& record, size_t row) {
  for (Map* map : {&context_, &lists_}) {
    std::fill(map->found.begin(), map->found.end(), Bytes{nullptr, 0});
    map->last_key = KeyTable::kStart;
  }
  const uint8_t* p = record.data;
  const uint8_t* const end = p + record.size;
  while (p < end) {
    uint32_t tag;
    size_t size;
    p = ReadTag(p, end, &tag);
    if (p == nullptr) return false;
    if (tag == kFeaturesTag || tag == kFeatureListsTag) {
      p = ReadLength(p, end, &size);
      if (p == nullptr) return false;
      if (!(tag == kFeaturesTag ? WalkContext(record, p, p + size, row) : WalkLists(end, p, p + size))) return false;
      p += size;
    } else {
      if (WireTypeOf(tag) == kWireStartGroup) return false;  // as TensorFlow
      p = SkipField(p, end, tag);
      if (p == nullptr) return false;
    }
  }
  return true;
}

Status SequenceParser::ParseRow(const Bytes& record, size_t row) {
  other_ = {};
  if (!Walk(record, row)) {
    if (!other_.ok()) return std::move(other_);
    return MalformedSequence(record);
  }
  TFR_RETURN_IF_ERROR(PutContext(row));
  for (size_t f = 0; f < lists_.schema->size(); ++f) TFR_RETURN_IF_ERROR(PutList(f, row));
  return {};
}

Status SequenceParser::PutContext(size_t row) {
  for (size_t f = 0; f < context_.schema->size(); ++f) {
    const FeatureSpec& spec = context_.schema->features()[f];
    const Bytes& found = context_.found[f];
    if (found.data == kInPlace.data) continue;
    if (found.data == nullptr) {
      if (spec.layout == Layout::kFixed) {
        if (!spec.has_default()) return MissingFeature(spec);
        context_.writer.PutDefault(f, row);
      }
      continue;
    }
    FeatureValue value;
    if (!FindValue(found.data, found.data + found.size, &value)) return InContext(MalformedFeature(spec));
    if (value.kind == Kind::kNone && spec.layout == Layout::kFixed) {
      if (spec.presence && spec.has_default()) {
        context_.writer.PutDefault(f, row);
        continue;
      }
      // A Feature without a kind has no values: too few, whatever the default, unless the shape has none either.
      value.kind = KindOf(spec.type);
    }
    Status why;
    if (!context_.writer.Put(f, row, value, &why)) return InContext(std::move(why));
  }
  return {};
}

Status SequenceParser::PutList(size_t f, size_t row) {
  const FeatureSpec& spec = lists_.schema->features()[f];
  const Bytes& found = lists_.found[f];
  RowWriter& writer = lists_.writer;
  writer.StartList(f, row);
  if (found.data != nullptr) {
    writer.MarkPresent(f, row);
    TFR_RETURN_IF_ERROR(PutSteps(f, row, found.data, found.data + found.size));
  } else if (spec.layout == Layout::kPadded && !spec.may_be_absent) {
    return MissingList(spec);
  }
  writer.EndList(f, row);
  return {};
}

Status SequenceParser::PutSteps(size_t f, size_t row, const uint8_t* p, const uint8_t* end) {
  const FeatureSpec& spec = lists_.schema->features()[f];
  RowWriter& writer = lists_.writer;
  p = writer.PutUsualSteps(f, row, p, end);
  while (p < end) {
    uint32_t tag;
    p = ReadTag(p, end, &tag);
    if (p == nullptr) return MalformedFeature(spec);
    if (tag != kStepTag) {
      p = SkipField(p, end, tag);
      if (p == nullptr) return MalformedFeature(spec);
      continue;
    }
    size_t size;
    p = ReadLength(p, end, &size);
    FeatureValue value;
    if (p == nullptr || !FindValue(p, p + size, &value)) return InStep(MalformedFeature(spec), writer.steps_put());
    p += size;
    if (!writer.PutStep(f, row, value, nullptr)) {
      // Again, for the reason: what was appended before the failure is not counted, so nothing is undone.
      Status why;
      if (!writer.PutStep(f, row, value, &why)) return InStep(std::move(why), writer.steps_put());
    }
  }
  return {};
}

Status CheckEmptyBatch(const Schema& context, size_t rows) {
  if (rows > 0) return {};
  for (const FeatureSpec& spec : context.features()) {
    if (spec.layout == Layout::kFixed && spec.elements > 0 && !spec.has_default()) return MissingFeature(spec);
  }
  return {};
}

}  // namespace tfr
