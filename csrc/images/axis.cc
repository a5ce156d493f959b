// Positions and weights in float32, as TensorFlow computes them; see axis.h.

#include "images/axis.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

namespace tfr {
namespace {

// Weights whose sum is smaller are not normalised.
constexpr float kLeastSum = 1000 * std::numeric_limits<float>::min();

// The distance between the positions of two adjacent results.
float StepOf(const Axis& axis, Alignment alignment) {
  if (alignment == Alignment::kCorners && axis.results > 1) {
    return static_cast<float>(axis.extent - 1) / static_cast<float>(axis.results - 1);
  }
  return static_cast<float>(axis.extent) / static_cast<float>(axis.results);
}

float Position(size_t result, float step, const Axis& axis, Alignment alignment, float centre) {
  const float number = static_cast<float>(result);
  const float start = static_cast<float>(axis.start);
  return alignment == Alignment::kHalfPixels ? (number + 0.5f) * step + start - centre : number * step + start;
}

size_t Within(float number, size_t length) {
  const float last = static_cast<float>(length - 1);
  return std::min(static_cast<size_t>(std::clamp(number, 0.0f, last)), length - 1);
}

// Calls visit(place, result) for each result of the window.
template <typename Visit>
void ForEachResult(const Axis& axis, Visit visit) {
  for (size_t i = 0; i < axis.count; ++i) visit(axis.reversed ? axis.count - 1 - i : i, axis.first + i);
}

// ---- Kernels: the weight at a distance of at most the radius ----

struct Lanczos {
  float radius;

  float operator()(float x) const {
    constexpr float kPi = 3.14159265359f;
    if (x > radius) return 0;
    if (x <= 1e-3f) return 1;
    return radius * std::sin(kPi * x) * std::sin(kPi * x / radius) / (kPi * kPi * x * x);
  }
};

struct Gaussian {
  static constexpr float radius = 1.5f;

  float operator()(float x) const { return x >= radius ? 0 : static_cast<float>(std::exp(-x * x / 0.5)); }
};

struct Triangle {
  static constexpr float radius = 1;

  float operator()(float x) const { return x < 1 ? 1 - x : 0; }
};

struct KeysCubic {
  static constexpr float radius = 2;

  float operator()(float x) const {
    if (x >= 2) return 0;
    return x >= 1 ? ((-0.5f * x + 2.5f) * x - 4) * x + 2 : ((1.5f * x - 2.5f) * x) * x + 1;
  }
};

struct MitchellCubic {
  static constexpr float radius = 2;

  float operator()(float x) const {
    if (x >= 2) return 0;
    return x >= 1 ? ((-7.0f / 18 * x + 2) * x - 10.0f / 3) * x + 16.0f / 9 : ((7.0f / 6 * x - 2) * x) * x + 8.0f / 9;
  }
};

// ---- Spans ----

class SpanList {
 public:
  explicit SpanList(const Axis& axis) : axis_(axis) { spans_.spans.resize(axis.count); }

  // Adds the span of a result, without zeros at its ends. Pixels before the first and after the last one are not in the
  // image.
  void Add(size_t place, int64_t first, std::vector<float>& weights) {
    size_t begin = 0, end = weights.size();
    while (begin < end && weights[begin] == 0) ++begin;
    while (begin < end && weights[end - 1] == 0) --end;
    const size_t pixel = static_cast<size_t>(first) + begin;
    spans_.spans[place] = {pixel, end - begin, spans_.weights.size()};
    if (begin == end) return;
    spans_.weights.insert(spans_.weights.end(), weights.begin() + static_cast<ptrdiff_t>(begin),
                          weights.begin() + static_cast<ptrdiff_t>(end));
    spans_.longest = std::max(spans_.longest, end - begin);
    spans_.first = spans_.end == 0 ? pixel : std::min(spans_.first, pixel);
    spans_.end = std::max(spans_.end, pixel + end - begin);
  }

  Spans Take() { return std::move(spans_); }

