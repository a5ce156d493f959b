// Positions in float32, as TensorFlow computes them; see taps.h.

#include "images/taps.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace tfr {
namespace {

float Position(size_t result, float scale, Alignment alignment, float centre) {
  const float number = static_cast<float>(result);
  return alignment == Alignment::kHalfPixels ? (number + 0.5f) * scale - centre : number * scale;
}

float Scale(size_t length, size_t results, Alignment alignment) {
  if (alignment == Alignment::kCorners && results > 1) {
    return static_cast<float>(length - 1) / static_cast<float>(results - 1);
  }
  return static_cast<float>(length) / static_cast<float>(results);
}

size_t Within(float number, size_t length) {
  const float last = static_cast<float>(length - 1);
  return std::min(static_cast<size_t>(std::clamp(number, 0.0f, last)), length - 1);
}

}  // namespace

Taps MakeTaps(size_t length, size_t results, Alignment alignment, bool reversed, size_t step) {
  const float scale = Scale(length, results, alignment);
  Taps taps{std::vector<size_t>(results), std::vector<size_t>(results), std::vector<float>(results)};
  for (size_t i = 0; i < results; ++i) {
    const float position = Position(i, scale, alignment, 0.5f);
    const float before = std::floor(position);
    const size_t place = reversed ? results - 1 - i : i;
    taps.first[place] = Within(before, length) * step;
    taps.second[place] = Within(before + 1, length) * step;
    taps.share[place] = position - before;
  }
  return taps;
}

Status CheckSize(const Drawing& drawing, const Pixels& image) {
  const auto text = [](size_t height, size_t width) { return std::to_string(height) + " x " + std::to_string(width); };
  if (image.height == 0 || image.width == 0) {
    return Status::InvalidArgument("an image of " + text(image.height, image.width) + " pixels can't be resized");
  }
  if (drawing.alignment == Alignment::kSameSize && (image.height != drawing.height || image.width != drawing.width)) {
    return Status::InvalidArgument("an image has " + text(image.height, image.width) + " pixels, not " +
                                   text(drawing.height, drawing.width));
  }
  return Status();
}

std::vector<size_t> MakeNearest(size_t length, size_t results, Alignment alignment, bool reversed, size_t step) {
  const float scale = Scale(length, results, alignment);
  const float rounding = alignment == Alignment::kCorners && results > 1 ? 0.5f : 0.0f;
  std::vector<size_t> nearest(results);
  for (size_t i = 0; i < results; ++i) {
    const float position = Position(i, scale, alignment, 0.0f) + rounding;
    nearest[reversed ? results - 1 - i : i] = Within(std::floor(position), length) * step;
  }
  return nearest;
}

}  // namespace tfr
