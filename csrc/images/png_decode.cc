// PNGs by libpng, with the transformations for TensorFlow's pixels; see decode.h.

#include <png.h>

#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "images/error_trap.h"
#include "images/format_decoder.h"

namespace tfr {
namespace {

constexpr double kRed = 0.299, kGreen = 0.587;  // weights for gray
// zlib's limit, 1032, in pixels of a bit.
constexpr size_t kMostBitsPerByte = 1032 * 8;

void OnError(png_structp png, png_const_charp message) {
  static_cast<ErrorTrap*>(png_get_error_ptr(png))->Fail(message);
}

void OnWarning(png_structp, png_const_charp) {}

void Read(png_structp png, png_bytep out, size_t count) {
  auto& rest = *static_cast<std::string_view*>(png_get_io_ptr(png));
  if (rest.size() < count) png_error(png, "the file is truncated");
  std::memcpy(out, rest.data(), count);
  rest.remove_prefix(count);
}

// Widens the first `count` bytes of a row, from 8 to 16 bits.
void Widen(uint8_t* row, size_t count) {
  for (size_t i = count; i-- > 0;) row[2 * i] = row[2 * i + 1] = row[i];
}

class PngDecoder : public FormatDecoder {
 public:
  ~PngDecoder() override { Close(); }

  Status ReadHeader(std::string_view file, const DecodeOptions&, ImageHeader* header) override {
    rest_ = file;
    if (!trap_.Run([&] { ReadInfo(); })) return Failure();
    if (info_ == nullptr) return Status::OutOfMemory();
    *header = {ImageFormat::kPng, png_get_image_height(png_, info_), png_get_image_width(png_, info_), OwnChannels(),
               png_get_bit_depth(png_, info_)};
    return Status();
  }

  size_t MostPixelsPerByte() const override {
    return kMostBitsPerByte / (png_get_bit_depth(png_, info_) * png_get_channels(png_, info_));
  }

  Status Prepare(const DecodeOptions& options, ImageSize* size) override {
    if (options.channels > 4) {
      return Status::InvalidArgument("channels must be 0 to 4, got " + std::to_string(options.channels));
    }
    *size = {png_get_image_height(png_, info_), png_get_image_width(png_, info_),
             options.channels != 0 ? options.channels : OwnChannels()};
    height_ = size->height;
    pixel_bytes_ = size->channels * (options.sixteen_bits ? 2 : 1);
    row_bytes_ = size->width * pixel_bytes_;
    widens_ = options.sixteen_bits && png_get_bit_depth(png_, info_) <= 8;
    if (!trap_.Run([&] { Transform(size->channels, options.sixteen_bits); })) return Failure();
    if (png_get_rowbytes(png_, info_) != (widens_ ? row_bytes_ / 2 : row_bytes_)) {
      return Failure("it can't have " + std::to_string(size->channels) + " channels");
    }
    return Status();
  }

  Status Decode(const Region& region, const Rows& rows) override {
    TFR_RETURN_IF_ERROR(passes_ > 1 ? ReadPasses(region, rows) : ReadRows(region, rows));
    if (region.top + region.height < height_) return Status();
    return trap_.Run([&] { png_read_end(png_, info_); }) ? Status() : Failure();
  }

  void Close() override {
    if (png_ != nullptr) png_destroy_read_struct(&png_, &info_, nullptr);
    png_ = nullptr;
    info_ = nullptr;
  }

 private:
  void ReadInfo() {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, &trap_, OnError, OnWarning);
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
    if (info_ == nullptr) return;
    png_set_read_fn(png_, &rest_, Read);
    png_read_info(png_, info_);
  }

  bool IsTransparent() const { return png_get_valid(png_, info_, PNG_INFO_tRNS) != 0; }

  size_t OwnChannels() const {
    if (png_get_color_type(png_, info_) == PNG_COLOR_TYPE_PALETTE) return IsTransparent() ? 4 : 3;
    return png_get_channels(png_, info_);
  }

