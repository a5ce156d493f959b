// A decoder of one format, behind ImageDecoder (decode.h).

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/status.h"
#include "images/decode.h"

namespace tfr {

// The memory of a region: rows that are `stride` bytes apart.
struct Rows {
  uint8_t* out = nullptr;
  ptrdiff_t stride = 0;

  uint8_t* Row(size_t y) const { return out + static_cast<ptrdiff_t>(y) * stride; }
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
  virtual Status ReadHeader(std::string_view file, const DecodeOptions& options, ImageHeader* header) = 0;
  // How many pixels each byte of the file can hold at most.
  virtual size_t MostPixelsPerByte() const = 0;
  virtual Status Prepare(const DecodeOptions& options, ImageSize* size) = 0;
  // The region is within the size.
  virtual Status Decode(const Region& region, const Rows& rows) = 0;
  // Frees the memory of an image.
  virtual void Close() = 0;
};

std::unique_ptr<FormatDecoder> MakeJpegDecoder();
std::unique_ptr<FormatDecoder> MakePngDecoder();

}  // namespace tfr
