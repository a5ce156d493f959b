// Bilinear interpolation and arithmetic, row by row; see draw.h.
//
// Each row of pixels that a result needs is converted to float32, and interpolated horizontally, once: the rows of
// results ask for them in order, and the last two are kept.

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/cpu.h"
#include "base/parallel.h"
#include "images/draw.h"
#include "images/taps.h"

namespace tfr {
namespace {

typedef float Lanes __attribute__((vector_size(16)));
constexpr size_t kLanes = 4;
constexpr size_t kNone = std::numeric_limits<size_t>::max();

inline Lanes Load(const float* p) {
  Lanes lanes;
  std::memcpy(&lanes, p, sizeof lanes);
  return lanes;
}

inline void Store(Lanes lanes, float* p) { std::memcpy(p, &lanes, sizeof lanes); }

// A step whose operands are repeated for a whole row.
struct RowStep {
  Step::Kind kind;
  std::vector<float> operands;
};

std::vector<RowStep> RowSteps(const std::vector<Step>& steps, size_t channels, size_t width) {
  std::vector<RowStep> rows;
  for (const Step& step : steps) {
    rows.push_back({step.kind, std::vector<float>(width * channels)});
    for (size_t i = 0; i < width * channels; ++i) rows.back().operands[i] = step.operands[i % channels];
  }
  return rows;
}

// The loops over whole rows, which compilers vectorise.

inline __attribute__((always_inline)) void ApplyLoop(Step::Kind kind, const float* operands, float* row, size_t count) {
  switch (kind) {
    case Step::Kind::kMultiply:
      for (size_t i = 0; i < count; ++i) row[i] *= operands[i];
      break;
    case Step::Kind::kDivide:
      for (size_t i = 0; i < count; ++i) row[i] /= operands[i];
      break;
    case Step::Kind::kAdd:
      for (size_t i = 0; i < count; ++i) row[i] += operands[i];
      break;
    case Step::Kind::kSubtract:
      for (size_t i = 0; i < count; ++i) row[i] -= operands[i];
      break;
  }
}

inline __attribute__((always_inline)) void ConvertLoop(const uint8_t* data, size_t count, float* row) {
  for (size_t i = 0; i < count; ++i) row[i] = static_cast<float>(data[i]);
}

inline __attribute__((always_inline)) void DownLoop(const float* lower, const float* upper, float share, size_t count,
                                                    float* out) {
  for (size_t i = 0; i < count; ++i) out[i] = lower[i] + (upper[i] - lower[i]) * share;
}

struct RowOps {
  void (*apply)(Step::Kind kind, const float* operands, float* row, size_t count);
  void (*convert)(const uint8_t* data, size_t count, float* row);
  void (*down)(const float* lower, const float* upper, float share, size_t count, float* out);
};

constexpr RowOps kPortable = {
    [](Step::Kind kind, const float* operands, float* row, size_t count) { ApplyLoop(kind, operands, row, count); },
    [](const uint8_t* data, size_t count, float* row) { ConvertLoop(data, count, row); },
    [](const float* lower, const float* upper, float share, size_t count, float* out) {
      DownLoop(lower, upper, share, count, out);
    }};

#if defined(__x86_64__)
#define TFR_AVX2 __attribute__((target("avx2")))

TFR_AVX2 void ApplyAvx2(Step::Kind kind, const float* operands, float* row, size_t count) {
  ApplyLoop(kind, operands, row, count);
}

TFR_AVX2 void ConvertAvx2(const uint8_t* data, size_t count, float* row) { ConvertLoop(data, count, row); }

TFR_AVX2 void DownAvx2(const float* lower, const float* upper, float share, size_t count, float* out) {
  DownLoop(lower, upper, share, count, out);
}

constexpr RowOps kAvx2 = {ApplyAvx2, ConvertAvx2, DownAvx2};
#endif

const RowOps& Ops() {
#if defined(__x86_64__)
  if (Cpu().avx2) return kAvx2;
#endif
  return kPortable;
}

void Apply(const std::vector<RowStep>& steps, float* row, size_t count) {
  for (const RowStep& step : steps) Ops().apply(step.kind, step.operands.data(), row, count);
}

void Convert(const uint8_t* data, bool is_float, size_t count, float* row) {
  if (is_float) {
    std::memcpy(row, data, count * sizeof(float));
  } else {
    Ops().convert(data, count, row);
  }
}

// kLanes values may be read after a row's last pixel, and be written after the results.
void InterpolateAcross(const float* row, const Taps& taps, size_t channels, float* out) {
  const size_t results = taps.share.size();
  if (channels == 3 || channels == kLanes) {
    for (size_t x = 0; x < results; ++x, out += channels) {
      const Lanes lower = Load(row + taps.first[x]);
      const Lanes upper = Load(row + taps.second[x]);
      Store(lower + (upper - lower) * taps.share[x], out);
    }
    return;
  }
  for (size_t x = 0; x < results; ++x, out += channels) {
    for (size_t channel = 0; channel < channels; ++channel) {
      const float lower = row[taps.first[x] + channel];
      const float upper = row[taps.second[x] + channel];
      out[channel] = lower + (upper - lower) * taps.share[x];
    }
  }
}

// The rows of an image, interpolated horizontally.
class Rows {
 public:
  Rows(const Pixels& image, bool is_float, const Drawing& drawing, const std::vector<RowStep>& before)
      : image_(image),
        is_float_(is_float),
        channels_(drawing.channels),
        before_(before),
        taps_(MakeTaps(image.width, drawing.width, drawing.alignment, image.mirrored, drawing.channels)),
        source_(image.width * channels_ + kLanes) {
    for (auto& row : kept_) row.resize(drawing.width * channels_ + kLanes);
  }

