// The TFRecord frame (docs/format.md):
//
//   file   := record*
//   record := length:u64le  masked_crc32c(length):u32le  data:byte[length]  masked_crc32c(data):u32le

#pragma once

#include <cstddef>
#include <cstdint>

#include "base/endian.h"
#include "crc32c/crc32c.h"

namespace tfr {

constexpr size_t kLengthBytes = 8;
constexpr size_t kCrcBytes = 4;
constexpr size_t kHeaderBytes = kLengthBytes + kCrcBytes;
constexpr size_t kFooterBytes = kCrcBytes;
constexpr size_t kFrameBytes = kHeaderBytes + kFooterBytes;
static_assert(kFrameBytes == 16);

// A larger length is rejected even if its CRC matches: no machine holds such a record, and sums of it
// and an offset stay far from overflow.
constexpr uint64_t kMaxRecordBytes = uint64_t{1} << 62;

inline uint64_t RecordLength(const uint8_t* header) { return LoadLE64(header); }

inline bool HeaderIsIntact(const uint8_t* header) {
  return crc32c::Mask(crc32c::Value(header, kLengthBytes)) == LoadLE32(header + kLengthBytes);
}

// The one place where a header is judged.
enum class HeaderState : uint8_t {
  kIntact,
  kBadCrc,
  kTooLarge,  // intact, and claims more than a record may have
};

// `most` is what a record may have, in bytes of data: at most kMaxRecordBytes.
inline HeaderState JudgeHeader(const uint8_t* header, uint64_t most) {
  if (!HeaderIsIntact(header)) return HeaderState::kBadCrc;
  return RecordLength(header) > most ? HeaderState::kTooLarge : HeaderState::kIntact;
}

// `data` is followed by its footer.
inline bool DataIsIntact(const uint8_t* data, size_t size) {
  return crc32c::Mask(crc32c::Value(data, size)) == LoadLE32(data + size);
}

inline void StoreHeader(uint8_t* header, uint64_t length) {
  StoreLE64(header, length);
  StoreLE32(header + kLengthBytes, crc32c::Mask(crc32c::Value(header, kLengthBytes)));
}

inline void StoreFooter(uint8_t* footer, const uint8_t* data, size_t size) {
  StoreLE32(footer, crc32c::Mask(crc32c::Value(data, size)));
}

}  // namespace tfr
