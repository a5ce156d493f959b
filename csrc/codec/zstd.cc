// The codec ZSTD (RFC 8878): frames in both directions with libzstd, the only file that includes it. A marked part is a
// skippable frame (RFC 8878, 3.1.2), then a frame with content size and checksum:
//
//   5d 2a 4d 18  0c 00 00 00  'T' 'F' 'R' '1'  size:u32le  length:u32le                frame…
//
// `size` is that of both frames, from the first byte on; `length` that of what they inflate to.

#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "base/endian.h"
#include "codec/block_compressor.h"
#include "codec/codec.h"

namespace tfr {
namespace {

// libzstd asks for the window that a frame claims, up to this much; a larger claim is an error.
constexpr int kMaxWindowLog = 27;  // 128 MiB

constexpr size_t kBlockHeaderBytes = 3;  // RFC 8878, 3.1.1.2; libzstd asks for the next block's together with a block

constexpr uint8_t kMark[] = {0x5d, 0x2a, 0x4d, 0x18, 12, 0, 0, 0, 'T', 'F', 'R', '1'};
constexpr size_t kMarked = sizeof kMark + 4 + 4;  // the mark and its two sizes
static_assert(kMarked <= kPartHeaderBytes);

bool IsOutOfMemory(size_t code) { return ZSTD_getErrorCode(code) == ZSTD_error_memory_allocation; }

// A mark that claims another length than it has would take along the part that it belongs to.
bool IsDamagedMark(const uint8_t* data, size_t size) {
  return size >= sizeof kMark && std::memcmp(data, kMark, 4) == 0 && std::memcmp(data + 8, kMark + 8, 4) == 0 &&
         std::memcmp(data + 4, kMark + 4, 4) != 0;
}

std::string Fault(size_t code) {
  switch (ZSTD_getErrorCode(code)) {
    case ZSTD_error_frameParameter_windowTooLarge:
      return "ZSTD stream needs a window of more than 128 MiB: compress it without --long, or with --long=27";
    case ZSTD_error_dictionary_wrong:
      return "ZSTD stream needs a dictionary: compress it without one";
    default:
      return std::string("ZSTD stream is damaged: ") + ZSTD_getErrorName(code);
  }
}

struct FreeContext {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};
using CompressionContext = std::unique_ptr<ZSTD_CCtx, FreeContext>;
using DecompressionContext = std::unique_ptr<ZSTD_DCtx, FreeContext>;

class ZstdDecompressor : public Decompressor {
 public:
  explicit ZstdDecompressor(DecompressionContext context) : context_(std::move(context)) {
    ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, kMaxWindowLog);
  }

  Status Decompress(const uint8_t* in, size_t in_size, uint8_t* out, size_t out_size, Progress* progress) override {
    Status status = Run(in, in_size, out, out_size, progress);
    taken_ += static_cast<int64_t>(progress->consumed);
    return status;
  }

  int64_t part_begin() const override { return part_begin_; }
  void StopAtRestart() override { restart_wanted_ = true; }

 private:
  Status Run(const uint8_t* in, size_t in_size, uint8_t* out, size_t out_size, Progress* progress) {
    *progress = {};
    ZSTD_inBuffer input = {in, in_size, 0};
    ZSTD_outBuffer output = {out, out_size, 0};
    while (input.pos < in_size || output.pos == 0) {
      const size_t in_before = input.pos;
      const size_t out_before = output.pos;
      // The skippable frame of a mark promises another: the input must not end after it.
      if (at_start_ && input.pos < in_size) {
        after_mark_ = in[input.pos] == kMark[0];
        part_begin_ = taken_ + static_cast<int64_t>(input.pos);
        if (IsDamagedMark(in + input.pos, in_size - input.pos)) {
          return Status::DataLoss("the mark of a part is damaged");
        }
      }
      const bool whole = at_start_ && !careful_;
      input.size = whole ? in_size : std::min(in_size, input.pos + wanted_);
      const size_t code = ZSTD_decompressStream(context_.get(), &output, &input);
      if (IsOutOfMemory(code)) return Status::OutOfMemory();
      if (ZSTD_isError(code) && whole) {
        careful_ = true;
        ZSTD_DCtx_reset(context_.get(), ZSTD_reset_session_only);
        input.pos = in_before;
        output.pos = out_before;
        continue;
      }
      progress->consumed = input.pos;
      progress->produced = output.pos;
      if (ZSTD_isError(code)) return Status::DataLoss(Fault(code));
      wanted_ = code > kBlockHeaderBytes ? code - kBlockHeaderBytes : std::max<size_t>(code, 1);
      // A call without input at a frame's end must not look like the start of another frame.
      if (input.pos != in_before || output.pos != out_before) {
        at_start_ = code == 0;
        between_ = at_start_ && !after_mark_;
      }
      if (restart_wanted_ && between_) {
        restart_wanted_ = false;
        progress->at_restart = true;
        break;
      }
      if (output.pos == output.size || (input.pos == in_before && output.pos == out_before)) break;
    }
    progress->between_parts = between_;
    return {};
  }

