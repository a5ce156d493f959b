// Encoded images to the pixels that an ImageSpec describes.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/block.h"
#include "base/random.h"
#include "base/records.h"
#include "base/status.h"
#include "images/decode.h"
#include "images/image_spec.h"
#include "images/resize.h"

namespace tfr {

// An image that has its own size: [height, width, channels] values, or [channels, height, width].
struct OwnSize {
  Block values;
  size_t height = 0;
  size_t width = 0;
};

// Makes one image after another, and keeps its memory between them. For one thread at a time.
class ImageMaker {
 public:
  explicit ImageMaker(const ImageSpec& spec);

  // Writes spec.values() values. kInvalidArgument: `file` is not an image, is damaged, or has too many pixels.
  Status Make(const Bytes& file, Random random, uint8_t* out);
  // The same for a spec without a size.
  Status Make(const Bytes& file, Random random, OwnSize* image);

 private:
  Status Open(const Bytes& file, size_t ratio);
  size_t RatioFor(const Crop& crop) const;
  bool IsAsDecoded(const Crop& crop) const;
  Status DecodeToRows(const Crop& crop, Pixels* pixels);
  Status DecodeCrop(const Crop& crop, uint8_t* out);

  const ImageSpec spec_;
  ImageDecoder decoder_;
  Resizer resizer_;
  Resizer copier_;             // to the same size
  std::vector<uint8_t> rows_;  // decoded pixels
};

}  // namespace tfr