  // Sets *lower and *upper to two rows, which stay valid until the next call.
  void Get(size_t first, size_t second, const float** lower, const float** upper) {
    const size_t place = numbers_[1] == first || (numbers_[0] == second && numbers_[0] != first) ? 1 : 0;
    *lower = Keep(first, place);
    *upper = first == second ? *lower : Keep(second, 1 - place);
  }

 private:
  const float* Keep(size_t number, size_t place) {
    float* const row = kept_[place].data();
    if (numbers_[place] == number) return row;
    const size_t count = image_.width * channels_;
    Convert(image_.data + static_cast<ptrdiff_t>(number) * image_.stride, is_float_, count, source_.data());
    Apply(before_, source_.data(), count);
    InterpolateAcross(source_.data(), taps_, channels_, row);
    numbers_[place] = number;
    return row;
  }

  const Pixels& image_;
  const bool is_float_;
  const size_t channels_;
  const std::vector<RowStep>& before_;
  const Taps taps_;
  std::vector<float> source_;
  std::vector<float> kept_[2];
  size_t numbers_[2] = {kNone, kNone};
};

void Resize(const Pixels& image, bool is_float, const Drawing& drawing, const std::vector<RowStep>& before,
            const std::vector<RowStep>& after, float* out) {
  const size_t count = drawing.width * drawing.channels;
  const Taps taps = MakeTaps(image.height, drawing.height, drawing.alignment, image.upside_down, 1);
  Rows rows(image, is_float, drawing, before);
  for (size_t y = 0; y < drawing.height; ++y, out += count) {
    const float *lower, *upper;
    rows.Get(taps.first[y], taps.second[y], &lower, &upper);
    Ops().down(lower, upper, taps.share[y], count, out);
    Apply(after, out, count);
  }
}

void MirrorRow(const float* row, size_t width, size_t channels, float* out) {
  for (size_t x = 0; x < width; ++x) {
    std::memcpy(out + x * channels, row + (width - 1 - x) * channels, channels * sizeof(float));
  }
}

void Copy(const Pixels& image, bool is_float, const Drawing& drawing, const std::vector<RowStep>& before,
          const std::vector<RowStep>& after, float* out) {
  const size_t count = drawing.width * drawing.channels;
  std::vector<float> source(image.mirrored ? count : 0);
  for (size_t y = 0; y < drawing.height; ++y, out += count) {
    const size_t number = image.upside_down ? drawing.height - 1 - y : y;
    float* const row = image.mirrored ? source.data() : out;
    Convert(image.data + static_cast<ptrdiff_t>(number) * image.stride, is_float, count, row);
    if (image.mirrored) MirrorRow(row, drawing.width, drawing.channels, out);
    Apply(before, out, count);
    Apply(after, out, count);
  }
}

}  // namespace

Status DrawImages(const Drawing& drawing, bool is_float, const std::vector<Pixels>& images,
                  const std::vector<Step>& before, const std::vector<Step>& after, float* out, size_t num_threads) {
  const size_t size = drawing.height * drawing.width * drawing.channels;
  if (size == 0) return Status();
  size_t widest = 0;
  for (const Pixels& image : images) {
    TFR_RETURN_IF_ERROR(CheckSize(drawing, image));
    widest = std::max(widest, image.width);
  }
  const std::vector<RowStep> row_after = RowSteps(after, drawing.channels, drawing.width);
  const std::vector<RowStep> row_before = RowSteps(before, drawing.channels, widest);
  return ParallelTry(images.size(), num_threads, [&](size_t i) {
    if (drawing.alignment == Alignment::kSameSize) {
      Copy(images[i], is_float, drawing, row_before, row_after, out + i * size);
    } else {
      Resize(images[i], is_float, drawing, row_before, row_after, out + i * size);
    }
    return Status();
  });
}

}  // namespace tfr
