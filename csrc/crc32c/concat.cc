// Shifts a CRC past zeros by multiplication of polynomials; see concat.h.

#include "crc32c/concat.h"

#include <array>

namespace tfr::crc32c {
namespace {

// Polynomials modulo CRC32C's, bit-reversed as in the CRC itself: the highest bit is that of x^0.
constexpr uint32_t kPolynomial = 0x82f63b78;
constexpr uint32_t kOne = uint32_t{1} << 31;

constexpr uint32_t Times(uint32_t a, uint32_t b) {
  uint32_t product = 0;
  for (uint32_t bit = kOne; bit != 0; bit >>= 1) {
    if (a & bit) product ^= b;
    b = (b >> 1) ^ ((b & 1) ? kPolynomial : 0);
  }
  return product;
}

// x^(8 * 2^i): what 2^i bytes of zeros multiply a CRC by.
constexpr std::array<uint32_t, 64> MakePowers() {
  std::array<uint32_t, 64> powers{};
  uint32_t power = kOne >> 8;
  for (uint32_t& entry : powers) {
    entry = power;
    power = Times(power, power);
  }
  return powers;
}
constexpr std::array<uint32_t, 64> kPowers = MakePowers();

}  // namespace

uint32_t Concat(uint32_t a, uint32_t b, uint64_t size_b) {
  uint32_t shifted = a;
  for (const uint32_t* power = kPowers.data(); size_b != 0; size_b >>= 1, ++power) {
    if (size_b & 1) shifted = Times(*power, shifted);
  }
  return shifted ^ b;
}

}  // namespace tfr::crc32c
