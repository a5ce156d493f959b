// CRC32C with eight tables of 256 entries, eight bytes per step, on any processor.

#include <array>

#include "base/endian.h"
#include "crc32c/backends.h"

namespace tfr::crc32c::internal {
namespace {

// kTables[i][b]: the state after byte b and then i zero bytes.
constexpr std::array<std::array<uint32_t, 256>, 8> MakeTables() {
  std::array<std::array<uint32_t, 256>, 8> tables{};
  for (uint32_t b = 0; b < 256; ++b) {
    uint32_t crc = b;
    for (int bit = 0; bit < 8; ++bit) crc = TimesX(crc);
    tables[0][b] = crc;
  }
  for (size_t i = 1; i < 8; ++i) {
    for (uint32_t b = 0; b < 256; ++b) tables[i][b] = (tables[i - 1][b] >> 8) ^ tables[0][tables[i - 1][b] & 0xff];
  }
  return tables;
}
constexpr auto kTables = MakeTables();

}  // namespace

uint32_t ExtendPortable(uint32_t crc, const uint8_t* data, size_t size) {
  uint32_t state = ~crc;
  for (; size >= 8; data += 8, size -= 8) {
    const uint64_t word = LoadLE64(data) ^ state;
    state = kTables[7][word & 0xff] ^ kTables[6][(word >> 8) & 0xff] ^ kTables[5][(word >> 16) & 0xff] ^
            kTables[4][(word >> 24) & 0xff] ^ kTables[3][(word >> 32) & 0xff] ^ kTables[2][(word >> 40) & 0xff] ^
            kTables[1][(word >> 48) & 0xff] ^ kTables[0][word >> 56];
  }
  for (; size > 0; ++data, --size) state = (state >> 8) ^ kTables[0][(state ^ *data) & 0xff];
  return ~state;
}

}  // namespace tfr::crc32c::internal
