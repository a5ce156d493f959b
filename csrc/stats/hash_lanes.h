// The lanes of a long string's hash, which are the same on every processor.
//
// The string is taken in stripes of eight words, of which the last one ends where the string does. Each lane adds up
// its words, and the products of the halves of its neighbour's words, which are mixed with keys before. Each of 16
// stripes has keys of its own, so that the order of stripes matters; after 16, the lanes are mixed, and the keys begin
// anew.

#ifndef TFRECORD_FAST_STATS_HASH_LANES_H_
#define TFRECORD_FAST_STATS_HASH_LANES_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/records.h"

namespace tfr::internal {

constexpr size_t kHashLanes = 8;
constexpr size_t kHashStripe = kHashLanes * sizeof(uint64_t);
constexpr size_t kHashStripes = 16;  // with keys of their own

// The generator SplitMix64, from 0 on.
constexpr std::array<uint64_t, kHashLanes * kHashStripes> MakeHashKeys() {
  std::array<uint64_t, kHashLanes * kHashStripes> keys{};
  uint64_t state = 0;
  for (uint64_t& key : keys) {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    key = z ^ z >> 31;
  }
  return keys;
}
alignas(64) inline constexpr std::array<uint64_t, kHashLanes * kHashStripes> kHashKeys = MakeHashKeys();

// Lanes are mixed by a shift, and a factor of 32 bits.
constexpr int kHashShift = 47;
constexpr uint32_t kHashFactor = 0x9e3779b1;

struct HashLanes {
  uint64_t words[kHashLanes];
};

// At least kHashStripe bytes.
HashLanes LanesOf(const Bytes& bytes);

// By name, for tests: what is used without vectors, and with them if the processor has those.
HashLanes LanesPortably(const Bytes& bytes);
#if defined(__x86_64__)
HashLanes LanesSse2(const Bytes& bytes);
HashLanes LanesAvx2(const Bytes& bytes);
#endif

}  // namespace tfr::internal

#endif  // TFRECORD_FAST_STATS_HASH_LANES_H_
