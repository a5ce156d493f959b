// Long strings are hashed in lanes, which vectors hold; short ones by multiplying 64 by 64 bits and folding the
// product. See hash.h.

#include "stats/hash.h"

#include <cstring>

#include "base/endian.h"
#include "stats/hash_lanes.h"

namespace tfr {
namespace {

inline uint64_t Fold(uint64_t a, uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

// The 16 bytes at p, mixed into `state`.
inline uint64_t Mixed(const uint8_t* p, uint64_t secret, uint64_t state) {
  return Fold(LoadLE64(p) ^ secret, LoadLE64(p + 8) ^ state);
}

constexpr uint64_t kSecrets[] = {0xa0761d6478bd642f, 0xe7037ed1a0b428db, 0x8ebc6af09c88c6e3, 0x589965cc75374cc3,
                                 0x1d8e4e27c47d124f, 0x9c3a1d5f0b7e6a41, 0x6b8f4c2e91d7035b, 0xd2f19a7763e5c80d};

uint64_t HashShort(const Bytes& bytes) {
  constexpr size_t kStep = 16;
  const uint8_t* p = bytes.data;
  size_t left = bytes.size;
  uint64_t state = kSecrets[0] ^ bytes.size;
  for (; left >= kStep; p += kStep, left -= kStep) state = Mixed(p, kSecrets[1], state);
  uint8_t rest[kStep] = {};
  if (left != 0) std::memcpy(rest, p, left);
  state = Mixed(rest, kSecrets[2], state);
  return HashNumber(Fold(state ^ kSecrets[4], bytes.size ^ kSecrets[3]));
}

uint64_t HashLong(const Bytes& bytes) {
  const internal::HashLanes lanes = internal::LanesOf(bytes);
  uint64_t state = bytes.size * kSecrets[0];
  for (size_t i = 0; i < internal::kHashLanes; i += 2) {
    state += Fold(lanes.words[i] ^ kSecrets[i], lanes.words[i + 1] ^ kSecrets[i + 1]);
  }
  return HashNumber(state);
}

}  // namespace

uint64_t HashBytes(const Bytes& bytes) {
  return bytes.size < internal::kHashStripe ? HashShort(bytes) : HashLong(bytes);
}

}  // namespace tfr
