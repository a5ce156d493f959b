// Collects what the keys of records hold; see survey.h. If a key is given twice in a record, the last one counts.

#include "parse/survey.h"

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

Status FeatureSurvey::Add(const RecordBatch& batch) {
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

// `guess` is where the key is expected.
size_t FeatureSurvey::PlaceOf(Map* map, const Bytes& key, size_t guess) {
  if (guess < map->keys.size()) {
    const std::string& guessed = map->keys[guess].key;
    if (guessed.size() == key.size && std::memcmp(guessed.data(), key.data, key.size) == 0) return guess;
  }
  std::string name(reinterpret_cast<const char*>(key.data), key.size);
  const auto [known, fresh] = map->index.try_emplace(name, map->keys.size());
  if (fresh) {
    map->keys.emplace_back();
    map->keys.back().key = std::move(name);
    map->in_record.emplace_back();
  }
  return known->second;
}

// Keeps the last entry of each key, at the position of the first.
void FeatureSurvey::KeepLast(Map* map) const {
  map->found.clear();
  size_t key = SIZE_MAX;
  for (const MapEntry& entry : map->entries) {
    key = PlaceOf(map, entry.key, key + 1);
    InRecord& here = map->in_record[key];
    if (here.record == walked_) {
      map->found[here.place].value = entry.value;
      continue;
    }
    here = {walked_, map->found.size()};
    map->found.push_back({key, entry.value});
  }
}

Status FeatureSurvey::AddFeature(KeySummary* summary, const Bytes& value, bool* has_kind) {
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

Status FeatureSurvey::AddList(KeySummary* summary, const Bytes& value, bool* has_values) {
  Status status;
  const bool complete = ForEachField(value, {kStepTag}, [&](uint32_t, const Bytes& step) {
    bool has_kind;
    status = AddFeature(summary, step, &has_kind);
    if (!status.ok()) return false;
    if (!has_kind) {
      summary->fewest = 0;
      ++summary->unset;
    }
    *has_values |= has_kind;
    return true;
  });
  if (!complete) return status.ok() ? Malformed() : std::move(status);
  ++summary->records;
  return {};
}

Status FeatureSurvey::AddRecord(const Bytes& record) {
  ++walked_;
  features_.entries.clear();
  lists_.entries.clear();
  bool record_has_lists = false;
  const auto collect = [&](uint32_t tag, const Bytes& map) {
    record_has_lists |= tag == kFeatureListsTag;
    return AppendEntries(map, tag == kFeaturesTag ? &features_.entries : &lists_.entries);
  };
  if (!ForEachField(record, {kFeaturesTag, kFeatureListsTag}, collect)) return Malformed();
  KeepLast(&features_);
  KeepLast(&lists_);
  // Another kind of record that parses by accident has no values. Without values, the form decides.
  bool has_values = false;
  for (const Found& feature : features_.found) {
    KeySummary& summary = features_.keys[feature.key];
    bool has_kind;
    TFR_RETURN_IF_ERROR(AddFeature(&summary, feature.value, &has_kind));
    summary.records += has_kind;
    summary.unset += !has_kind;
    has_values |= has_kind;
  }
  for (const Found& list : lists_.found) {
    TFR_RETURN_IF_ERROR(AddList(&lists_.keys[list.key], list.value, &has_values));
  }
  if (!has_values && !HasForm(MessageType::kSequenceExample, record)) {
    return Status::InvalidArgument("the record is not an Example: it has no features; it looks like " +
                                   LooksLike(record));
  }
  has_lists_ |= record_has_lists;
  return {};
}

}  // namespace tfr
