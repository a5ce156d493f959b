// Draws images: decoded pixels in another size, mirrored, and with scaled values, in one pass over each image.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/status.h"

namespace tfr {

// How the pixels of two sizes are aligned.
enum class Alignment : uint8_t {
  kSameSize,    // the sizes are equal
  kHalfPixels,  // by their outer edges
  kTopLeft,     // by the centres of the first pixels, with a scale of one size to the other (TensorFlow 1)
  kCorners,     // by the centres of the outermost pixels
};

// The pixels of an image: rows of adjacent pixels, `stride` bytes apart.
struct Pixels {
  const uint8_t* data = nullptr;
  ptrdiff_t stride = 0;
  size_t height = 0;
  size_t width = 0;
  bool mirrored = false;     // left and right
  bool upside_down = false;  // both after resizing
};

// A step of arithmetic on float32 values, with an operand per channel.
struct Step {
  enum class Kind : uint8_t { kMultiply, kDivide, kAdd, kSubtract };
  Kind kind = Kind::kMultiply;
  std::vector<float> operands = {};
};

// The properties that all images of a call share.
struct Drawing {
  size_t height = 0;  // of the results
  size_t width = 0;
  size_t channels = 0;
  Alignment alignment = Alignment::kSameSize;
};

// Draws images of uint8 or float32 (is_float) into `out`, float32 [images, height, width, channels]. Between sizes,
// values are interpolated: horizontally, then vertically, without contraction, so the results are the same on every
// processor. `before` works on the values that are interpolated, `after` on the results. kInvalidArgument: an image has
// another size than the results with kSameSize, or has no pixels.
Status DrawImages(const Drawing& drawing, bool is_float, const std::vector<Pixels>& images,
                  const std::vector<Step>& before, const std::vector<Step>& after, float* out, size_t num_threads);

// Draws images with the nearest pixel for each result. Channels are bytes: those of a whole pixel.
Status DrawNearest(const Drawing& drawing, const std::vector<Pixels>& images, uint8_t* out, size_t num_threads);

}  // namespace tfr
