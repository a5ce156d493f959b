// Looks at records to learn what features they hold, so that users need not write them down.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/records.h"
#include "base/seeded_hash.h"
#include "base/status.h"
#include "parse/map_entry.h"
#include "parse/schema.h"

namespace tfr {

// Counts for one key of one of the two maps.
struct KeySummary {
  std::string key;
  Kind kind = Kind::kNone;   // kNone as long as no Feature under the key had one
  size_t records = 0;        // that have the key with a kind; of a feature list: that have the key
  size_t fewest = SIZE_MAX;  // values per record; of a feature list: values per step
  size_t most = 0;
  size_t unset = 0;  // records that have the key without a kind; of a feature list: steps without one
};

class FeatureSurvey {
 public:
  // Adds the records of a batch. InvalidArgument if one is malformed or is something else than an Example or a
  // SequenceExample (the error guesses what it is), or a key has another kind than before. An empty record is an
  // Example.
  Status Add(const RecordBatch& batch);

  size_t records() const { return records_; }
  bool has_lists() const { return has_lists_; }  // some record has feature lists: it is a SequenceExample

  // In the order of first appearance: those of Examples and contexts, and the feature lists.
  const std::vector<KeySummary>& features() const { return features_.keys; }
  const std::vector<KeySummary>& lists() const { return lists_.keys; }

 private:
  struct Found {
    size_t key;  // its place in `Map::keys`
    Bytes value;
  };
  struct InRecord {
    size_t record = 0;  // the last one, by `walked_`, that has the key
    size_t place = 0;   // of its entry in `Map::found`
  };
  struct Map {
    std::vector<KeySummary> keys;
    std::vector<InRecord> in_record;  // as long as `keys`
    std::unordered_map<std::string, size_t, SeededHash> index;
    std::vector<MapEntry> entries;  // of one record, all; kept for their memory, as is
    std::vector<Found> found;       // one per key of the record
  };

  Status AddRecord(const Bytes& record);
  static size_t PlaceOf(Map* map, const Bytes& key, size_t guess);
  void KeepLast(Map* map) const;
  Status AddFeature(KeySummary* summary, const Bytes& value, bool* has_kind);
  Status AddList(KeySummary* summary, const Bytes& value, bool* has_values);

  Map features_;
  Map lists_;
  size_t records_ = 0;
  size_t walked_ = 0;  // records that were begun
  bool has_lists_ = false;
};

}  // namespace tfr
