// PNGs by libpng; see encode.h.

#include <png.h>

#include <bit>
#include <string>

#include "images/encode.h"
#include "images/error_trap.h"

namespace tfr {
namespace {

constexpr int kColors[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                           PNG_COLOR_TYPE_RGB_ALPHA};

void OnError(png_structp png, png_const_charp message) {
  static_cast<ErrorTrap*>(png_get_error_ptr(png))->Fail(message);
}

void OnWarning(png_structp, png_const_charp) {}

bool Append(std::vector<uint8_t>* out, const uint8_t* data, size_t count) {
  try {
    out->insert(out->end(), data, data + count);
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

void WriteBytes(png_structp png, png_bytep data, size_t count) {
  if (!Append(static_cast<std::vector<uint8_t>*>(png_get_io_ptr(png)), data, count)) png_error(png, "out of memory");
}

void Flush(png_structp) {}

struct Writing {
  ErrorTrap trap;
  png_structp png = nullptr;
  png_infop info = nullptr;

  ~Writing() {
    if (png != nullptr) png_destroy_write_struct(&png, &info);
  }

  void Write(const Picture& picture, int level, std::vector<uint8_t>* out) {
    png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &trap, OnError, OnWarning);
    if (png != nullptr) info = png_create_info_struct(png);
    if (info == nullptr) trap.Fail("out of memory");
    png_set_write_fn(png, out, WriteBytes, Flush);
    png_set_compression_level(png, level < 0 ? -1 : level);
    png_set_compression_mem_level(png, 9);  // zlib's highest
    png_set_IHDR(png, info, static_cast<png_uint_32>(picture.width), static_cast<png_uint_32>(picture.height),
                 picture.sixteen_bits ? 16 : 8, kColors[picture.channels - 1], PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    if (picture.sixteen_bits && std::endian::native == std::endian::little) png_set_swap(png);
    for (size_t y = 0; y < picture.height; ++y) {
      png_write_row(png, picture.data + static_cast<ptrdiff_t>(y) * picture.stride);
    }
    png_write_end(png, nullptr);
  }
};

}  // namespace

Status EncodePng(const Picture& picture, int level, std::vector<uint8_t>* out) {
  if (picture.channels < 1 || picture.channels > 4) return Status::InvalidArgument("a PNG has 1 to 4 channels");
  if (picture.height > PNG_UINT_31_MAX || picture.width > PNG_UINT_31_MAX) {
    return Status::InvalidArgument("a PNG has fewer than 2 ** 31 rows and columns");
  }
  out->clear();
  Writing writing;
  if (writing.trap.Run([&] { writing.Write(picture, level, out); })) return Status();
  return WithoutThrowing([&] {
    return Status::InvalidArgument(std::string("the image can't be encoded as PNG: ") + writing.trap.message());
  });
}

}  // namespace tfr
