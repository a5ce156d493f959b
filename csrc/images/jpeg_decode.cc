// JPEGs by libjpeg-turbo, with the settings and the source of bytes for TensorFlow's pixels; see decode.h.

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "images/error_trap.h"
#include "images/format_decoder.h"
#include "images/libjpeg.h"

namespace tfr {
namespace {

constexpr size_t kRowsAtOnce = 8;
// Columns beside a region that are decoded with it: smooth chroma depends on its neighbours.
constexpr size_t kMargin = 8;
// More than files have. Each scan may take a few bytes, and takes time for all pixels.
constexpr int kMostScans = 500;
// A block of 8 x 8 pixels takes at least the bit of a Huffman code.
constexpr size_t kMostPixelsPerByte = 64 * 8;

ErrorTrap& TrapOf(j_common_ptr info) { return *static_cast<ErrorTrap*>(info->client_data); }

void OnProgress(j_common_ptr info) {
  if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number > kMostScans) TrapOf(info).Fail("too many scans");
}

// ---- The bytes of the file ----

const JOCTET kEnd[] = {0xFF, JPEG_EOI};

struct Source {
  jpeg_source_mgr manager;  // first, for casts
  bool recover = false;
};

void Begin(j_decompress_ptr) {}
void Finish(j_decompress_ptr) {}

// Called at the end of the file. If an MCU or a segment began before it, reading is suspended, as in TensorFlow, so
// that the rows before it are an acceptable fraction or not.
boolean Fill(j_decompress_ptr info) {
  const auto& source = *reinterpret_cast<Source*>(info->src);
  if (!source.recover) {
    if (info->src->bytes_in_buffer != 0) return FALSE;
    TrapOf(reinterpret_cast<j_common_ptr>(info)).Fail("the file is truncated");
  }
  info->src->next_input_byte = kEnd;
  info->src->bytes_in_buffer = sizeof kEnd;
  return TRUE;
}

void Skip(j_decompress_ptr info, long count) {
  if (count <= 0) return;
  if (static_cast<size_t>(count) > info->src->bytes_in_buffer) {
    info->src->bytes_in_buffer = 0;
    Fill(info);
  } else {
    info->src->bytes_in_buffer -= static_cast<size_t>(count);
    info->src->next_input_byte += count;
  }
}

// ---- Pixels ----

bool IsCmyk(const jpeg_decompress_struct& info) {
  return info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK;
}

void CmykToRgb(const uint8_t* cmyk, size_t width, bool inverted, uint8_t* rgb) {
  for (size_t x = 0; x < width; ++x, cmyk += 4, rgb += 3) {
    const int key = inverted ? cmyk[3] : 255 - cmyk[3];
    for (int i = 0; i < 3; ++i) rgb[i] = static_cast<uint8_t>(key * (inverted ? cmyk[i] : 255 - cmyk[i]) / 255);
  }
}

class JpegDecoder : public FormatDecoder {
 public:
  ~JpegDecoder() override { Close(); }

  Status ReadHeader(std::string_view file, const DecodeOptions& options, ImageHeader* header) override {
    recover_ = options.recover_truncated;
    acceptable_fraction_ = options.acceptable_fraction;
    if (!trap_.Run([&] { Create(file); })) return Failure();
    int result = 0;
    if (!trap_.Run([&] { result = jpeg_read_header(&info_, TRUE); })) return Failure();
    if (result != JPEG_HEADER_OK) return Failure("the file is truncated");
    *header = {ImageFormat::kJpeg, info_.image_height, info_.image_width, static_cast<size_t>(info_.num_components),
               static_cast<size_t>(info_.data_precision)};
    return Status();
  }

  size_t MostPixelsPerByte() const override { return recover_ || info_.arith_code ? SIZE_MAX : kMostPixelsPerByte; }

  Status Prepare(const DecodeOptions& options, ImageSize* size) override {
    if (options.ratio != 1 && options.ratio != 2 && options.ratio != 4 && options.ratio != 8) {
      return Status::InvalidArgument("ratio must be 1, 2, 4 or 8, got " + std::to_string(options.ratio));
    }
    if ((options.channels != 0 && options.channels != 1 && options.channels != 3) || options.sixteen_bits) {
      return Status::InvalidArgument("a JPEG decodes to uint8 with 1 or 3 channels");
    }
    channels_ = options.channels != 0 ? options.channels : static_cast<size_t>(std::min(info_.num_components, 3));
    if (channels_ == 2) return Failure("it has 2 channels");
    info_.out_color_space = channels_ == 1 ? JCS_GRAYSCALE : IsCmyk(info_) ? JCS_CMYK : JCS_RGB;
    info_.do_fancy_upsampling = options.fancy_upsampling ? TRUE : FALSE;
    info_.scale_num = 1;
    info_.scale_denom = static_cast<unsigned>(options.ratio);
    info_.dct_method = options.fast_dct ? JDCT_IFAST : JDCT_ISLOW;
    if (!trap_.Run([&] { jpeg_calc_output_dimensions(&info_); })) return Failure();
    *size = {info_.output_height, info_.output_width, channels_};
    return Status();
  }

