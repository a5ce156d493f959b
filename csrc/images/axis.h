// Which pixels a resized image is made of, along one axis.

#pragma once

#include <cstddef>
#include <vector>

#include "base/status.h"
#include "images/resize.h"

namespace tfr {

// One axis of an image that is resized.
struct Axis {
  size_t length = 0;  // of all pixels
  double start = 0;   // of the part that is resized
  double extent = 0;
  size_t results = 0;  // that the part is resized to
  size_t first = 0;    // of the window of results
  size_t count = 0;
  bool reversed = false;  // the window's last result comes first

  bool operator==(const Axis&) const = default;
};

// kInvalidArgument: the image has no pixels, or another size than the results with kSameSize.
Status CheckSizes(const Pixels& image, Alignment alignment, size_t height, size_t width);

// For each result: the nearest pixel.
std::vector<size_t> NearestPixels(const Axis& axis, Alignment alignment);

// For each result: the pixels before and after its position, and the share of the second one.
struct Neighbours {
  std::vector<size_t> lower;
  std::vector<size_t> upper;
  std::vector<float> share;
};

Neighbours FindNeighbours(const Axis& axis, Alignment alignment);

// For each result: a run of adjacent pixels, and the weight of each.
struct Spans {
  struct Span {
    size_t first;
    size_t count;   // 0: no pixel has a weight
    size_t offset;  // of the first weight
  };
  std::vector<Span> spans;
  std::vector<float> weights;
  size_t longest = 0;
  size_t first = 0;  // of all pixels with a weight
  size_t end = 0;
};

// True if the method has weights for this alignment.
bool HasSpans(Method method, Alignment alignment);

Spans FindSpans(const Axis& axis, Method method, Alignment alignment, bool antialias);

}  // namespace tfr
