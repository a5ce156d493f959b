// CRC32C with the crc32 instruction of SSE4.2: three streams side by side, since one alone waits three cycles per step.

#if defined(__x86_64__)

#include "crc32c/x86.h"

namespace tfr::crc32c::internal {
namespace {

constexpr size_t kLong = 1024;  // bytes of one of three streams
constexpr size_t kShort = 256;
constexpr ShiftTable kOverLong = MakeShiftTable(kLong);
constexpr ShiftTable kOverShort = MakeShiftTable(kShort);

__attribute__((target("sse4.2"))) inline uint64_t StepThree(uint64_t state, const uint8_t* data, size_t stream,
                                                            const ShiftTable& over) {
  uint64_t second = 0;
  uint64_t third = 0;
  for (size_t i = 0; i < stream; i += 8) {
    state = _mm_crc32_u64(state, LoadLE64(data + i));
    second = _mm_crc32_u64(second, LoadLE64(data + stream + i));
    third = _mm_crc32_u64(third, LoadLE64(data + 2 * stream + i));
  }
  const uint32_t joined = Shift(over, static_cast<uint32_t>(state)) ^ static_cast<uint32_t>(second);
  return Shift(over, joined) ^ static_cast<uint32_t>(third);
}

}  // namespace

__attribute__((target("sse4.2"))) uint32_t ExtendSse42(uint32_t crc, const uint8_t* data, size_t size) {
  uint64_t state = static_cast<uint32_t>(~crc);
  for (; size >= 3 * kLong; data += 3 * kLong, size -= 3 * kLong) state = StepThree(state, data, kLong, kOverLong);
  for (; size >= 3 * kShort; data += 3 * kShort, size -= 3 * kShort) state = StepThree(state, data, kShort, kOverShort);
  return ~static_cast<uint32_t>(StepShort(state, data, size));
}

}  // namespace tfr::crc32c::internal

#endif  // __x86_64__
