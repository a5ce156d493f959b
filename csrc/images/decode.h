// Decodes JPEGs and PNGs into memory that the caller owns, with TensorFlow's pixels.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/status.h"

namespace tfr {

enum class ImageFormat : uint8_t { kOther, kJpeg, kPng };

// The format that the first bytes of a file show.
ImageFormat FormatOf(std::string_view file);

// TensorFlow's limit for a JPEG of 3 channels, which takes 512 MiB.
constexpr size_t kMaxPixels = (size_t{1} << 29) / 3;

struct ImageHeader {
  ImageFormat format = ImageFormat::kOther;
  size_t height = 0;
  size_t width = 0;
  size_t channels = 0;   // 4 for a CMYK JPEG, which decodes to 3; 3 or 4 for a PNG with a palette
  size_t bit_depth = 0;  // of a value in the file: 8 in a JPEG, 1 to 16 in a PNG
};

// Reads a header; takes no memory for pixels. kInvalidArgument: neither a JPEG nor a PNG, or a damaged header.
Status ReadImageHeader(std::string_view file, ImageHeader* header);

struct DecodeOptions {
  size_t channels = 0;             // 0 for the image's own, 1 for gray, 3 for RGB; of a PNG also 2 and 4, with alpha
  bool sixteen_bits = false;       // PNG to uint16, in the byte order of this machine
  size_t max_pixels = kMaxPixels;  // of the file, before `ratio`
  // The others are for JPEGs, and do not change a PNG.
  size_t ratio = 1;                // 1, 2, 4 or 8; each side is divided by it while decoding, and rounded up
  bool fancy_upsampling = true;    // smoother chroma
  bool fast_dct = true;            // TensorFlow's default, "INTEGER_FAST"; false for "INTEGER_ACCURATE"
  bool recover_truncated = false;  // decode a truncated file as far as it goes
  double acceptable_fraction = 1;  // of the rows of a truncated file; the others are black
};

// A window of an image. Its position and size are those of the result, after `ratio`.
struct Region {
  size_t top = 0;
  size_t left = 0;
  size_t height = 0;
  size_t width = 0;
};

// Decodes one image after another. For one thread at a time.
//
//   ImageDecoder decoder;
//   TFR_RETURN_IF_ERROR(decoder.Open(file, options));      // the size is known
//   ... take memory: decoder.height() * decoder.row_bytes() ...
//   TFR_RETURN_IF_ERROR(decoder.Decode(out, stride));      // or DecodeRegion
class ImageDecoder {
 public:
  ImageDecoder();
  ~ImageDecoder();
  ImageDecoder(ImageDecoder&&) noexcept;
  ImageDecoder& operator=(ImageDecoder&&) noexcept;

  // Reads a header and takes no memory for pixels. `file` must stay in memory until the image is decoded.
  // kInvalidArgument: neither a JPEG nor a PNG, a damaged header, more than max_pixels, more pixels than so few bytes
  // can hold, or an option that does not fit the format.
  Status Open(std::string_view file, const DecodeOptions& options);

  const ImageHeader& header() const;
  // The size of the whole result, after `ratio` and with the chosen channels.
  size_t height() const;
  size_t width() const;
  size_t channels() const;
  // Bytes of a pixel: channels, twice as many with sixteen_bits.
  size_t pixel_bytes() const;
  size_t row_bytes() const { return width() * pixel_bytes(); }

  // Each decodes the image that was opened, once. kInvalidArgument: a damaged or truncated image, or a region that is
  // empty or not within the image. `out` then has undefined pixels.
  //
  // Rows are `stride` bytes apart, which may be negative.
  Status Decode(uint8_t* out, ptrdiff_t stride);
  // The same pixels as those of the whole image, for less time. Damage below the region may not be noticed.
  Status DecodeRegion(const Region& region, uint8_t* out, ptrdiff_t stride);

 private:
  friend Status ReadImageHeader(std::string_view file, ImageHeader* header);
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace tfr