  int64_t Inside(int64_t pixel) const { return std::clamp<int64_t>(pixel, 0, static_cast<int64_t>(axis_.length) - 1); }

 private:
  const Axis& axis_;
  Spans spans_;
};

template <typename Kernel>
Spans KernelSpans(const Axis& axis, Kernel kernel, bool antialias) {
  SpanList list(axis);
  const float scale = static_cast<float>(axis.results) / static_cast<float>(axis.extent);
  const float step = 1.0f / scale;
  const float stretch = antialias ? std::max(step, 1.0f) : 1.0f;
  const float shrink = 1.0f / stretch;
  const float radius = kernel.radius * stretch;
  std::vector<float> weights;
  ForEachResult(axis, [&](size_t place, size_t result) {
    const float position = (static_cast<float>(result) + 0.5f) * step + static_cast<float>(axis.start);
    const int64_t first = list.Inside(static_cast<int64_t>(std::ceil(position - radius - 0.5f)));
    const int64_t last = list.Inside(static_cast<int64_t>(std::floor(position + radius - 0.5f)));
    weights.clear();
    float sum = 0;
    for (int64_t pixel = first; pixel <= last; ++pixel) {
      weights.push_back(kernel(std::abs((static_cast<float>(pixel) + 0.5f - position) * shrink)));
      sum += weights.back();
    }
    const float factor = std::abs(sum) >= kLeastSum ? 1.0f / sum : 0.0f;
    for (float& weight : weights) weight *= factor;
    list.Add(place, first, weights);
  });
  return list.Take();
}

// The weights of four pixels, for a position that is rounded to 1/1024 of a pixel.
struct CubicWeights {
  float weights[4];

  CubicWeights(float share, double slope) {
    constexpr float kTable = 1024;
    const double lower = std::nearbyint(share * kTable) / kTable, upper = 1 - lower;
    weights[0] = Far(lower + 1, slope);
    weights[1] = Near(lower, slope);
    weights[2] = Near(upper, slope);
    weights[3] = Far(upper + 1, slope);
  }