  Status Decode(const Region& region, const Rows& rows) override {
    is_cut_ = false;
    boolean started = FALSE;
    if (!trap_.Run([&] { started = jpeg_start_decompress(&info_); })) return Failure();
    if (!started) return Failure("the file is truncated");
    const JDIMENSION height = info_.output_height;
    JDIMENSION left = 0;
    if (!trap_.Run([&] { left = Limit(region); })) return Failure();
    TFR_RETURN_IF_ERROR(ReadRows(region, region.left - left, rows));
    if (is_cut_ || region.top + region.height < height) return Status();
    return trap_.Run([&] { jpeg_finish_decompress(&info_); }) ? Status() : Failure();
  }

  void Close() override {
    if (created_) jpeg_destroy_decompress(&info_);
    created_ = false;
  }

 private:
  void Create(std::string_view file) {
    SetTrap(&info_, &errors_, &trap_);
    jpeg_create_decompress(&info_);
    created_ = true;
    source_.manager = {
        reinterpret_cast<const JOCTET*>(file.data()), file.size(), Begin, Fill, Skip, jpeg_resync_to_restart, Finish};
    source_.recover = recover_;
    info_.src = &source_.manager;
    progress_.progress_monitor = OnProgress;
    info_.progress = &progress_;
  }

  // Leaves out what is above and beside a region, and returns the first column of rows.
  JDIMENSION Limit(const Region& region) {
    JDIMENSION left = 0;
    if (region.width < info_.output_width) {
      left = static_cast<JDIMENSION>(region.left - std::min(region.left, kMargin));
      const size_t right = std::min<size_t>(region.left + region.width + kMargin, info_.output_width);
      auto width = static_cast<JDIMENSION>(right - left);
      if (width < info_.output_width) jpeg_crop_scanline(&info_, &left, &width);
    }
    if (region.top != 0) jpeg_skip_scanlines(&info_, static_cast<JDIMENSION>(region.top));
    return left;
  }

  Status ReadRows(const Region& region, size_t skipped, const Rows& rows) {
    const bool is_cmyk = info_.out_color_space == JCS_CMYK;
    const bool is_direct = !is_cmyk && info_.output_width == region.width;
    const size_t pixel = is_cmyk ? 4 : channels_;
    const size_t line = info_.output_width * pixel;
    if (!is_direct) lines_.resize(kRowsAtOnce * line);
    JSAMPROW places[kRowsAtOnce];
    for (size_t y = 0; y < region.height;) {
      const size_t count = std::min(kRowsAtOnce, region.height - y);
      for (size_t i = 0; i < count; ++i) places[i] = is_direct ? rows.Row(y + i) : lines_.data() + i * line;
      JDIMENSION read = 0;
      if (!trap_.Run([&] { read = jpeg_read_scanlines(&info_, places, static_cast<JDIMENSION>(count)); })) {
        return Failure();
      }
      if (read == 0) return Blacken(region, y, rows);
      for (size_t i = 0; i < read && !is_direct; ++i) {
        const uint8_t* const line_start = places[i] + skipped * pixel;
        if (is_cmyk) {
          CmykToRgb(line_start, region.width, info_.saw_Adobe_marker != 0, rows.Row(y + i));
        } else {
          std::memcpy(rows.Row(y + i), line_start, region.width * channels_);
        }
      }
      y += read;
    }
    return Status();
  }

  // Makes the rows of a truncated file from `y` on black, if those before are enough.
  Status Blacken(const Region& region, size_t y, const Rows& rows) {
    const double fraction = static_cast<double>(y) / static_cast<double>(region.height);
    if (fraction < std::min(1.0, acceptable_fraction_)) return Failure("the file is truncated");
    is_cut_ = true;
    for (; y < region.height; ++y) std::memset(rows.Row(y), 0, region.width * channels_);
    return Status();
  }

  Status Failure() const { return Failure(trap_.message()); }
  static Status Failure(const std::string& message) {
    return Status::InvalidArgument("the JPEG can't be decoded: " + message);
  }

  ErrorTrap trap_;
  jpeg_error_mgr errors_;
  jpeg_progress_mgr progress_;
  Source source_;
  jpeg_decompress_struct info_;
  bool created_ = false;
  bool recover_ = false;
  bool is_cut_ = false;
  double acceptable_fraction_ = 1;
  size_t channels_ = 0;
  std::vector<uint8_t> lines_;  // as libjpeg writes them, if they can't be written to their place
};

}  // namespace

std::unique_ptr<FormatDecoder> MakeJpegDecoder() { return std::make_unique<JpegDecoder>(); }

}  // namespace tfr
