// CRC32C with the CRC32 instructions of ARMv8: three streams side by side, since one alone waits for each step.

#if defined(__aarch64__)

#include <arm_acle.h>

#include "base/endian.h"
#include "crc32c/backends.h"

namespace tfr::crc32c::internal {
namespace {

constexpr size_t kStream = 512;  // bytes of one of three streams
constexpr ShiftTable kOverStream = MakeShiftTable(kStream);

}  // namespace

__attribute__((target("+crc"))) uint32_t ExtendArm(uint32_t crc, const uint8_t* data, size_t size) {
  uint32_t state = ~crc;
  for (; size >= 3 * kStream; data += 3 * kStream, size -= 3 * kStream) {
    uint32_t second = 0;
    uint32_t third = 0;
    for (size_t i = 0; i < kStream; i += 8) {
      state = __crc32cd(state, LoadLE64(data + i));
      second = __crc32cd(second, LoadLE64(data + kStream + i));
      third = __crc32cd(third, LoadLE64(data + 2 * kStream + i));
    }
    state = Shift(kOverStream, Shift(kOverStream, state) ^ second) ^ third;
  }
  for (; size >= 8; data += 8, size -= 8) state = __crc32cd(state, LoadLE64(data));
  for (; size > 0; ++data, --size) state = __crc32cb(state, *data);
  return ~state;
}

}  // namespace tfr::crc32c::internal

#endif  // __aarch64__
