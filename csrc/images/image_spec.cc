// Draws and computes crops; see image_spec.h.

#include "images/image_spec.h"

#include <algorithm>
#include <cmath>

namespace tfr {
namespace {

constexpr uint64_t kCropUse = 3;
constexpr uint64_t kRecordFactor = 0x9e3779b97f4a7c15u;
constexpr uint64_t kCrcFactor = 0xd1342543de82ef95u;
constexpr int kTries = 10;

// In [0, 1).
double Uniform(Random* random) { return static_cast<double>(random->Next() >> 11) * 0x1p-53; }

double Between(const double (&limits)[2], Random* random) {
  return limits[0] + Uniform(random) * (limits[1] - limits[0]);
}

// At least 1, at most `most`.
size_t Rounded(double length, size_t most) {
  return std::clamp<size_t>(static_cast<size_t>(std::nearbyint(length)), 1, most);
}

Crop Centred(size_t height, size_t width, size_t of_height, size_t of_width) {
  return {(of_height - height) / 2, (of_width - width) / 2, height, width};
}

// The largest centred window whose width by height is `ratio`.
Crop LargestOf(double ratio, size_t height, size_t width) {
  const auto high = static_cast<double>(height), wide = static_cast<double>(width);
  return wide > high * ratio ? Centred(height, Rounded(high * ratio, width), height, width)
                             : Centred(Rounded(wide / ratio, height), width, height, width);
}

Crop RandomWindow(const ImageSpec& spec, size_t height, size_t width, Random* random) {
  const double area = static_cast<double>(height) * static_cast<double>(width);
  const double logs[2] = {std::log(spec.ratio[0]), std::log(spec.ratio[1])};
  for (int i = 0; i < kTries; ++i) {
    const double share = area * Between(spec.scale, random);
    const double ratio = std::exp(Between(logs, random));
    const double wide = std::nearbyint(std::sqrt(share * ratio)), high = std::nearbyint(std::sqrt(share / ratio));
    if (wide < 1 || high < 1 || wide > static_cast<double>(width) || high > static_cast<double>(height)) continue;
    Crop crop;
    crop.height = static_cast<size_t>(high);
    crop.width = static_cast<size_t>(wide);
    crop.top = random->Below(height - crop.height + 1);
    crop.left = random->Below(width - crop.width + 1);
    return crop;
  }
  const double ratio = static_cast<double>(width) / static_cast<double>(height);
  return LargestOf(std::clamp(ratio, spec.ratio[0], spec.ratio[1]), height, width);
}

Crop Window(const ImageSpec& spec, size_t height, size_t width, Random* random) {
  if (spec.crop == ImageSpec::Crop::kRandom) return RandomWindow(spec, height, width, random);
  if (spec.crop == ImageSpec::Crop::kCenter && spec.shorter_side == 0) {
    return LargestOf(static_cast<double>(spec.width) / static_cast<double>(spec.height), height, width);
  }
  return {0, 0, height, width};
}

}  // namespace

Status CheckImageSpec(const ImageSpec& spec) {
  size_t values;
  const char* wrong = nullptr;
  if ((spec.height == 0) != (spec.width == 0) || __builtin_mul_overflow(spec.height, spec.width, &values) ||
      __builtin_mul_overflow(values, spec.channels * spec.value_bytes(), &values)) {
    wrong = "size: out of range";
  } else if (spec.channels != 1 && spec.channels != 3) {
    wrong = "channels: expected 1 or 3";
  } else if (spec.own_size() && spec.crop != ImageSpec::Crop::kNone) {
    wrong = "crop: expected a size";
  } else if (spec.shorter_side != 0 && (spec.crop != ImageSpec::Crop::kCenter || spec.shorter_side < spec.height ||
                                        spec.shorter_side < spec.width)) {
    wrong = "shorter_side: expected a centre crop that is not larger";
  } else if (!(spec.scale[0] > 0 && spec.scale[0] <= spec.scale[1] && spec.scale[1] <= 1)) {
    wrong = "scale: expected 0 < least <= largest <= 1";
  } else if (!(spec.ratio[0] > 0 && spec.ratio[0] <= spec.ratio[1] && std::isfinite(spec.ratio[1]))) {
    wrong = "ratio: expected 0 < least <= largest";
  }
  return wrong == nullptr ? Status() : Status::InvalidArgument(wrong);
}

Random RandomOfRecord(uint64_t seed, int64_t epoch, int64_t record, uint32_t crc) {
  Random of_epoch = Random::For(seed, kCropUse, static_cast<uint64_t>(epoch));
  Random of_record(of_epoch.Next() ^ (static_cast<uint64_t>(record) * kRecordFactor));
  return Random(of_record.Next() ^ (crc * kCrcFactor));
}

Crop CropOf(const ImageSpec& spec, size_t height, size_t width, Random random) {
  const bool heads = (random.Next() >> 63) != 0;  // before the window, which takes any number of draws
  Crop crop = Window(spec, height, width, &random);
  crop.mirrored = spec.flip && heads;
  return crop;
}

}  // namespace tfr