  DecompressionContext context_;
  int64_t taken_ = 0;  // by the calls before this one
  int64_t part_begin_ = 0;
  // A call of the library that fails keeps to itself all that it has inflated. So a call gets one block, without the
  // next one's header, except that a frame is first given whole, which is faster; if that fails, it is inflated again,
  // carefully, from its start.
  size_t wanted_ = 1;  // bytes of input up to the end of the block
  bool careful_ = false;
  bool at_start_ = true;  // of a frame
  bool after_mark_ = false;
  bool between_ = true;
  bool restart_wanted_ = false;
};

class ZstdBlockCompressor : public BlockCompressor {
 public:
  explicit ZstdBlockCompressor(CompressionContext context) : context_(std::move(context)) {}

  Status Compress(Bytes block, Content content, std::shared_ptr<Buffer>* part, size_t* size) override {
    const size_t header = content == Content::kRecords ? kMarked : 0;
    const size_t room = ZSTD_compressBound(block.size);
    *part = Buffer::Allocate(header + room);
    if (!*part) return Status::OutOfMemory("no memory to compress " + std::to_string(block.size) + " bytes");
    uint8_t* out = (*part)->data();
    const size_t got = ZSTD_compress2(context_.get(), out + header, room, block.data, block.size);
    if (IsOutOfMemory(got)) return Status::OutOfMemory();
    if (ZSTD_isError(got)) return Status::InvalidArgument(std::string("ZSTD: ") + ZSTD_getErrorName(got));
    *size = header + got;
    if (content == Content::kRecords) {
      std::memcpy(out, kMark, sizeof kMark);
      StoreLE32(out + sizeof kMark, static_cast<uint32_t>(*size));
      StoreLE32(out + sizeof kMark + 4, static_cast<uint32_t>(block.size));
    }
    return {};
  }

 private:
  CompressionContext context_;
};

Status NewBlockCompressor(int level, std::unique_ptr<BlockCompressor>* made) {
  CompressionContext context(ZSTD_createCCtx());
  if (!context) return Status::OutOfMemory("ZSTD context");
  if (level != CompressionOptions::kUnset) {
    const ZSTD_bounds bounds = ZSTD_cParam_getBounds(ZSTD_c_compressionLevel);
    if (level < bounds.lowerBound || level > bounds.upperBound) {
      return Status::InvalidArgument("compression_level " + std::to_string(level) + " is outside ZSTD's " +
                                     std::to_string(bounds.lowerBound) + " to " + std::to_string(bounds.upperBound));
    }
    // -1 is zlib's name for its default, and people pass it.
    ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, level == -1 ? ZSTD_CLEVEL_DEFAULT : level);
  }
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  *made = std::make_unique<ZstdBlockCompressor>(std::move(context));
  return {};
}

std::unique_ptr<Decompressor> NewDecompressor() {
  DecompressionContext context(ZSTD_createDCtx());
  return context ? std::make_unique<ZstdDecompressor>(std::move(context)) : nullptr;
}

// RFC 8878, 3.1: a frame, or a skippable one.
bool HasMagic(const uint8_t* head, size_t size) {
  if (size < 4) return false;
  const uint32_t magic = LoadLE32(head);
  if (magic == ZSTD_MAGICNUMBER || (magic & ZSTD_MAGIC_SKIPPABLE_MASK) == ZSTD_MAGIC_SKIPPABLE_START) return true;
  // A mark whose first bytes are damaged.
  return size >= sizeof kMark && std::memcmp(head + 4, kMark + 4, sizeof kMark - 4) == 0;
}

// A mark, or a frame whose reserved bit is not set (RFC 8878, 3.1.1.1.1.4).
bool MayBeginPart(const uint8_t* data) {
  if (std::memcmp(data, kMark, sizeof kMark) == 0) return true;
  return LoadLE32(data) == ZSTD_MAGICNUMBER && (data[4] & 0x08) == 0;
}

bool ReadSizes(const uint8_t* data, size_t size, PartSizes* sizes) {
  if (size < kPartHeaderBytes || std::memcmp(data, kMark, sizeof kMark) != 0) return false;
  *sizes = {LoadLE32(data + sizeof kMark), LoadLE32(data + sizeof kMark + 4)};
  return sizes->compressed > kMarked && sizes->uncompressed <= kMaxBlockBytes;
}

constexpr CodecLibrary kLibraries[] = {{"zstd", [] { return std::string(ZSTD_versionString()); }}};

}  // namespace

namespace internal {

extern constinit const Codec kZstd = {
    .name = "ZSTD",
    .extension = ".zst",
    .has_magic = HasMagic,
    .new_decompressor = NewDecompressor,
    .truncated = "no end marker and checksum",
    .blocks = Codec::Blocks::kAlways,
    .new_block_compressor = NewBlockCompressor,
    .may_begin_part = MayBeginPart,
    .read_part_sizes = ReadSizes,
    .libraries = kLibraries,
};

}  // namespace internal
}  // namespace tfr
