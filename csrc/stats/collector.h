// Looks at every record of a part of some files, on one thread, and keeps figures of them all. Parts are then merged,
// in the order of the files: the same parts yield the same figures on any number of threads.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/records.h"
#include "base/seeded_hash.h"
#include "base/status.h"
#include "parse/feature.h"
#include "parse/map_entry.h"
#include "stats/dense_rows.h"
#include "stats/feature.h"
#include "stats/repeats.h"
#include "stats/sample.h"

namespace tfr {

class Collector {
 public:
  // The most that a hostile file can make it remember.
  static constexpr size_t kMostFeatures = 10'000;
  static constexpr size_t kMostKeyBytes = 1024;  // of a key
  static constexpr size_t kMostKinds = 64;       // of records other than Examples
  // Features after the first ones have smaller sketches.
  static constexpr size_t kInFull = 1000;

  // Facts about the first byte range, known while the others are read.
  struct Hints {
    struct Known {
      FeatureFigures::Sketched sketched;
      double numbers = 0;  // per record
    };
    std::map<std::pair<bool, std::string>, Known> features;  // key: (is a feature list, name)
  };

  // The part begins with record `first_record` of file number `file`. `columns`: only these keys; none: all. `hints`:
  // null if this is the first part.
  Collector(uint32_t file, uint64_t first_record, std::vector<std::string> columns,
            std::shared_ptr<const Hints> hints = nullptr);
  std::shared_ptr<Hints> MakeHints() const;

  // The part's next records.
  void Add(const RecordBatch& batch);

  // Takes over what `other`, which comes after this one, has. It is of no use afterwards.
  void Merge(Collector& other);

  // Takes in what is kept back; before the figures are looked at.
  void Flush();

  // A kind of record other than Example, and the first such record.
  struct Other {
    uint64_t records = 0;
    RecordId first{};
  };

  uint64_t examples() const { return examples_; }
  uint64_t sequences() const { return sequences_; }  // of the examples: SequenceExamples
  uint64_t empty() const { return empty_; }          // of the examples: records without any bytes
  const std::map<std::string, Other>& others() const { return others_; }
  const std::vector<std::unique_ptr<FeatureFigures>>& features() const { return features_; }
  // Entries of maps whose keys were not looked at: there were too many keys before, or they are too long.
  uint64_t entries_left_out() const { return entries_left_out_; }
  const Numbers& sizes() { return sizes_.Flushed(); }  // of records, in bytes
  const Sample& sample() const { return sample_; }
  // Figures of this part, with all that were merged into it. Another thread may read the features' figures meanwhile.
  Repeats::Figures Repeated();

 private:
  struct Found {
    uint32_t feature;
    Bytes value;
    FeatureValue list;
    size_t count;
  };
  struct Map {
    std::unordered_map<std::string_view, uint32_t, SeededHash> index;  // views of the figures' keys
    // For each feature, from the second entry on, the one that came next the last time; entry 0: a record's first.
    std::vector<uint32_t> next = {UINT32_MAX};
    // For each feature, in which record it was found last, and where in found_.
    std::vector<std::pair<uint64_t, uint32_t>> found;
  };

  enum class Verdict : uint8_t { kExample, kMalformed, kOther };

  void AddRecord(const Bytes& record);
  Verdict Collect(const Bytes& record, bool* has_lists);
  bool CollectMap(const uint8_t* p, const uint8_t* end, bool lists);
  uint32_t FeatureOf(bool lists, const Bytes& key);
  uint32_t NewFeature(bool lists, const Bytes& key);
  bool Check(Found* found, bool* has_values);
  bool CheckList(const Found& found, bool* has_values);
  void AddFound(const Found& found);
  void AddOther(const Bytes& record, bool malformed);
  bool Wanted(const Bytes& key) const;

  void FlushHashes();
  void LookForDense();
  void FlushDense();

  uint32_t file_;
  uint64_t next_record_;
  uint64_t walked_ = 0;    // records that were walked through, to tell them apart
  bool left_out_ = false;  // an entry of the present record was
  uint64_t first_record_;
  std::vector<std::string> columns_;
  std::shared_ptr<const Hints> hints_;
  uint64_t examples_ = 0, sequences_ = 0, empty_ = 0;
  uint64_t entries_left_out_ = 0;
  std::map<std::string, Other> others_;
  std::vector<std::unique_ptr<FeatureFigures>> features_;
  Map maps_[2];
  std::vector<Found> found_;  // of the present record
  Lengths sizes_;
  Sample sample_;
  Repeats repeats_;
  std::vector<Repeats::Part::Hashed> hashes_;  // of records that repeats_ does not have yet

  std::unique_ptr<DenseRows> dense_;
  std::vector<uint32_t> dense_features_;  // of its columns
  int64_t dense_chance_ = 0;              // what makes it worth trying
};

}  // namespace tfr
