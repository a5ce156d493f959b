// How the images of one feature are cropped, resized and flipped: the arguments of ImageFeature.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/random.h"
#include "base/status.h"
#include "images/decode.h"
#include "images/resize.h"

namespace tfr {

struct ImageSpec {
  enum class Crop : uint8_t { kNone, kCenter, kRandom };
  enum class OnError : uint8_t {
    kRaise,
    kSkip,   // drop the row
    kZeros,  // all pixels are 0
  };

  size_t height = 0;  // of the results; 0, as is the width: each image has its own size
  size_t width = 0;
  size_t channels = 3;  // 1 or 3
  Method method = Method::kBilinear;
  bool antialias = true;
  bool float_results = false;  // float32, without rounding; otherwise uint8
  bool channels_first = false;

  Crop crop = Crop::kNone;
  size_t shorter_side = 0;      // kCenter: the image is resized to this, and then cropped; 0: cropped, and then resized
  double scale[2] = {0.08, 1};  // kRandom: the least and the largest share of the image's area
  double ratio[2] = {0.75, 4.0 / 3};  // kRandom: the least and the largest width by height
  bool flip = false;                  // left and right, every other image
  bool exact = true;                  // false: a JPEG may be decoded at a reduced scale
  std::optional<uint64_t> seed;       // instead of the reader's
  OnError on_error = OnError::kRaise;
  size_t max_pixels = kMaxPixels;

  bool own_size() const { return height == 0; }
  bool is_random() const { return flip || crop == Crop::kRandom; }
  size_t value_bytes() const { return float_results ? sizeof(float) : 1; }
  size_t values() const { return height * width * channels; }  // of one image, unless it has its own size
};

// kInvalidArgument: the numbers of the spec do not fit each other.
Status CheckImageSpec(const ImageSpec& spec);

// A part of an image, which may be mirrored left and right.
struct Crop {
  size_t top = 0;
  size_t left = 0;
  size_t height = 0;
  size_t width = 0;
  bool mirrored = false;
};

// The random numbers of one record: they depend on nothing else, so they are the same with any number of threads,
// batches, workers and ranks. `record` is the record's number in its file, `crc` the CRC of its bytes.
Random RandomOfRecord(uint64_t seed, int64_t epoch, int64_t record, uint32_t crc);

// The crop of an image of that size. Random windows are those of torchvision's RandomResizedCrop: ten times, an area
// and a ratio (log-uniform) are drawn; a window that fits gets a random position. If none fits, the largest centred
// window of an allowed ratio is taken.
Crop CropOf(const ImageSpec& spec, size_t height, size_t width, Random random);

}  // namespace tfr
