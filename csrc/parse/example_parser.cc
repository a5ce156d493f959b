// The Example parser; see example_parser.h, and wire/example.h for the grammar.

#include "parse/example_parser.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "parse/faults.h"
#include "wire/example.h"
#include "wire/wire.h"

namespace tfr {
namespace {

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
  for (std::vector<uint64_t>& features : script_features_) features.resize(seen_.size());
  for (size_t f = 0; f < schema_->size(); ++f) {
    if (schema_->features()[f].layout == Layout::kFixed) fixed_[f >> 6] |= uint64_t{1} << (f & 63);
  }
}

Status ExampleParser::ParseRows(const Bytes* records, size_t first, size_t last, const ColumnTarget* targets,
                                ExampleRules rules, size_t* bad_row) {
  for (size_t f = 0; f < schema_->size(); ++f) keys_.SetColumn(f, targets[f].fixed, targets[f].row_bytes);
  for (KeyScript& script : scripts_) script.SetColumns(keys_);
  writer_.StartRange(targets, first, last - first);
  for (size_t row = first; row < last; ++row) {
    PrefetchScattered(records, row, last);
    if (!ParseFast(records[row], row)) [[unlikely]] {
      Status status = ParseSlow(records[row], row, rules);
      if (!status.ok()) {
        *bad_row = row;
        return status;
      }
    }
    writer_.EndRow(row);
  }
  return {};
}

bool ExampleParser::CountLists(const Bytes* records, size_t first, size_t last, std::vector<size_t>* counts) {
  counts->assign(schema_->size(), 0);
  for (size_t row = first; row < last; ++row) {
    const uint8_t* p = records[row].data;
    const uint8_t* const end = p + records[row].size;
    if (p == end) continue;
    size_t size;
    if (*p != kFeaturesTag) return false;
    p = ReadLength(p + 1, end, &size);
    if (p == nullptr || p + size != end) return false;
    uint32_t last_key = KeyTable::kStart;
    while (p < end) {
      Bytes key, value;
      p = TakeEntry(p, end, &key, &value);
      if (p == nullptr) return false;
      uint32_t found = keys_.slot(last_key).next;
      if (found == KeyTable::kUnknown || !KeyTable::Matches(keys_.slot(found), key.data, key.size)) {
        found = keys_.Find(key.data, key.size);
        keys_.slots()[last_key].next = found;
      }
      last_key = found;
      const int32_t feature = keys_.slot(found).feature;
      if (feature < 0 || schema_->features()[static_cast<size_t>(feature)].layout == Layout::kFixed) continue;
      FeatureValue list;
      size_t count;
      if (!FindValue(value.data, value.data + value.size, &list) || !CountValues(list, &count)) return false;
      (*counts)[static_cast<size_t>(feature)] += count;
    }
  }
  return true;
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

  const uint8_t* const entries = p;
  if (scripts_[0].has_noted() || scripts_[1].has_noted()) [[unlikely]]
    InsertSteps();
  size_t at = 0;  // the script's step that is expected next
  bool in_order = true;
  while (p < end) {
    const size_t from = at;
    const bool whole = from == 0 && p == entries;
    p = script().Take(record.data, p, end, end, row, keys_, &at);
    if (whole && at == script().size()) {
      std::copy(script_features_[way_].begin(), script_features_[way_].end(), seen_.begin());
    } else if (!MarkSteps(from, at)) {
      return false;
    }
    if (p < end && !TakeUnscripted(&p, end, row, &at, &in_order)) return false;
  }
  if (!in_order) [[unlikely]] {
    NoteDisorder();
  } else if (disorder_ > 0) {
    --disorder_;
  }
  return FillMissing(row);
}

// Either takes the entry at *p, which is not what the script expects next, or moves *at to where the script has it.
// False if ParseFast must give up.
bool ExampleParser::TakeUnscripted(const uint8_t** p, const uint8_t* end, size_t row, size_t* at, bool* in_order) {
  Bytes key, value;
  const uint8_t* const after = TakeEntry(*p, end, &key, &value);
  if (after == nullptr) return false;
  const auto next_is = [&](const KeyScript& script) {
    return *at < script.size() && KeyTable::Matches(keys_.slot(script.step(*at).slot), key.data, key.size);
  };
  uint32_t slot;
  if (next_is(script())) {
    slot = script().step(*at).slot;
  } else if (*at <= same_steps_ && next_is(scripts_[way_ ^ 1])) {
    way_ ^= 1;  // so far the two are the same
    return true;
  } else {
    slot = keys_.Find(key.data, key.size);
    // From here on, a skipped feature with a value is an error.
    if (keys_.slot(slot).feature < 0 && !schema_->only_these().empty()) return false;
    if (slot != KeyTable::kUnknown) {
      const uint32_t place = script().Place(slot);
      if (place == KeyScript::kNowhere) {
        scripts_[way_].Note(*at, slot);
      } else if (place != KeyScript::kNoted) {
        if (place < *at) *in_order = false;
        *at = place;
        if (script().step(place).shape != KeyTable::kGeneral) return true;
      }
    }
  }
  const int32_t feature = keys_.slot(slot).feature;
  if (feature >= 0 && !PutValue(feature, row, value.data, value.data + value.size)) return false;
  *p = after;
  if (*at < script().size() && script().step(*at).slot == slot) ++*at;
  return true;
}

// Marks the features of steps [from, to) as seen; false if one was seen already in this record.
bool ExampleParser::MarkSteps(size_t from, size_t to) {
  for (; from < to; ++from) {
    const int32_t feature = keys_.slot(script().step(from).slot).feature;
    if (feature >= 0 && !Mark(feature)) return false;
  }
  return true;
}

// The record's keys came in another order than the script's. If that keeps happening, the other script is cleared and
// learns the new order.
void ExampleParser::NoteDisorder() {
  if (++disorder_ < kMuchDisorder) return;
  disorder_ = 0;
  way_ ^= 1;
  scripts_[way_].Clear();
  std::fill(script_features_[way_].begin(), script_features_[way_].end(), 0);
  same_steps_ = 0;
}

// Adds the steps of the keys that came where a script had none.
void ExampleParser::InsertSteps() {
  for (size_t way = 0; way < 2; ++way) {
    scripts_[way].Insert(keys_);
    for (size_t i = 0; i < scripts_[way].size(); ++i) {
      const int32_t feature = keys_.slot(scripts_[way].step(i).slot).feature;
      if (feature >= 0) script_features_[way][static_cast<size_t>(feature) >> 6] |= uint64_t{1} << (feature & 63);
    }
  }
  const size_t both = std::min(scripts_[0].size(), scripts_[1].size());
  same_steps_ = 0;
  while (same_steps_ < both && scripts_[0].step(same_steps_).slot == scripts_[1].step(same_steps_).slot) ++same_steps_;
}

bool ExampleParser::PutValue(int32_t feature, size_t row, const uint8_t* p, const uint8_t* end) {
  FeatureValue value;
  if (!FindValue(p, end, &value)) return false;
  const auto f = static_cast<size_t>(feature);
  if (value.kind == Kind::kNone && schema_->features()[f].layout != Layout::kList) return true;
  return Mark(feature) && writer_.Put(f, row, value, nullptr);
}

// Fills in the defaults of features that the record did not have; false if one of those has no default.
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
      if (p == nullptr || !AppendEntries({p, size}, &entries_)) return false;
      p += size;
    } else {
      if (WireTypeOf(tag) == kWireStartGroup) return false;  // as TensorFlow
      p = SkipField(p, end, tag);
      if (p == nullptr) return false;
    }
  }
  return true;
}

