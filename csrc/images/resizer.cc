// One image after another, row by row; see resize.h.
//
// Bilinear interpolation between two pixels is horizontal, then vertical: each row of pixels that results need is
// converted to float32 and interpolated once, and the last two are kept. Weighted sums are vertical, then horizontal,
// so that the longest loop runs over whole rows of pixels. Both are TensorFlow's orders.

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include "images/axis.h"
#include "images/resize.h"
#include "images/row_ops.h"

namespace tfr {
namespace {

using internal::Rows;

typedef float Lanes __attribute__((vector_size(16)));
constexpr size_t kLanes = 4;
constexpr size_t kNone = std::numeric_limits<size_t>::max();

inline Lanes Load(const float* p) {
  Lanes lanes;
  std::memcpy(&lanes, p, sizeof lanes);
  return lanes;
}

inline void Store(Lanes lanes, float* p) { std::memcpy(p, &lanes, sizeof lanes); }

// ---- From pixel to pixel in a row: kLanes values may be read after the last pixel, and be written after the last one
// ----

void BlendAcross(const float* row, const Neighbours& taps, size_t channels, float* out) {
  const size_t results = taps.share.size();
  if (channels == 3 || channels == kLanes) {
    for (size_t x = 0; x < results; ++x, out += channels) {
      const Lanes lower = Load(row + taps.lower[x] * channels);
      const Lanes upper = Load(row + taps.upper[x] * channels);
      Store(lower + (upper - lower) * taps.share[x], out);
    }
    return;
  }
  for (size_t x = 0; x < results; ++x, out += channels) {
    for (size_t channel = 0; channel < channels; ++channel) {
      const float lower = row[taps.lower[x] * channels + channel];
      const float upper = row[taps.upper[x] * channels + channel];
      out[channel] = lower + (upper - lower) * taps.share[x];
    }
  }
}

template <size_t kChannels>
void SumPixelsAcross(const float* row, const Spans& spans, float* out) {
  for (const Spans::Span& span : spans.spans) {
    const float* pixel = row + span.first * kChannels;
    const float* weight = spans.weights.data() + span.offset;
    Lanes sum = {};
    for (size_t k = 0; k < span.count; ++k, pixel += kChannels) sum += Load(pixel) * weight[k];
    Store(sum, out);
    out += kChannels;
  }
}

void SumAcross(const float* row, const Spans& spans, size_t channels, float* out) {
  if (channels == 3) return SumPixelsAcross<3>(row, spans, out);
  if (channels == kLanes) return SumPixelsAcross<kLanes>(row, spans, out);
  for (const Spans::Span& span : spans.spans) {
    const float* weight = spans.weights.data() + span.offset;
    for (size_t channel = 0; channel < channels; ++channel) {
      const float* value = row + span.first * channels + channel;
      float sum = 0;
      for (size_t k = 0; k < span.count; ++k, value += channels) sum += *value * weight[k];
      *out++ = sum;
    }
  }
}

void PickAcross(const float* row, const std::vector<size_t>& pixels, size_t channels, float* out) {
  for (const size_t pixel : pixels) {
    std::memcpy(out, row + pixel * channels, channels * sizeof(float));
    out += channels;
  }
}

template <typename T>
void WritePlanes(const T* row, size_t columns, size_t channels, const Canvas& canvas, uint8_t* out) {
  for (size_t channel = 0; channel < channels; ++channel, out += canvas.plane) {
    T* const plane = reinterpret_cast<T*>(out);
    for (size_t x = 0; x < columns; ++x) plane[x] = row[x * channels + channel];
  }
}

// ---- What is kept between images ----

// Steps whose operands are repeated for a whole row.
class RowSteps {
 public:
  explicit RowSteps(const std::vector<Step>& steps) : steps_(steps), operands_(steps.size()) {}

  bool empty() const { return steps_.empty(); }

  void Apply(float* row, size_t count) {
    for (size_t i = 0; i < steps_.size(); ++i) {
      const std::vector<float>& period = steps_[i].operands;
      std::vector<float>& operands = operands_[i];
      while (operands.size() < count) operands.insert(operands.end(), period.begin(), period.end());
      Rows().apply(steps_[i].kind, operands.data(), row, count);
    }
  }

 private:
  const std::vector<Step>& steps_;
  std::vector<std::vector<float>> operands_;
};

// The tables of the last axes.
template <typename Table>
class Tables {
 public:
  template <typename Make>
  std::shared_ptr<const Table> Get(const Axis& axis, Make make) {
    for (const auto& [key, table] : entries_) {
      if (table != nullptr && key == axis) return table;
    }
    auto& entry = entries_[next_++ % entries_.size()];
    entry.second = nullptr;
    entry = {axis, std::make_shared<const Table>(make(axis))};
    return entry.second;
  }

