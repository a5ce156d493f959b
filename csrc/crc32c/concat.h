// The CRC of two strings one after the other, from the CRCs of both.

#pragma once

#include <cstdint>

namespace tfr::crc32c {

// The CRC of AB, where `a` is the CRC of A, and `b` that of B, which has `size_b` bytes. Takes time that grows with the
// logarithm of size_b. Since `a` goes in by exclusive or, it also computes `b` from Concat's result, `a` and size_b:
// b == Concat(a, ab, size_b).
uint32_t Concat(uint32_t a, uint32_t b, uint64_t size_b);

}  // namespace tfr::crc32c
