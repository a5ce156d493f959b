// Some records, drawn at random: those with the lowest hashes of their places, so that the same files yield the same
// records, whichever process reads them.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/records.h"
#include "stats/repeats.h"

namespace tfr {

class Sample {
 public:
  static constexpr size_t kMost = 64;                    // records
  static constexpr size_t kMostBytes = size_t{1} << 21;  // of one record
  static constexpr size_t kMostBytesInAll = size_t{32} << 20;

  struct Drawn {
    uint64_t rank;
    RecordId id;
    std::string record;
  };

  void Add(const Bytes& record, RecordId id);
  void Merge(const Sample& other);

  // Returns the sample, sorted by id.
  std::vector<Drawn> Finish() const;
  // Records that were too large to be drawn.
  uint64_t passed_over() const { return passed_over_; }

 private:
  void Put(Drawn drawn);

  std::vector<Drawn> drawn_;  // a heap, the highest rank first
  size_t bytes_ = 0;
  uint64_t bound_ = UINT64_MAX;  // what is not below it is not drawn
  uint64_t passed_over_ = 0;
};

}  // namespace tfr
