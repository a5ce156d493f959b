// Hashes bytes by multiplying 64 by 64 bits and folding the product; see hash.h.

#include "stats/hash.h"

#include <cstring>

#include "base/endian.h"

namespace tfr {
namespace {

constexpr uint64_t kSecrets[] = {0xa0761d6478bd642f, 0xe7037ed1a0b428db, 0x8ebc6af09c88c6e3, 0x589965cc75374cc3,
                                 0x1d8e4e27c47d124f};

inline uint64_t Fold(uint64_t a, uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

// The 16 bytes at p, mixed into `state`.
inline uint64_t Mixed(const uint8_t* p, uint64_t secret, uint64_t state) {
  return Fold(LoadLE64(p) ^ secret, LoadLE64(p + 8) ^ state);
}

}  // namespace

uint64_t HashBytes(const Bytes& bytes) {
  constexpr size_t kLane = 16;
  constexpr size_t kStripe = 4 * kLane;  // four lanes, so that their multiplications overlap
  const uint8_t* p = bytes.data;
  size_t left = bytes.size;
  uint64_t state = kSecrets[0] ^ bytes.size;
  if (left >= kStripe) {
    uint64_t lanes[] = {state, state ^ kSecrets[1], state ^ kSecrets[2], state ^ kSecrets[3]};
    for (; left >= kStripe; p += kStripe, left -= kStripe) {
      for (size_t i = 0; i < 4; ++i) lanes[i] = Mixed(p + i * kLane, kSecrets[i + 1], lanes[i]);
    }
    state = Fold(lanes[0] ^ lanes[1], kSecrets[1] ^ lanes[2]) ^ lanes[3];
  }
  for (; left >= kLane; p += kLane, left -= kLane) state = Mixed(p, kSecrets[1], state);
  uint8_t rest[kLane] = {};
  if (left != 0) std::memcpy(rest, p, left);
  state = Mixed(rest, kSecrets[2], state);
  return HashNumber(Fold(state ^ kSecrets[4], bytes.size ^ kSecrets[3]));
}

}  // namespace tfr
