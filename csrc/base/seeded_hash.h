// Hashes bytes by secrets that each process draws anew: whoever writes a file cannot choose keys that share a bucket.
//
// Such hashes differ from run to run, so no result and no order may depend on them.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/endian.h"

namespace tfr {

class SeededHash {
 public:
  size_t operator()(std::string_view bytes) const {
    const char* p = bytes.data();
    size_t left = bytes.size();
    uint64_t hash = start_ ^ left;
    for (; left >= 8; p += 8, left -= 8) hash = Fold(hash ^ LoadLE64(p), factor_);
    uint64_t rest = 0;
    if (left != 0) std::memcpy(&rest, p, left);
    return Fold(hash ^ rest, factor_);
  }

 private:
  // Multiplication alone carries a difference in the highest bit into that bit only, whatever the factor.
  static uint64_t Fold(uint64_t a, uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  }

  static uint64_t Secret(size_t i);  // the same for all of the process

  uint64_t start_ = Secret(0);
  uint64_t factor_ = Secret(1) | 1;
};

}  // namespace tfr
