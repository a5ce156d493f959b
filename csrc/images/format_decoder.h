// A decoder of one format, behind ImageDecoder (decode.h).

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "base/status.h"
#include "images/decode.h"

namespace tfr {

// Where the rows of a region go: into memory, or to a function.
struct RowTarget {
  uint8_t* out = nullptr;
  ptrdiff_t stride = 0;
  const std::function<Status(size_t y, const uint8_t* row)>* on_row = nullptr;

  uint8_t* Row(size_t y) const { return out + static_cast<ptrdiff_t>(y) * stride; }
  // Passes on a row in other memory.
  Status Put(size_t y, const uint8_t* row, size_t size) const;
};

// The size of a result.
struct ImageSize {
  size_t height = 0;
  size_t width = 0;
  size_t channels = 0;
};

class FormatDecoder {
 public:
  virtual ~FormatDecoder() = default;
  // Open checks max_pixels with CheckPixels before it takes memory that depends on them.
  virtual Status Open(std::string_view file, const DecodeOptions& options, ImageHeader* header, ImageSize* size) = 0;
  // The region is within the size.
  virtual Status Decode(const Region& region, const RowTarget& target) = 0;
  // Frees the memory of an image.
  virtual void Close() = 0;
};

std::unique_ptr<FormatDecoder> MakeJpegDecoder();
std::unique_ptr<FormatDecoder> MakePngDecoder();

// kInvalidArgument: no pixels, more than max_pixels, or more than the file can hold: `most_per_byte` in each byte.
Status CheckPixels(const ImageHeader& header, size_t max_pixels, size_t file_bytes, size_t most_per_byte);

}  // namespace tfr
