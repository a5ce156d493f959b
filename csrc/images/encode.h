// Encodes pixels as JPEG and PNG: the files that TensorFlow makes of them.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace tfr {

// An image to encode: rows of adjacent pixels, `stride` bytes apart.
struct Picture {
  const uint8_t* data = nullptr;
  ptrdiff_t stride = 0;
  size_t height = 0;
  size_t width = 0;
  size_t channels = 0;
  bool sixteen_bits = false;  // uint16 in the byte order of this machine
};

struct JpegOptions {
  int quality = 95;  // 0 to 100
  bool progressive = false;
  bool optimize = false;  // Huffman codes for this image: smaller, slower
  bool chroma_downsampling = true;
  bool density_per_cm = false;  // per inch
  uint16_t x_density = 300;
  uint16_t y_density = 300;
  std::string_view xmp = {};  // metadata
};

// Each replaces the contents of *out. kInvalidArgument: the format can't hold the image, which has no pixels or too
// many, or other channels: a JPEG 1 or 3 of uint8, a PNG 1 to 4.
Status EncodeJpeg(const Picture& picture, const JpegOptions& options, std::vector<uint8_t>* out);
// `level` is zlib's, 0 to 9; -1 for its default.
Status EncodePng(const Picture& picture, int level, std::vector<uint8_t>* out);

}  // namespace tfr
