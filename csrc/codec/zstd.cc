// ZSTD frames (RFC 8878) in both directions with libzstd, the only file that includes it.

#include <zstd.h>

#include "codec/codec.h"

namespace tfr {
namespace {

// libzstd asks for the window that a frame claims, up to this much; a larger claim is an error.
constexpr int kMaxWindowLog = 27;  // 128 MiB

class ZstdDecompressor : public Decompressor {
 public:
  explicit ZstdDecompressor(ZSTD_DCtx* context) : context_(context) {
    ZSTD_DCtx_setParameter(context_, ZSTD_d_windowLogMax, kMaxWindowLog);
  }
  ~ZstdDecompressor() override { ZSTD_freeDCtx(context_); }

  Status Decompress(const uint8_t* in, size_t in_size, uint8_t* out, size_t out_size, Progress* progress) override {
    *progress = {};
    ZSTD_inBuffer input = {in, in_size, 0};
    ZSTD_outBuffer output = {out, out_size, 0};
    while (input.pos < input.size || output.pos == 0) {
      const size_t in_before = input.pos;
      const size_t out_before = output.pos;
      const size_t code = ZSTD_decompressStream(context_, &output, &input);
      progress->consumed = input.pos;
      progress->produced = output.pos;
      if (ZSTD_isError(code)) return Status::DataLoss(std::string("ZSTD stream is damaged: ") + ZSTD_getErrorName(code));
      // A call with nothing to take at a frame's end must not look like the start of another frame.
      if (input.pos != in_before || output.pos != out_before) between_ = code == 0;
      if (output.pos == output.size || (input.pos == in_before && output.pos == out_before)) break;
    }
    progress->between_parts = between_;
    return {};
  }

 private:
  ZSTD_DCtx* context_;
  bool between_ = true;
};

class ZstdCompressor : public Compressor {
 public:
  explicit ZstdCompressor(ZSTD_CCtx* context) : context_(context) {}
  ~ZstdCompressor() override { ZSTD_freeCCtx(context_); }

  Status Init(const CompressionOptions& options) {
    if (options.level != CompressionOptions::kUnset) {
      const ZSTD_bounds bounds = ZSTD_cParam_getBounds(ZSTD_c_compressionLevel);
      if (options.level < bounds.lowerBound || options.level > bounds.upperBound) {
        return Status::InvalidArgument("compression_level " + std::to_string(options.level) + " is outside ZSTD's " +
                                       std::to_string(bounds.lowerBound) + " to " + std::to_string(bounds.upperBound));
      }
      // -1 is zlib's name for its default, and people pass it.
      const int level = options.level == -1 ? ZSTD_CLEVEL_DEFAULT : options.level;
      ZSTD_CCtx_setParameter(context_, ZSTD_c_compressionLevel, level);
    }
    ZSTD_CCtx_setParameter(context_, ZSTD_c_checksumFlag, 1);
    return {};
  }

  Status Compress(const uint8_t* in, size_t in_size, uint8_t* out, size_t out_size, Mode mode, Progress* progress,
                  bool* done) override {
    *progress = {};
    ZSTD_inBuffer input = {in, in_size, 0};
    ZSTD_outBuffer output = {out, out_size, 0};
    const ZSTD_EndDirective directive = mode == Mode::kFinish  ? ZSTD_e_end
                                        : mode == Mode::kFlush ? ZSTD_e_flush
                                                               : ZSTD_e_continue;
    const size_t left = ZSTD_compressStream2(context_, &output, &input, directive);
    if (ZSTD_isError(left)) return Status::InvalidArgument(std::string("ZSTD: ") + ZSTD_getErrorName(left));
    progress->consumed = input.pos;
    progress->produced = output.pos;
    *done = input.pos == input.size && (mode == Mode::kRun || left == 0);
    return {};
  }

 private:
  ZSTD_CCtx* context_;
};

}  // namespace

namespace internal {

std::unique_ptr<Decompressor> NewZstdDecompressor() {
  ZSTD_DCtx* context = ZSTD_createDCtx();
  return context == nullptr ? nullptr : std::make_unique<ZstdDecompressor>(context);
}

Status NewZstdCompressor(const CompressionOptions& options, std::unique_ptr<Compressor>* compressor) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  if (context == nullptr) return Status::OutOfMemory("ZSTD context");
  auto made = std::make_unique<ZstdCompressor>(context);
  TFR_RETURN_IF_ERROR(made->Init(options));
  *compressor = std::move(made);
  return {};
}

std::string ZstdVersion() { return ZSTD_versionString(); }

}  // namespace internal
}  // namespace tfr
