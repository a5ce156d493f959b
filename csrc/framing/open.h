// Opens a stream of frames: detects how it is compressed, and inflates it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/status.h"
#include "codec/codec.h"
#include "io/source.h"

namespace tfr {

// Not given: detected.
using CompressionChoice = std::optional<Compression>;

// This many bytes from the start of a file are always enough to tell how it is compressed.
constexpr size_t kDetectBytes = 128;

// Tells by its first bytes how a file is compressed. A TFRecord header whose own CRC holds decides; else a codec's
// magic bytes; else, for codecs that have none, a header with the right CRC in what the bytes inflate to; else kNone.
// `size` may be less than kDetectBytes only if the file is that short, or if BytesToDetect is 0.
Compression DetectCompression(const uint8_t* data, size_t size);

// How many more bytes, at least, DetectCompression needs of a file that begins like this; 0: it has enough.
// Reading a pipe in steps of this size never waits for bytes that the answer does not need.
size_t BytesToDetect(const uint8_t* data, size_t size);

// The frames in `raw`, inflated if it is compressed.
Status OpenFrames(std::unique_ptr<Source> raw, CompressionChoice choice, std::unique_ptr<Source>* frames);

}  // namespace tfr
