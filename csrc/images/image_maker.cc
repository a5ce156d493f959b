// Decodes the part of an image that is needed, and resizes it; see image_maker.h.

#include "images/image_maker.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace tfr {
namespace {

constexpr size_t kMostKept = 64 << 20;  // bytes of decoded pixels between two images

Drawing DrawingOf(const ImageSpec& spec, Alignment alignment) {
  Drawing drawing;
  drawing.channels = spec.channels;
  drawing.method = spec.method;
  drawing.alignment = alignment;
  drawing.antialias = spec.antialias && spec.method != Method::kNearest && spec.method != Method::kArea;
  drawing.float_results = spec.float_results;
  drawing.channels_first = spec.channels_first;
  return drawing;
}

// The size that torchvision's Resize(shorter_side) makes of a length.
size_t Resized(size_t length, size_t shorter, size_t shorter_side) {
  return static_cast<size_t>(static_cast<double>(shorter_side) * static_cast<double>(length) /
                             static_cast<double>(shorter));
}

// The first row or column of torchvision's CenterCrop: halves are rounded to even numbers.
size_t CentreStart(size_t length, size_t part) {
  return static_cast<size_t>(std::nearbyint(static_cast<double>(length - part) / 2));
}

// The whole pixels that hold [first, first + length) / ratio, of which there are at most `most`; and where those begin
// in them.
double Reduce(size_t ratio, size_t most, size_t* first, size_t* length) {
  const double begin = static_cast<double>(*first) / static_cast<double>(ratio);
  const size_t end = std::min((*first + *length + ratio - 1) / ratio, most);
  *first /= ratio;
  *length = end - *first;
  return begin - static_cast<double>(*first);
}

// The part of the resized crop that is drawn: all of it or, with `shorter_side`, its centre.
ResizedWindow WindowOf(const ImageSpec& spec, size_t height, size_t width) {
  ResizedWindow window = ResizedWindow::Whole(spec.height, spec.width);
  if (spec.shorter_side == 0) return window;
  const size_t shorter = std::min(height, width);
  window.height = Resized(height, shorter, spec.shorter_side);
  window.width = Resized(width, shorter, spec.shorter_side);
  window.top = CentreStart(window.height, window.rows);
  window.left = CentreStart(window.width, window.columns);
  return window;
}

}  // namespace

ImageMaker::ImageMaker(const ImageSpec& spec)
    : spec_(spec), resizer_(DrawingOf(spec, Alignment::kHalfPixels)), copier_(DrawingOf(spec, Alignment::kSameSize)) {}

Status ImageMaker::Open(const Bytes& file, size_t ratio) {
  if (file.size == 0) return Status::InvalidArgument("the image has no bytes");
  DecodeOptions options;
  options.channels = spec_.channels;
  options.max_pixels = spec_.max_pixels;
  options.ratio = ratio;
  return decoder_.Open({reinterpret_cast<const char*>(file.data), file.size}, options);
}

// How much smaller a JPEG may be decoded, so that it is still as large as the result.
size_t ImageMaker::RatioFor(const Crop& crop) const {
  if (spec_.exact || spec_.own_size() || decoder_.header().format != ImageFormat::kJpeg) return 1;
  const size_t height = std::max(spec_.height, spec_.shorter_side), width = std::max(spec_.width, spec_.shorter_side);
  for (const size_t ratio : {8, 4, 2}) {
    if (crop.height / ratio >= height && crop.width / ratio >= width) return ratio;
  }
  return 1;
}

Status ImageMaker::Make(const Bytes& file, Random random, uint8_t* out) {
  TFR_RETURN_IF_ERROR(Open(file, 1));
  const size_t height = decoder_.height(), width = decoder_.width();
  Crop crop = CropOf(spec_, height, width, random);
  const bool blurs = spec_.method == Method::kGaussian || spec_.method == Method::kMitchellCubic;
  const bool is_copy = crop.height == spec_.height && crop.width == spec_.width && spec_.shorter_side == 0 && !blurs;
  if (is_copy && IsAsDecoded(crop)) return DecodeCrop(crop, out);
  const size_t ratio = RatioFor(crop);
  Pixels pixels;
  if (ratio > 1) {
    TFR_RETURN_IF_ERROR(Open(file, ratio));
    pixels.part.height = static_cast<double>(crop.height) / static_cast<double>(ratio);
    pixels.part.width = static_cast<double>(crop.width) / static_cast<double>(ratio);
    pixels.part.top = Reduce(ratio, decoder_.height(), &crop.top, &crop.height);
    pixels.part.left = Reduce(ratio, decoder_.width(), &crop.left, &crop.width);
  }
  TFR_RETURN_IF_ERROR(DecodeToRows(crop, &pixels));
  if (is_copy) return copier_.Draw(pixels, ResizedWindow::Whole(spec_.height, spec_.width), out);
  return resizer_.Draw(pixels, WindowOf(spec_, height, width), out);
}

Status ImageMaker::Make(const Bytes& file, Random random, OwnSize* image) {
  TFR_RETURN_IF_ERROR(Open(file, 1));
  const Crop crop = CropOf(spec_, decoder_.height(), decoder_.width(), random);
  image->height = crop.height;
  image->width = crop.width;
  const size_t values = crop.height * crop.width * spec_.channels;
  if (!AllocateBlock(values, spec_.value_bytes(), 0, &image->values))
    return Status::OutOfMemory("no memory for images");
  if (IsAsDecoded(crop)) return DecodeCrop(crop, image->values.data);
  Pixels pixels;
  TFR_RETURN_IF_ERROR(DecodeToRows(crop, &pixels));
  return copier_.Draw(pixels, ResizedWindow::Whole(crop.height, crop.width), image->values.data);
}

bool ImageMaker::IsAsDecoded(const Crop& crop) const {
  return !crop.mirrored && !spec_.float_results && !spec_.channels_first;
}

Status ImageMaker::DecodeToRows(const Crop& crop, Pixels* pixels) {
  const size_t bytes = crop.height * crop.width * spec_.channels;
  if (rows_.size() < bytes || rows_.size() > kMostKept) {
    std::vector<uint8_t>().swap(rows_);  // without copying what it holds
    rows_.resize(bytes);
  }
  pixels->data = rows_.data();
  pixels->stride = static_cast<ptrdiff_t>(crop.width * spec_.channels);
  pixels->height = crop.height;
  pixels->width = crop.width;
  pixels->mirrored = crop.mirrored;
  return DecodeCrop(crop, rows_.data());
}

Status ImageMaker::DecodeCrop(const Crop& crop, uint8_t* out) {
  const auto stride = static_cast<ptrdiff_t>(crop.width * spec_.channels);
  if (crop.height == decoder_.height() && crop.width == decoder_.width()) return decoder_.Decode(out, stride);
  return decoder_.DecodeRegion({crop.top, crop.left, crop.height, crop.width}, out, stride);
}

}  // namespace tfr
