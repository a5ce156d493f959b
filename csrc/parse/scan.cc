// Collects what the keys of records hold; see scan.h. If a key is given twice in a record, the last one counts.

#include "parse/scan.h"

#include <algorithm>
#include <cstring>

#include "parse/feature.h"
#include "parse/looks_like.h"
#include "parse/ranges.h"
#include "wire/example.h"
#include "wire/wire.h"

namespace tfr {
namespace {

// The caller adds what the record looks like.
constexpr char kMalformed[] = "could not parse the record as an Example: malformed protobuf";

Status Malformed() { return Status::InvalidArgument(kMalformed); }

}  // namespace

Status FeatureScanner::Add(const RecordBatch& batch) {
  for (size_t row = 0; row < batch.size(); ++row) {
    Status status = AddRecord(batch.records[row]);
    if (!status.ok()) {
      if (status.detail().message == kMalformed)
        status = Status::InvalidArgument(std::string(kMalformed) + "; it looks like " + LooksLike(batch.records[row]));
      return Locate(std::move(status), batch, row);
    }
    ++records_;
  }
  return {};
}

bool FeatureScanner::Collect(const uint8_t* p, const uint8_t* end, std::vector<MapEntry>* found) {
  MapEntry entry;
  while ((p = NextEntry(p, end, EntryOrder::kAny, &entry)) != nullptr && entry.key.data != nullptr) {
    found->push_back(entry);
  }
  return p != nullptr;
}

KeySummary& FeatureScanner::Of(Map* map, const Bytes& key) {
  if (map->guess < map->keys.size()) {
    KeySummary& guessed = map->keys[map->guess];
    if (guessed.key.size() == key.size && std::memcmp(guessed.key.data(), key.data, key.size) == 0) {
      ++map->guess;
      return guessed;
    }
  }
  std::string name(reinterpret_cast<const char*>(key.data), key.size);
  const auto [place, fresh] = map->index.try_emplace(name, map->keys.size());
  if (fresh) {
    map->keys.emplace_back();
    map->keys.back().key = std::move(name);
  }
  map->guess = place->second + 1;
  return map->keys[place->second];
}

Status FeatureScanner::AddFeature(KeySummary* summary, const Bytes& value, bool* has_kind) {
  FeatureValue found;
  if (!FindValue(value.data, value.data + value.size, &found)) return Malformed();
  *has_kind = found.kind != Kind::kNone;
  if (!*has_kind) return {};
  if (summary->kind == Kind::kNone) summary->kind = found.kind;
  if (summary->kind != found.kind) {
    return Status::InvalidArgument("feature '" + summary->key + "': conflicting kinds: a list of type " +
                                   KindName(found.kind) + " here, of type " + KindName(summary->kind) +
                                   " in an earlier record")
        .WithFeature(summary->key);
  }
  ValueTarget target{nullptr, 0, 0};  // counts only
  int64_t misfit;
  const ElementType type = found.kind == Kind::kBytes   ? ElementType::kBytes
                           : found.kind == Kind::kFloat ? ElementType::kFloat32
                                                        : ElementType::kInt64;
  if (DecodeValues(found, type, &target, &misfit) != Decoded::kOk) return Malformed();
  summary->fewest = std::min(summary->fewest, target.count);
  summary->most = std::max(summary->most, target.count);
  return {};
}

Status FeatureScanner::AddList(KeySummary* summary, const Bytes& value, bool* has_values) {
  const uint8_t* p = value.data;
  const uint8_t* const end = p + value.size;
  while (p < end) {
    uint32_t tag;
    p = ReadTag(p, end, &tag);
    if (p == nullptr) return Malformed();
    if (tag != kStepTag) {
      p = SkipField(p, end, tag);
      if (p == nullptr) return Malformed();
      continue;
    }
    size_t size;
    bool has_kind;
    p = ReadLength(p, end, &size);
    if (p == nullptr) return Malformed();
    TFR_RETURN_IF_ERROR(AddFeature(summary, {p, size}, &has_kind));
    if (!has_kind) summary->fewest = 0;
    *has_values |= has_kind;
    p += size;
  }
  ++summary->records;
  return {};
}

Status FeatureScanner::AddRecord(const Bytes& record) {
  found_features_.clear();
  found_lists_.clear();
  bool record_has_lists = false;
  const uint8_t* p = record.data;
  const uint8_t* const end = p + record.size;
  while (p < end) {
    uint32_t tag;
    size_t size;
    p = ReadTag(p, end, &tag);
    if (p == nullptr) return Malformed();
    if (tag != kFeaturesTag && tag != kFeatureListsTag) {
      p = SkipField(p, end, tag);
      if (p == nullptr) return Malformed();
      continue;
    }
    p = ReadLength(p, end, &size);
    if (p == nullptr || !Collect(p, p + size, tag == kFeaturesTag ? &found_features_ : &found_lists_)) {
      return Malformed();
    }
    record_has_lists |= tag == kFeatureListsTag;
    p += size;
  }
  // What another kind of record gives by accident has no values. Without any, the form decides.
  bool has_values = false;
  features_.guess = 0;
  lists_.guess = 0;
  for (size_t i = 0; i < found_features_.size(); ++i) {
    KeySummary& summary = Of(&features_, found_features_[i].key);
    bool has_kind;
    TFR_RETURN_IF_ERROR(AddFeature(&summary, found_features_[i].value, &has_kind));
    summary.records += has_kind;
    summary.unset += !has_kind;
    has_values |= has_kind;
  }
  for (const MapEntry& list : found_lists_) {
    TFR_RETURN_IF_ERROR(AddList(&Of(&lists_, list.key), list.value, &has_values));
  }
  if (!has_values && !HasForm(MessageType::kSequenceExample, record)) {
    return Status::InvalidArgument("the record is no Example: it has none of an Example's features; it looks like " +
                                   LooksLike(record));
  }
  has_lists_ |= record_has_lists;
  return {};
}

}  // namespace tfr
