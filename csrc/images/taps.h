// Which pixels a resized image is made of, along one axis.

#pragma once

#include <cstddef>
#include <vector>

#include "base/status.h"
#include "images/draw.h"

namespace tfr {

// For each result: the pixels before and after its position, multiplied by `step`, and the share of the second one.
struct Taps {
  std::vector<size_t> first;
  std::vector<size_t> second;
  std::vector<float> share;
};

Taps MakeTaps(size_t length, size_t results, Alignment alignment, bool reversed, size_t step);

// For each result: the nearest pixel, multiplied by `step`.
std::vector<size_t> MakeNearest(size_t length, size_t results, Alignment alignment, bool reversed, size_t step);

// kInvalidArgument: the image can't be drawn.
Status CheckSize(const Drawing& drawing, const Pixels& image);

}  // namespace tfr
