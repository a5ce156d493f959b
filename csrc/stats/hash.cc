// Hashes bytes by multiplying 64 by 64 bits and folding the product; see hash.h.

#include "stats/hash.h"

#include <cstring>

#include "base/endian.h"

namespace tfr {
namespace {

constexpr size_t kStep = 16;
constexpr size_t kLanes = 4;  // so that their multiplications overlap
constexpr size_t kStripe = kLanes * kStep;
constexpr uint64_t kSecrets[] = {0xa0761d6478bd642f, 0xe7037ed1a0b428db, 0x8ebc6af09c88c6e3, 0x589965cc75374cc3,
                                 0x1d8e4e27c47d124f};

// All bits of both go into all bits of the result. Neither is lost if the other one is 0.
inline uint64_t Fold(uint64_t a, uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return a ^ b ^ static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

// The 16 bytes at p, mixed into `state`.
inline uint64_t Mixed(const uint8_t* p, uint64_t secret, uint64_t state) {
  return Fold(LoadLE64(p) ^ secret, LoadLE64(p + 8) ^ state);
}

uint64_t HashShort(const Bytes& bytes) {
  const uint8_t* p = bytes.data;
  size_t left = bytes.size;
  uint64_t state = kSecrets[0] ^ bytes.size;
  for (; left >= kStep; p += kStep, left -= kStep) state = Mixed(p, kSecrets[1], state);
  uint8_t rest[kStep] = {};
  if (left != 0) std::memcpy(rest, p, left);
  return Mixed(rest, kSecrets[2], state);
}

// In stripes, the last of which ends where the bytes do.
uint64_t HashLong(const Bytes& bytes) {
  const uint8_t* p = bytes.data;
  const uint8_t* const last = p + bytes.size - kStripe;
  const uint64_t state = kSecrets[0] ^ bytes.size;
  uint64_t lanes[kLanes] = {state, state ^ kSecrets[1], state ^ kSecrets[2], state ^ kSecrets[3]};
  for (; p < last; p += kStripe) {
    for (size_t i = 0; i < kLanes; ++i) lanes[i] = Mixed(p + i * kStep, kSecrets[i + 1], lanes[i]);
  }
  for (size_t i = 0; i < kLanes; ++i) lanes[i] = Mixed(last + i * kStep, kSecrets[i + 1], lanes[i]);
  return Fold(Fold(lanes[0], lanes[1] ^ kSecrets[1]), Fold(lanes[2], lanes[3] ^ kSecrets[2]) ^ kSecrets[3]);
}

}  // namespace

uint64_t HashBytes(const Bytes& bytes) {
  const uint64_t state = bytes.size < kStripe ? HashShort(bytes) : HashLong(bytes);
  return HashNumber(Fold(state ^ kSecrets[4], bytes.size ^ kSecrets[3]));
}

}  // namespace tfr