Status ExampleParser::ParseSlow(const Bytes& record, size_t row, ExampleRules rules) {
  std::fill(seen_.begin(), seen_.end(), 0);
  writer_.RestartRow(row);
  if (!CollectEntries(record)) {
    return MalformedExample(record);
  }
  // From the last: of entries with the same key the last wins, and the others are not looked at.
  for (size_t i = entries_.size(); i-- > 0;) {
    const MapEntry& entry = entries_[i];
    const uint32_t found = keys_.Find(entry.key.data, entry.key.size);
    const int32_t feature = keys_.slots()[found].feature;
    FeatureValue value;
    if (feature < 0 && !schema_->only_these().empty() &&
        FindValue(entry.value.data, entry.value.data + entry.value.size, &value) && value.kind != Kind::kNone) {
      return OtherKey(*schema_, entry.key);
    }
    if (feature < 0 || Seen(feature)) continue;
    const FeatureSpec& spec = schema_->features()[static_cast<size_t>(feature)];
    if (!FindValue(entry.value.data, entry.value.data + entry.value.size, &value)) return MalformedFeature(spec);
    if (value.kind == Kind::kNone && (rules == ExampleRules::kSingle || spec.layout != Layout::kList)) continue;
    Mark(feature);
    Status why;
    if (!writer_.Put(static_cast<size_t>(feature), row, value, &why)) return why;
  }
  if (FillMissing(row)) return {};
  for (size_t f = 0; f < schema_->size(); ++f) {
    const FeatureSpec& spec = schema_->features()[f];
    if (spec.layout == Layout::kFixed && !Seen(static_cast<int32_t>(f)) && !spec.has_default()) {
      return MissingFeature(spec, entries_);
    }
  }
  return {};
}

}  // namespace tfr
