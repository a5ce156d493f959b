// Windows of 64 bytes and blocks of 8, by which bmi2.cc and neon.cc decode values of up to 4 bytes.

#pragma once

#include <cstddef>
#include <cstdint>

namespace tfr::internal {

constexpr ptrdiff_t kWindow = 64;                 // bytes, and at most as many values
constexpr ptrdiff_t kReadable = kWindow + 2 * 8;  // what a window may read: a word from just after its last end
constexpr ptrdiff_t kBlock = 8;                   // bytes, and at most as many values
constexpr ptrdiff_t kStep = kWindow - kBlock;     // a value of up to 4 bytes that starts before it ends in the window

// By the bytes of a block in which values start, a bit each: where each 32-bit lane takes its bytes from.
struct alignas(32) BlockShuffles {
  uint8_t of[256][32];
};

// `lane_of`: the byte where the lane of the block's value 0 to 7 begins.
template <typename LaneOf>
constexpr BlockShuffles MakeBlockShuffles(LaneOf lane_of) {
  BlockShuffles shuffles{};
  for (int starts = 0; starts < 256; ++starts) {
    int value = 0;
    for (int at = 0; at < 8; ++at) {
      if ((starts >> at & 1) == 0) continue;
      for (int j = 0; j < 4; ++j) shuffles.of[starts][lane_of(value) + j] = static_cast<uint8_t>(at + j);
      ++value;
    }
  }
  return shuffles;
}

// Bit i: bytes i to i + 3 of a window, whose top bits are `more`, all continue.
inline uint64_t Runs4(uint64_t more) {
  const uint64_t two = more & (more >> 1);
  return two & (two >> 2);
}

}  // namespace tfr::internal
