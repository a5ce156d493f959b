// Prints, for each varint backend of the processor it runs on, its name and a checksum over what it makes of many runs
// cut from standard input: for processors on which the Python suite does not run (tests/core/test_varint_native.py).
// Runs and arrays end where memory ends, so that a byte too many is a crash.

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "varint/varint.h"

namespace {

constexpr size_t kRoom = 1 << 16;

// The end of kRoom bytes, after which no byte may be touched.
uint8_t* GuardedEnd() {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* const memory = mmap(nullptr, kRoom + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  uint8_t* const end = static_cast<uint8_t*>(memory) + kRoom;
  if (mprotect(end, page, PROT_NONE) != 0) std::abort();
  return end;
}

}  // namespace

int main() {
  std::vector<uint8_t> data(1 << 20);
  data.resize(std::fread(data.data(), 1, data.size(), stdin));
  uint8_t* const run_end = GuardedEnd();
  uint8_t* const out_end = GuardedEnd();
  for (const char* backend : tfr::VarintBackends()) {
    if (!tfr::SetVarintBackend(backend)) return 1;
    uint64_t sum = 0;
    const auto add = [&](uint64_t value) { sum = (sum ^ value) * 0x9E3779B97F4A7C15; };
    size_t begin = 0;
    for (size_t i = 0; begin + 400 < data.size(); ++i) {
      const size_t size = i % 3 == 0 ? i % 20 : i * 7 % 400;
      const size_t capacity = i % 4 == 0 ? size : i * 11 % (size + 2);
      uint8_t* const run = run_end - size;
      int64_t* const out = reinterpret_cast<int64_t*>(out_end) - capacity;
      std::memcpy(run, &data[begin], size);
      size_t count = 0;
      const uint8_t* const after = tfr::DecodeVarintRun(run, run_end, out, capacity, &count);
      add(tfr::CountVarints(run, run_end));
      add(after != nullptr ? static_cast<uint64_t>(after - run) : ~uint64_t{0});
      if (after != nullptr) {
        add(count);
        for (size_t k = 0; k < count; ++k) add(static_cast<uint64_t>(out[k]));
        add(tfr::EncodedVarintsSize(out, count));
        const uint8_t* const written = tfr::EncodeVarints(out, count, run, run_end);
        add(written != nullptr ? static_cast<uint64_t>(written - run) : ~uint64_t{0});
        for (const uint8_t* p = run; written != nullptr && p < written; ++p) add(*p);
      }
      begin += i % 5 == 0 ? 1 : size;
    }
    std::printf("%s %llu\n", backend, static_cast<unsigned long long>(sum));
  }
}
