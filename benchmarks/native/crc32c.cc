// CRC32C, backend by backend, of records of three sizes that lie one after the other; see measure.h,
// csrc/crc32c/crc32c.h.
//
// The records fill 1 MiB, so that the second-level cache holds them: what is measured is the computing.

#include "crc32c/crc32c.h"

#include <algorithm>
#include <cstring>
#include <random>

#include "crc32c/backends.h"
#include "measure.h"

namespace {

constexpr size_t kBytes = 1 << 20;
constexpr size_t kSizes[] = {64, 600, 100'000};
#if defined(__x86_64__)
constexpr const char* kNames[] = {"vpclmul", "pclmul", "sse42", "portable"};
#elif defined(__aarch64__)
constexpr const char* kNames[] = {"armv8", "pmull", "portable"};
#else
constexpr const char* kNames[] = {"portable"};
#endif

// One bit at a time, by the definition.
uint32_t Bitwise(const uint8_t* data, size_t size) {
  uint32_t crc = ~0u;
  for (size_t i = 0; i < size; ++i) {
    crc ^= data[i];
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? tfr::crc32c::internal::kPolynomial : 0);
  }
  return ~crc;
}

// The answer that all backends must return: the CRCs of all records, XORed.
uint32_t Sum(tfr::crc32c::ExtendFunction extend, const std::vector<uint8_t>& data, size_t size) {
  uint32_t sum = 0;
  for (size_t at = 0; at + size <= data.size(); at += size) sum ^= extend(0, &data[at], size);
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  measure::Arguments(argc, argv, 0);
  std::mt19937_64 random(1);
  std::vector<uint8_t> data(kBytes);
  for (uint8_t& byte : data) byte = static_cast<uint8_t>(random());
  for (const size_t size : kSizes) {
    const size_t count = kBytes / size;
    uint32_t expected = 0;
    for (size_t i = 0; i < count; ++i) expected ^= Bitwise(&data[i * size], size);
    for (const auto& backend : tfr::crc32c::Backends()) {
      measure::Require(Sum(backend.extend, data, size) == expected, backend.name);
      measure::Row(std::to_string(size) + " B", backend.name, "GB/s", 1e-9 * static_cast<double>(count * size),
                   [&] { measure::Keep(Sum(backend.extend, data, size)); });
    }
  }
  for (const char* name : kNames) {
    const auto there = tfr::crc32c::Backends();
    const auto same = [&](const auto& backend) { return std::strcmp(backend.name, name) == 0; };
    if (std::none_of(there.begin(), there.end(), same)) measure::Lacking(name, "this processor lacks its instructions");
  }
}
