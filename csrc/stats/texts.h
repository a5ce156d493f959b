// Figures of the strings of bytes under one key: their sizes, how many different ones there are, and those that come
// most often, of which the first bytes are kept.
//
// Strings are distinguished by their hashes (hash.h).

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/records.h"
#include "stats/numbers.h"

namespace tfr {

class Texts {
 public:
  static constexpr size_t kKept = 64;  // first bytes of a string

  Texts(Limits limits, uint64_t offset) : limits_(limits), sizes_(Numbers::Type::kInt64, limits, offset) {}
  Texts(Texts&&) = default;
  Texts& operator=(Texts&&) = default;

  void Add(const Bytes& value);
  void Merge(const Texts& other);

  bool is_sketched() const { return !distinct_.empty(); }
  // Like Numbers::BeginSketch.
  void BeginSketch();

  struct Heavy {
    std::string start;
    uint64_t size;
    uint64_t count;
  };
  struct Figures {
    bool exact = true;
    double distinct = 0;
    uint64_t error = 0;
    std::vector<Heavy> heavy;  // the most frequent first; all of them if exact
  };
  Figures Finish() const;

  const Numbers& sizes() const { return sizes_; }

 private:
  struct Start {
    std::string bytes;
    uint64_t size;
  };

  void Keep(uint64_t hash, const Bytes& value);
  void PutWeighted(uint64_t hash, uint64_t count, const Start& start);
  void ForgetOthers();

  Limits limits_;
  Numbers sizes_;
  Counts counts_;
  std::unordered_map<uint64_t, Start> starts_;  // of the keys in counts_, and of some that have left it
  std::vector<Distinct> distinct_;              // one, once there are too many
  uint64_t seen_ = 0;
};

}  // namespace tfr
