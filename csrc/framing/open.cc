// Detection of compression; see open.h.

#include "framing/open.h"

#include <string>
#include <utility>

#include "framing/format.h"

namespace tfr {

static_assert(kDetectBytes == kHeaderBytes);

Compression DetectCompression(const uint8_t* data, size_t size) {
  if (size >= kHeaderBytes && HeaderIsIntact(data)) return Compression::kNone;
  if (size >= 2 && data[0] == 0x1f && data[1] == 0x8b) return Compression::kGzip;  // RFC 1952, 2.3.1
  if (size >= 4) {
    const uint32_t magic = LoadLE32(data);
    // RFC 8878, 3.1: a frame, or a skippable one.
    if (magic == 0xfd2fb528 || (magic & 0xfffffff0) == 0x184d2a50) return Compression::kZstd;
  }
  // RFC 1950, 2.2: method 8, a window of at most 32 KiB, no preset dictionary, and a multiple of 31.
  if (size >= 2 && (data[0] & 0x0f) == 8 && (data[0] >> 4) <= 7 && (data[1] & 0x20) == 0 &&
      (data[0] * 256 + data[1]) % 31 == 0) {
    return Compression::kZlib;
  }
  return Compression::kNone;
}

Status OpenFrames(std::unique_ptr<Source> raw, CompressionChoice choice, std::unique_ptr<Source>* frames,
                  Compression* found) {
  if (choice) {
    *found = *choice;
  } else {
    uint8_t head[kDetectBytes];
    size_t got = 0;
    TFR_RETURN_IF_ERROR(ReadFully(raw.get(), head, sizeof head, &got));
    *found = DetectCompression(head, got);
    raw = std::make_unique<PrefixedSource>(std::string(reinterpret_cast<char*>(head), got), std::move(raw));
  }
  *frames = *found == Compression::kNone ? std::move(raw) : NewDecompressingSource(std::move(raw), *found);
  return {};
}

}  // namespace tfr
