// Prints, for each CRC32C backend of the processor it runs on, its name and a checksum over the CRCs of many pieces of
// standard input: for processors on which the Python suite does not run (tests/core/test_crc32c_native.py).

#include <cstdint>
#include <cstdio>
#include <vector>

#include "crc32c/crc32c.h"

int main() {
  std::vector<uint8_t> data(1 << 16);
  data.resize(std::fread(data.data(), 1, data.size(), stdin));
  for (const tfr::crc32c::Backend& backend : tfr::crc32c::Backends()) {
    uint64_t sum = 0;
    const auto add = [&](size_t begin, size_t size) {
      sum = sum * 0x9E3779B97F4A7C15 + backend.extend(static_cast<uint32_t>(size), data.data() + begin, size);
    };
    for (size_t size = 0; size <= 4096; ++size) add(size * 7 % 64, size);
    for (size_t begin = 0; begin < 64; ++begin) {
      for (size_t size = 0; size <= 128; ++size) add(begin, size);
      add(begin, 9000);
    }
    std::printf("%s %llu\n", backend.name, static_cast<unsigned long long>(sum));
  }
}