 private:
  std::array<std::pair<Axis, std::shared_ptr<const Table>>, 8> entries_;
  size_t next_ = 0;
};

}  // namespace

class Resizer::Impl {
 public:
  explicit Impl(const Drawing& drawing)
      : drawing_(drawing),
        pixel_(drawing.channels * (drawing.float_pixels ? sizeof(float) : 1)),
        before_(drawing_.before),
        after_(drawing_.after) {}

  const Drawing& drawing() const { return drawing_; }

  Status Draw(const Pixels& image, const ResizedWindow& window, const Canvas& canvas) {
    TFR_RETURN_IF_ERROR(Check(image, window));
    if (window.rows == 0 || window.columns == 0 || drawing_.channels == 0) return Status();
    const bool has_part = image.part.height != 0;
    const Axis down = {
        image.height,     image.part.top, has_part ? image.part.height : static_cast<double>(image.height),
        window.height,    window.top,     window.rows,
        image.upside_down};
    const Axis across = {image.width,   image.part.left, has_part ? image.part.width : static_cast<double>(image.width),
                         window.width,  window.left,     window.columns,
                         image.mirrored};
    row_.resize(window.columns * drawing_.channels + kLanes);
    const bool is_blend =
        drawing_.method == Method::kBilinear && !(drawing_.antialias && drawing_.alignment == Alignment::kHalfPixels);
    if (drawing_.method == Method::kNearest || drawing_.alignment == Alignment::kSameSize) {
      Pick(image, down, across, canvas);
    } else if (is_blend) {
      Blend(image, down, across, canvas);
    } else {
      Sum(image, down, across, canvas);
    }
    return Status();
  }

 private:
  Status Check(const Pixels& image, const ResizedWindow& window) const {
    TFR_RETURN_IF_ERROR(CheckSizes(image, drawing_.alignment, window.height, window.width));
    const bool is_same = drawing_.alignment == Alignment::kSameSize;
    const auto holds = [](size_t length, size_t first, size_t count) {
      return first <= length && count <= length - first;
    };
    if (!holds(window.height, window.top, window.rows) || !holds(window.width, window.left, window.columns)) {
      return Status::InvalidArgument("a window is not within the resized image");
    }
    const PixelPart& part = image.part;
    const auto within = [](double start, double extent, size_t length) {
      return start >= 0 && extent > 0 && start + extent <= static_cast<double>(length);
    };
    if (part.height != 0 &&
        (drawing_.alignment != Alignment::kHalfPixels || !within(part.top, part.height, image.height) ||
         !within(part.left, part.width, image.width))) {
      return Status::InvalidArgument("the part to resize is not within the image");
    }
    const bool has_weights = drawing_.method == Method::kBilinear || drawing_.method == Method::kNearest ||
                             HasSpans(drawing_.method, drawing_.alignment);
    return is_same || has_weights ? Status()
                                  : Status::InvalidArgument("the method needs pixels that are aligned by their edges");
  }

  // ---- Rows of pixels ----

  const uint8_t* Row(const Pixels& image, size_t number) const {
    return image.data + static_cast<ptrdiff_t>(number) * image.stride;
  }

  // Converts the pixels [first, end) of a row to float32; `row` begins with the pixel 0.
  void Convert(const Pixels& image, size_t number, size_t first, size_t end, float* row) {
    const uint8_t* const pixels = Row(image, number) + first * pixel_;
    float* const begin = row + first * drawing_.channels;
    const size_t count = (end - first) * drawing_.channels;
    if (drawing_.float_pixels) {
      std::memcpy(begin, pixels, count * sizeof(float));
    } else {
      Rows().convert(pixels, count, begin);
    }
    before_.Apply(begin, count);
  }

  // Writes row_ as row `y` of the canvas.
  void Finish(size_t y, size_t columns, const Canvas& canvas) {
    const size_t count = columns * drawing_.channels;
    uint8_t* const out = static_cast<uint8_t*>(canvas.data) + static_cast<ptrdiff_t>(y) * canvas.row;
    after_.Apply(row_.data(), count);
    if (drawing_.float_results) {
      if (drawing_.channels_first) {
        WritePlanes(row_.data(), columns, drawing_.channels, canvas, out);
      } else {
        std::memcpy(out, row_.data(), count * sizeof(float));
      }
    } else if (drawing_.channels_first) {
      bytes_.resize(count);
      Rows().round(row_.data(), count, bytes_.data());
      WritePlanes(bytes_.data(), columns, drawing_.channels, canvas, out);
    } else {
      Rows().round(row_.data(), count, out);
    }
  }

  // ---- Ways ----

  void Pick(const Pixels& image, const Axis& down, const Axis& across, const Canvas& canvas) {
    // Equal sizes are aligned in any way.
    const Alignment alignment = drawing_.alignment == Alignment::kSameSize ? Alignment::kTopLeft : drawing_.alignment;
    const auto make = [&](const Axis& axis) { return NearestPixels(axis, alignment); };
    const auto rows = nearest_.Get(down, make), columns = nearest_.Get(across, make);
    const auto [first, last] = std::minmax(columns->front(), columns->back());
    source_.resize((last + 1) * drawing_.channels);
    for (size_t y = 0; y < rows->size(); ++y) {
      if (y == 0 || (*rows)[y] != (*rows)[y - 1]) Convert(image, (*rows)[y], first, last + 1, source_.data());
      PickAcross(source_.data(), *columns, drawing_.channels, row_.data());
      Finish(y, columns->size(), canvas);
    }
  }

