// ZSTD frames (RFC 8878) in both directions with libzstd, the only file that includes it.

#include <zstd.h>

#include <cstring>

#include "base/endian.h"
#include "codec/block.h"
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
      if (at_start_ && input.pos < input.size) after_mark_ = in[input.pos] == kMarkFirstByte;
      const size_t code = ZSTD_decompressStream(context_, &output, &input);
      progress->consumed = input.pos;
      progress->produced = output.pos;
      if (ZSTD_isError(code)) return Status::DataLoss(std::string("ZSTD stream is damaged: ") + ZSTD_getErrorName(code));
      // A call with nothing to take at a frame's end must not look like the start of another frame.
      if (input.pos != in_before || output.pos != out_before) {
        at_start_ = code == 0;
        between_ = at_start_ && !after_mark_;
      }
      if (output.pos == output.size || (input.pos == in_before && output.pos == out_before)) break;
    }
    progress->between_parts = between_;
    return {};
  }

 private:
  // Of the skippable frame that stands before a part of ours (block.h). Such a frame promises another: the input must
  // not end behind it.
  static constexpr uint8_t kMarkFirstByte = 0x5d;

  ZSTD_DCtx* context_;
  bool at_start_ = true;  // of a frame
  bool after_mark_ = false;
  bool between_ = true;
};

Status SetParameters(ZSTD_CCtx* context, int level) {
  if (level != CompressionOptions::kUnset) {
    const ZSTD_bounds bounds = ZSTD_cParam_getBounds(ZSTD_c_compressionLevel);
    if (level < bounds.lowerBound || level > bounds.upperBound) {
      return Status::InvalidArgument("compression_level " + std::to_string(level) + " is outside ZSTD's " +
                                     std::to_string(bounds.lowerBound) + " to " + std::to_string(bounds.upperBound));
    }
    // -1 is zlib's name for its default, and people pass it.
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level == -1 ? ZSTD_CLEVEL_DEFAULT : level);
  }
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  return {};
}

class ZstdCompressor : public Compressor {
 public:
  explicit ZstdCompressor(ZSTD_CCtx* context) : context_(context) {}
  ~ZstdCompressor() override { ZSTD_freeCCtx(context_); }

  Status Init(const CompressionOptions& options) { return SetParameters(context_, options.level); }

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

// See block.h for the mark.
class ZstdBlockCompressor : public BlockCompressor {
 public:
  explicit ZstdBlockCompressor(ZSTD_CCtx* context) : context_(context) {}
  ~ZstdBlockCompressor() override { ZSTD_freeCCtx(context_); }

  Status Init(int level) { return SetParameters(context_, level); }

  Status Compress(Bytes block, bool marked, std::shared_ptr<Buffer>* part, size_t* size) override {
    constexpr size_t kMarkBytes = 20;
    constexpr uint8_t kMark[] = {0x5d, 0x2a, 0x4d, 0x18, 12, 0, 0, 0, 'T', 'F', 'R', '1'};
    static_assert(sizeof kMark + 8 == kMarkBytes);
    const size_t header = marked ? kMarkBytes : 0;
    const size_t room = ZSTD_compressBound(block.size);
    *part = Buffer::Allocate(header + room);
    if (!*part) return Status::OutOfMemory("no memory to compress " + std::to_string(block.size) + " bytes");
    uint8_t* out = (*part)->data();
    const size_t got = ZSTD_compress2(context_, out + header, room, block.data, block.size);
    if (ZSTD_isError(got)) return Status::InvalidArgument(std::string("ZSTD: ") + ZSTD_getErrorName(got));
    *size = header + got;
    if (marked) {
      std::memcpy(out, kMark, sizeof kMark);
      StoreLE32(out + sizeof kMark, static_cast<uint32_t>(*size));
      StoreLE32(out + sizeof kMark + 4, static_cast<uint32_t>(block.size));
    }
    return {};
  }

 private:
  ZSTD_CCtx* context_;
};

}  // namespace

namespace internal {

Status NewZstdBlockCompressor(int level, std::unique_ptr<BlockCompressor>* compressor) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  if (context == nullptr) return Status::OutOfMemory("ZSTD context");
  auto made = std::make_unique<ZstdBlockCompressor>(context);
  TFR_RETURN_IF_ERROR(made->Init(level));
  *compressor = std::move(made);
  return {};
}

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
