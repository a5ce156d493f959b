// Little-endian loads and stores at any alignment.

#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace tfr {

static_assert(std::endian::native == std::endian::little, "a big-endian port has to swap bytes here");

inline uint32_t LoadLE32(const void* from) {
  uint32_t value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

inline uint64_t LoadLE64(const void* from) {
  uint64_t value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

inline void StoreLE32(void* to, uint32_t value) { std::memcpy(to, &value, sizeof value); }
inline void StoreLE64(void* to, uint64_t value) { std::memcpy(to, &value, sizeof value); }

}  // namespace tfr