  void Blend(const Pixels& image, const Axis& down, const Axis& across, const Canvas& canvas) {
    const auto make = [&](const Axis& axis) { return FindNeighbours(axis, drawing_.alignment); };
    const auto rows = neighbours_.Get(down, make), columns = neighbours_.Get(across, make);
    const size_t first = std::min(columns->lower.front(), columns->lower.back());
    const size_t end = std::max(columns->upper.front(), columns->upper.back()) + 1;
    const size_t count = across.count * drawing_.channels;
    source_.resize(end * drawing_.channels + kLanes);
    size_t numbers[2] = {kNone, kNone};
    const auto keep = [&](size_t number, size_t slot) -> const float* {
      if (numbers[slot] != number) {
        Convert(image, number, first, end, source_.data());
        BlendAcross(source_.data(), *columns, drawing_.channels, kept_[slot].data());
        numbers[slot] = number;
      }
      return kept_[slot].data();
    };
    for (auto& row : kept_) row.resize(count + kLanes);
    for (size_t y = 0; y < down.count; ++y) {
      const size_t above = rows->lower[y], below = rows->upper[y];
      const size_t slot = numbers[1] == above || (numbers[0] == below && numbers[0] != above) ? 1 : 0;
      const float* const lower = keep(above, slot);
      const float* const upper = above == below ? lower : keep(below, 1 - slot);
      Rows().blend(lower, upper, rows->share[y], count, row_.data());
      Finish(y, across.count, canvas);
    }
  }

  void Sum(const Pixels& image, const Axis& down, const Axis& across, const Canvas& canvas) {
    const auto make = [&](const Axis& axis) {
      return FindSpans(axis, drawing_.method, drawing_.alignment, drawing_.antialias);
    };
    const auto rows = spans_.Get(down, make), columns = spans_.Get(across, make);
    const size_t first = columns->first * drawing_.channels, end = columns->end * drawing_.channels;
    source_.resize(end + kLanes);
    const bool converts = !before_.empty();
    const bool is_float = drawing_.float_pixels || converts;
    const auto sum = is_float ? Rows().sum_floats : Rows().sum_bytes;
    // Rows after `before`: the row n is in the slot n % longest.
    const size_t size = end + kLanes;
    converted_.resize(converts ? rows->longest * size : 0);
    numbers_.assign(converts ? rows->longest : 0, kNone);
    for (size_t y = 0; y < down.count; ++y) {
      const Spans::Span& span = rows->spans[y];
      pointers_.clear();
      for (size_t number = span.first; number < span.first + span.count; ++number) {
        const uint8_t* row = Row(image, number);
        if (converts) {
          const size_t slot = number % rows->longest;
          float* const floats = converted_.data() + slot * size;
          if (numbers_[slot] != number) Convert(image, number, columns->first, columns->end, floats);
          numbers_[slot] = number;
          row = reinterpret_cast<const uint8_t*>(floats);
        }
        pointers_.push_back(row + first * (is_float ? sizeof(float) : 1));
      }
      sum(pointers_.data(), rows->weights.data() + span.offset, span.count, end - first, source_.data() + first);
      SumAcross(source_.data(), *columns, drawing_.channels, row_.data());
      Finish(y, across.count, canvas);
    }
  }

  const Drawing drawing_;
  const size_t pixel_;  // bytes
  RowSteps before_, after_;
  Tables<std::vector<size_t>> nearest_;
  Tables<Neighbours> neighbours_;
  Tables<Spans> spans_;
  std::vector<float> source_, row_, converted_;
  std::vector<float> kept_[2];
  std::vector<size_t> numbers_;
  std::vector<const uint8_t*> pointers_;
  std::vector<uint8_t> bytes_;
};

Resizer::Resizer(const Drawing& drawing) : impl_(std::make_unique<Impl>(drawing)) {}

Resizer::~Resizer() = default;

Status Resizer::Draw(const Pixels& image, const ResizedWindow& window, const Canvas& canvas) {
  return impl_->Draw(image, window, canvas);
}

Status Resizer::Draw(const Pixels& image, const ResizedWindow& window, void* out) {
  const Drawing& drawing = impl_->drawing();
  const size_t size = drawing.float_results ? sizeof(float) : 1;
  const size_t row = window.columns * size * (drawing.channels_first ? 1 : drawing.channels);
  return impl_->Draw(image, window, {out, static_cast<ptrdiff_t>(row), static_cast<ptrdiff_t>(window.rows * row)});
}

}  // namespace tfr
