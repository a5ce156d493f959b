// CRC32C (Castagnoli, RFC 3720 appendix B.4) and the masked form that TFRecord files store.
//
// One function, several backends. The fastest that the processor has is chosen at first use; the environment
// variable TFRECORD_FAST_CRC32C, or SetBackend, forces another. Every backend returns the same values for any
// length and alignment, and reads nothing outside [data, data + size).

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tfr::crc32c {

using ExtendFunction = uint32_t (*)(uint32_t crc, const uint8_t* data, size_t size);

struct Backend {
  const char* name;
  ExtendFunction extend;
  bool (*supported)();
};

// The backends that this processor can run, fastest first; "portable" is always among them.
std::span<const Backend> Backends();

const char* BackendName();

// Returns false and changes nothing if this processor lacks the backend.
bool SetBackend(std::string_view name);

namespace internal {
extern std::atomic<ExtendFunction> extend;
}

// The CRC of A followed by `data`, where `crc` is the CRC of A; the CRC of nothing is 0.
inline uint32_t Extend(uint32_t crc, const uint8_t* data, size_t size) {
  return internal::extend.load(std::memory_order_relaxed)(crc, data, size);
}

inline uint32_t Value(const uint8_t* data, size_t size) { return Extend(0, data, size); }

// A CRC that is stored next to the data it covers is masked, since the CRC of a string that holds its own CRC
// is a poor check: rotate right by 15 bits, add a constant.
constexpr uint32_t Mask(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8; }

}  // namespace tfr::crc32c