  static float Near(double x, double slope) { return static_cast<float>(((slope + 2) * x - (slope + 3)) * x * x + 1); }
  static float Far(double x, double slope) {
    return static_cast<float>(((slope * x - 5 * slope) * x + 8 * slope) * x - 4 * slope);
  }
};

// Four pixels around each position. With half pixels there is nothing beyond the border; otherwise its pixels are
// repeated.
Spans CubicSpans(const Axis& axis, Alignment alignment) {
  SpanList list(axis);
  const float step = StepOf(axis, alignment);
  const bool is_open = alignment == Alignment::kHalfPixels;
  std::vector<float> weights;
  ForEachResult(axis, [&](size_t place, size_t result) {
    const float position = Position(result, step, axis, alignment, 0.5f);
    const float floor = std::floor(position);
    const CubicWeights cubic(position - floor, is_open ? -0.5 : -0.75);
    const int64_t before = static_cast<int64_t>(floor) - 1;
    const int64_t first = list.Inside(before);
    weights.assign(static_cast<size_t>(list.Inside(before + 3) - first + 1), 0);
    float sum = 0;
    for (int64_t i = 0; i < 4; ++i) {
      const int64_t pixel = list.Inside(before + i);
      if (is_open && pixel != before + i) continue;
      weights[static_cast<size_t>(pixel - first)] += cubic.weights[i];
      sum += cubic.weights[i];
    }
    if (is_open && std::abs(sum) >= kLeastSum) {
      for (float& weight : weights) weight *= 1.0f / sum;
    }
    list.Add(place, first, weights);
  });
  return list.Take();
}

// The share of each pixel in the area of a result. The last pixel is repeated beyond the border.
Spans AreaSpans(const Axis& axis, Alignment alignment) {
  SpanList list(axis);
  const float step = StepOf(axis, alignment);
  const float start = static_cast<float>(axis.start);
  const float factor = 1.0f / step;
  std::vector<float> weights;
  ForEachResult(axis, [&](size_t place, size_t result) {
    if (step == 0) {  // one pixel, with kCorners
      weights.assign(1, 1);
      return list.Add(place, 0, weights);
    }
    const float begin = static_cast<float>(result) * step + start;
    const float end = static_cast<float>(result + 1) * step + start;
    const int64_t first = static_cast<int64_t>(std::floor(begin)), after = static_cast<int64_t>(std::ceil(end));
    const int64_t inside = list.Inside(first);
    weights.assign(static_cast<size_t>(list.Inside(after - 1) - inside + 1), 0);
    for (int64_t pixel = first; pixel < after; ++pixel) {
      const float left = static_cast<float>(pixel), right = left + 1;
      float share = 1;
      if (left < begin) {
        share = right > end ? step : right - begin;
      } else if (right > end) {
        share = end - left;
      }
      weights[static_cast<size_t>(list.Inside(pixel) - inside)] += share * factor;
    }
    list.Add(place, inside, weights);
  });
  return list.Take();
}

}  // namespace

Status CheckSizes(const Pixels& image, Alignment alignment, size_t height, size_t width) {
  const auto text = [](size_t height, size_t width) { return std::to_string(height) + " x " + std::to_string(width); };
  if (image.height == 0 || image.width == 0) {
    return Status::InvalidArgument("an image of " + text(image.height, image.width) + " pixels can't be resized");
  }
  if (alignment == Alignment::kSameSize && (image.height != height || image.width != width)) {
    return Status::InvalidArgument("an image has " + text(image.height, image.width) + " pixels, not " +
                                   text(height, width));
  }
  return Status();
}

std::vector<size_t> NearestPixels(const Axis& axis, Alignment alignment) {
  const float step = StepOf(axis, alignment);
  const float rounding = alignment == Alignment::kCorners && axis.results > 1 ? 0.5f : 0.0f;
  std::vector<size_t> nearest(axis.count);
  ForEachResult(axis, [&](size_t place, size_t result) {
    nearest[place] = Within(std::floor(Position(result, step, axis, alignment, 0.0f) + rounding), axis.length);
  });
  return nearest;
}

Neighbours FindNeighbours(const Axis& axis, Alignment alignment) {
  const float step = StepOf(axis, alignment);
  Neighbours neighbours{std::vector<size_t>(axis.count), std::vector<size_t>(axis.count),
                        std::vector<float>(axis.count)};
  ForEachResult(axis, [&](size_t place, size_t result) {
    const float position = Position(result, step, axis, alignment, 0.5f);
    const float before = std::floor(position);
    neighbours.lower[place] = Within(before, axis.length);
    neighbours.upper[place] = Within(before + 1, axis.length);
    neighbours.share[place] = position - before;
  });
  return neighbours;
}

bool HasSpans(Method method, Alignment alignment) {
  switch (method) {
    case Method::kNearest:
      return false;
    case Method::kArea:
    case Method::kBicubic:
      return true;
    default:
      return alignment == Alignment::kHalfPixels;
  }
}

Spans FindSpans(const Axis& axis, Method method, Alignment alignment, bool antialias) {
  switch (method) {
    case Method::kArea:
      return AreaSpans(axis, alignment);
    case Method::kBicubic:
      if (antialias && alignment == Alignment::kHalfPixels) return KernelSpans(axis, KeysCubic(), true);
      return CubicSpans(axis, alignment);
    case Method::kLanczos3:
      return KernelSpans(axis, Lanczos{3}, antialias);
    case Method::kLanczos5:
      return KernelSpans(axis, Lanczos{5}, antialias);
    case Method::kGaussian:
      return KernelSpans(axis, Gaussian(), antialias);
    case Method::kMitchellCubic:
      return KernelSpans(axis, MitchellCubic(), antialias);
    default:
      return KernelSpans(axis, Triangle(), antialias);
  }
}

}  // namespace tfr
