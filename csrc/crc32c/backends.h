// The common half of the backends of crc32c/: the polynomial's arithmetic, at compile time, and their entry points.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tfr::crc32c::internal {

uint32_t ExtendPortable(uint32_t crc, const uint8_t* data, size_t size);
#if defined(__x86_64__)
uint32_t ExtendSse42(uint32_t crc, const uint8_t* data, size_t size);
uint32_t ExtendPclmul(uint32_t crc, const uint8_t* data, size_t size);
uint32_t ExtendVpclmul(uint32_t crc, const uint8_t* data, size_t size);
#elif defined(__aarch64__)
uint32_t ExtendArm(uint32_t crc, const uint8_t* data, size_t size);
uint32_t ExtendPmull(uint32_t crc, const uint8_t* data, size_t size);
#endif

// Polynomials over GF(2) modulo the Castagnoli polynomial, bit-reflected: the coefficient of x^0 is the top bit.
constexpr uint32_t kPolynomial = 0x82f63b78;
constexpr uint32_t kOne = 0x80000000;

constexpr uint32_t TimesX(uint32_t a) { return (a >> 1) ^ ((a & 1) ? kPolynomial : 0); }

constexpr uint32_t Multiply(uint32_t a, uint32_t b) {
  uint32_t product = 0;
  for (int i = 31; i >= 0; --i) {
    if ((b >> i) & 1) product ^= a;
    a = TimesX(a);
  }
  return product;
}

constexpr uint32_t XToThe(unsigned n) {
  uint32_t power = kOne;
  while (n-- > 0) power = TimesX(power);
  return power;
}

// Factors that carry a 128-bit register over `bits` bits of message by carry-less multiplication: `low` for its
// first (low) 64 bits, `high` for the others. A product of two reflected operands comes out one bit too low;
// the shift by one makes up for it.
struct Fold {
  uint64_t low;
  uint64_t high;
};
constexpr Fold FoldOver(unsigned bits) {
  return {static_cast<uint64_t>(XToThe(bits + 32)) << 1, static_cast<uint64_t>(XToThe(bits - 32)) << 1};
}

// table[i][b]: the CRC state whose byte i is b, after `bytes` zero bytes.
using ShiftTable = std::array<std::array<uint32_t, 256>, 4>;
constexpr ShiftTable MakeShiftTable(unsigned bytes) {
  ShiftTable table{};
  const uint32_t factor = XToThe(8 * bytes);
  for (unsigned i = 0; i < 4; ++i) {
    for (unsigned bit = 0; bit < 8; ++bit) table[i][1u << bit] = Multiply(1u << (8 * i + bit), factor);
    for (unsigned b = 1; b < 256; ++b) table[i][b] = table[i][b & (b - 1)] ^ table[i][b & (~b + 1)];
  }
  return table;
}
constexpr uint32_t Shift(const ShiftTable& table, uint32_t crc) {
  return table[0][crc & 0xff] ^ table[1][(crc >> 8) & 0xff] ^ table[2][(crc >> 16) & 0xff] ^ table[3][crc >> 24];
}

}  // namespace tfr::crc32c::internal
