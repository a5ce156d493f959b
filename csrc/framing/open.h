// Opens a stream of frames: tells how it is compressed, and inflates it.

#ifndef TFRECORD_FAST_FRAMING_OPEN_H_
#define TFRECORD_FAST_FRAMING_OPEN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/status.h"
#include "codec/codec.h"
#include "io/source.h"

namespace tfr {

// Nothing given: find out.
using CompressionChoice = std::optional<Compression>;

constexpr size_t kDetectBytes = 8 + 4;  // a record's length and its CRC

// Tells by its first bytes what a file is. A TFRecord header whose own CRC holds decides; else the magic bytes of
// GZIP, ZLIB or ZSTD; else kNone. `size` may be less than kDetectBytes only if the file is so short.
Compression DetectCompression(const uint8_t* data, size_t size);

// The frames in `raw`, inflated; *found tells what it was.
Status OpenFrames(std::unique_ptr<Source> raw, CompressionChoice choice, std::unique_ptr<Source>* frames,
                  Compression* found);

}  // namespace tfr

#endif  // TFRECORD_FAST_FRAMING_OPEN_H_