  void Transform(size_t channels, bool sixteen_bits) {
    const int color = png_get_color_type(png_, info_);
    const int depth = png_get_bit_depth(png_, info_);
    const bool has_alpha = (color & PNG_COLOR_MASK_ALPHA) != 0;
    if (channels % 2 != 0) {
      png_set_strip_alpha(png_);
    } else if (!has_alpha && IsTransparent()) {
      png_set_tRNS_to_alpha(png_);
    } else if (!has_alpha) {
      png_set_add_alpha(png_, (1U << depth) - 1, PNG_FILLER_AFTER);
    }
    if (depth > 8 && !sixteen_bits) png_set_strip_16(png_);
    png_set_packing(png_);
    passes_ = png_set_interlace_handling(png_);
    if (sixteen_bits && std::endian::native == std::endian::little) png_set_swap(png_);
    if (color == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png_);
    const bool is_gray = (color & PNG_COLOR_MASK_COLOR) == 0;
    if (is_gray && depth < 8) png_set_expand_gray_1_2_4_to_8(png_);
    if (channels < 3 && !is_gray) png_set_rgb_to_gray(png_, 1, kRed, kGreen);
    if (channels >= 3 && is_gray) png_set_gray_to_rgb(png_);
    png_read_update_info(png_, info_);
  }

  bool IsWide(const Region& region) const { return region.width * pixel_bytes_ == row_bytes_; }

  Status ReadRows(const Region& region, const Rows& rows) {
    if (!IsWide(region)) memory_.resize(row_bytes_);
    const auto skip = [&] {
      for (size_t y = 0; y < region.top; ++y) png_read_row(png_, nullptr, nullptr);
    };
    if (!trap_.Run(skip)) return Failure();
    for (size_t y = 0; y < region.height; ++y) {
      uint8_t* const row = IsWide(region) ? rows.Row(y) : memory_.data();
      if (!trap_.Run([&] { png_read_row(png_, row, nullptr); })) return Failure();
      Finish(region, row, rows.Row(y));
    }
    return Status();
  }

  // Each pass draws over the one before, so that all rows must be in memory.
  Status ReadPasses(const Region& region, const Rows& rows) {
    const bool is_direct = IsWide(region) && region.height == height_;
    if (!is_direct) memory_.resize(height_ * row_bytes_);
    const Rows whole = is_direct ? rows : Rows{memory_.data(), static_cast<ptrdiff_t>(row_bytes_)};
    const auto read = [&] {
      for (int pass = 0; pass < passes_; ++pass) {
        for (size_t y = 0; y < height_; ++y) png_read_row(png_, whole.Row(y), nullptr);
      }
    };
    if (!trap_.Run(read)) return Failure();
    for (size_t y = 0; y < region.height; ++y) Finish(region, whole.Row(region.top + y), rows.Row(y));
    return Status();
  }

  // Widens a whole row, and copies the region's columns unless they are in their place.
  void Finish(const Region& region, uint8_t* row, uint8_t* out) const {
    if (widens_) Widen(row, row_bytes_ / 2);
    if (row != out) std::memcpy(out, row + region.left * pixel_bytes_, region.width * pixel_bytes_);
  }

  Status Failure() const { return Failure(trap_.message()); }
  static Status Failure(const std::string& message) {
    return Status::InvalidArgument("the PNG can't be decoded: " + message);
  }

  ErrorTrap trap_;
  std::string_view rest_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  int passes_ = 1;
  bool widens_ = false;  // values of 8 bits become 16
  size_t height_ = 0;
  size_t row_bytes_ = 0;
  size_t pixel_bytes_ = 0;
  std::vector<uint8_t> memory_;  // a row, or the whole image if it is interlaced
};

}  // namespace

std::unique_ptr<FormatDecoder> MakePngDecoder() { return std::make_unique<PngDecoder>(); }

}  // namespace tfr
