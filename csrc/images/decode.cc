// Chooses the decoder of a format, and checks regions; see decode.h.

#include "images/decode.h"

#include <string>
#include <utility>

#include "images/format_decoder.h"

namespace tfr {
namespace {

constexpr std::string_view kJpegStart = "\xFF\xD8\xFF";
constexpr std::string_view kPngStart = "\x89PNG\r\n\x1A\n";

std::string Sides(size_t height, size_t width) { return std::to_string(height) + " x " + std::to_string(width); }

}  // namespace

ImageFormat FormatOf(std::string_view file) {
  if (file.substr(0, kJpegStart.size()) == kJpegStart) return ImageFormat::kJpeg;
  if (file.substr(0, kPngStart.size()) == kPngStart) return ImageFormat::kPng;
  return ImageFormat::kOther;
}

namespace {

// kInvalidArgument: no pixels, more than max_pixels, or more than the file can hold: `most_per_byte` in each byte.
Status CheckPixels(const ImageHeader& header, size_t max_pixels, size_t file_bytes, size_t most_per_byte) {
  const size_t pixels = header.height * header.width;  // of two numbers below 2 ** 31
  if (pixels == 0) return Status::InvalidArgument("the image has no pixels");
  if (pixels > max_pixels) {
    return Status::InvalidArgument("an image of " + Sides(header.height, header.width) + " pixels has more than " +
                                   std::to_string(max_pixels));
  }
  if (pixels / most_per_byte > file_bytes) {
    return Status::InvalidArgument("an image of " + Sides(header.height, header.width) + " pixels needs more than " +
                                   std::to_string(file_bytes) + " bytes: it is truncated or damaged");
  }
  return Status();
}

}  // namespace

class ImageDecoder::State {
 public:
  Status Open(std::string_view file, const DecodeOptions& options) {
    TFR_RETURN_IF_ERROR(ReadHeader(file, options));
    const Status status = Prepare(file, options);
    if (!status.ok()) Close();
    return status;
  }

  Status ReadHeader(std::string_view file, const DecodeOptions& options) {
    Close();
    header = ImageHeader();
    size = ImageSize();
    const ImageFormat format = FormatOf(file);
    if (format == ImageFormat::kOther) return Status::InvalidArgument("the image is neither a JPEG nor a PNG");
    std::unique_ptr<FormatDecoder>& decoder = format == ImageFormat::kJpeg ? jpeg_ : png_;
    if (decoder == nullptr) decoder = format == ImageFormat::kJpeg ? MakeJpegDecoder() : MakePngDecoder();
    const Status status = decoder->ReadHeader(file, options, &header);
    if (status.ok()) {
      opened_ = decoder.get();
    } else {
      decoder->Close();
    }
    return status;
  }

  Status Prepare(std::string_view file, const DecodeOptions& options) {
    TFR_RETURN_IF_ERROR(CheckPixels(header, options.max_pixels, file.size(), opened_->MostPixelsPerByte()));
    TFR_RETURN_IF_ERROR(opened_->Prepare(options, &size));
    pixel_bytes = options.sixteen_bits ? 2 * size.channels : size.channels;
    return Status();
  }

  Status Decode(const Region& region, const Rows& rows) {
    if (opened_ == nullptr) return Status::InvalidArgument("no image is open");
    if (region.height == 0 || region.width == 0 || region.height > size.height || region.width > size.width ||
        region.top > size.height - region.height || region.left > size.width - region.width) {
      return Status::InvalidArgument("a region of " + Sides(region.height, region.width) + " pixels at (" +
                                     std::to_string(region.top) + ", " + std::to_string(region.left) +
                                     ") is not within an image of " + Sides(size.height, size.width));
    }
    const Status status = opened_->Decode(region, rows);
    Close();
    return status;
  }

  void Close() {
    if (opened_ != nullptr) std::exchange(opened_, nullptr)->Close();
  }

  ImageHeader header;
  ImageSize size;
  size_t pixel_bytes = 0;

 private:
  std::unique_ptr<FormatDecoder> jpeg_;
  std::unique_ptr<FormatDecoder> png_;
  FormatDecoder* opened_ = nullptr;
};

ImageDecoder::ImageDecoder() : state_(std::make_unique<State>()) {}
ImageDecoder::~ImageDecoder() = default;
ImageDecoder::ImageDecoder(ImageDecoder&&) noexcept = default;
ImageDecoder& ImageDecoder::operator=(ImageDecoder&&) noexcept = default;

const ImageHeader& ImageDecoder::header() const { return state_->header; }
size_t ImageDecoder::height() const { return state_->size.height; }
size_t ImageDecoder::width() const { return state_->size.width; }
size_t ImageDecoder::channels() const { return state_->size.channels; }
size_t ImageDecoder::pixel_bytes() const { return state_->pixel_bytes; }

Status ImageDecoder::Open(std::string_view file, const DecodeOptions& options) {
  return WithoutThrowing([&] { return state_->Open(file, options); });
}

Status ImageDecoder::Decode(uint8_t* out, ptrdiff_t stride) {
  return DecodeRegion({0, 0, height(), width()}, out, stride);
}

Status ImageDecoder::DecodeRegion(const Region& region, uint8_t* out, ptrdiff_t stride) {
  return WithoutThrowing([&] { return state_->Decode(region, {out, stride}); });
}

Status ReadImageHeader(std::string_view file, ImageHeader* header) {
  return WithoutThrowing([&] {
    ImageDecoder::State state;
    TFR_RETURN_IF_ERROR(state.ReadHeader(file, DecodeOptions()));
    *header = state.header;
    return Status();
  });
}

}  // namespace tfr
