// The secrets of a process; see seeded_hash.h.

#include "base/seeded_hash.h"

#include <array>
#include <chrono>
#include <random>

#include "base/random.h"

namespace tfr {
namespace {

std::array<uint64_t, 2> Draw() {
  uint64_t seed = reinterpret_cast<uintptr_t>(&Draw);
  seed ^= static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  Random random(seed);
  std::array<uint64_t, 2> secrets = {random.Next(), random.Next()};
  try {
    std::random_device device;
    for (uint64_t& secret : secrets) secret ^= static_cast<uint64_t>(device()) << 32 | device();
  } catch (const std::exception&) {  // without a device, the clock and the address must do
  }
  return secrets;
}

}  // namespace

uint64_t SeededHash::Secret(size_t i) {
  static const std::array<uint64_t, 2> secrets = Draw();
  return secrets[i];
}

}  // namespace tfr
