// Marked parts, and GZIP members around a deflater; see block.h.

#include "codec/block.h"

#include <cstring>
#include <string>
#include <utility>

#include "base/endian.h"

namespace tfr {
namespace {

constexpr size_t kGzipFixed = 10;
constexpr size_t kGzipMarked = kGzipFixed + 2 + 4 + 8;  // XLEN, the subfield's head, its two sizes
constexpr size_t kGzipTrailer = 4 + 4;
static_assert(kGzipMarked == kPartHeaderBytes);
constexpr uint8_t kGzipMark[] = {12, 0, 'T', 'F', 8, 0};
constexpr uint8_t kZstdMark[] = {0x5d, 0x2a, 0x4d, 0x18, 12, 0, 0, 0, 'T', 'F', 'R', '1'};

class GzipBlockCompressor : public BlockCompressor {
 public:
  GzipBlockCompressor(std::unique_ptr<internal::BlockDeflater> deflater, uint8_t extra_flags)
      : deflater_(std::move(deflater)), extra_flags_(extra_flags) {}

  Status Compress(Bytes block, bool marked, std::shared_ptr<Buffer>* part, size_t* size) override {
    const size_t header = marked ? kGzipMarked : kGzipFixed;
    const size_t room = internal::DeflateRoom(block.size);
    *part = Buffer::Allocate(header + room + kGzipTrailer);
    if (!*part) return Status::OutOfMemory("no memory to compress " + std::to_string(block.size) + " bytes");
    uint8_t* out = (*part)->data();
    size_t deflated = block.size > 0 ? deflater_->Deflate(block, out + header, room) : 0;
    if (block.size == 0) {
      // The shortest there is, as zlib writes it: an empty block of fixed codes.
      out[header] = 3;
      out[header + 1] = 0;
      deflated = 2;
    }
    if (deflated == 0) return Status::InvalidArgument("GZIP: a block of " + std::to_string(block.size) + " bytes was refused");
    *size = header + deflated + kGzipTrailer;
    const uint8_t fixed[kGzipFixed] = {0x1f, 0x8b, 8, static_cast<uint8_t>(marked ? 4 : 0), 0, 0, 0, 0, extra_flags_, 3};
    std::memcpy(out, fixed, sizeof fixed);
    if (marked) {
      std::memcpy(out + kGzipFixed, kGzipMark, sizeof kGzipMark);
      StoreLE32(out + kGzipMarked - 8, static_cast<uint32_t>(*size));
      StoreLE32(out + kGzipMarked - 4, static_cast<uint32_t>(block.size));
    }
    StoreLE32(out + header + deflated, internal::GzipCrc(block));
    StoreLE32(out + header + deflated + 4, static_cast<uint32_t>(block.size));
    return {};
  }

 private:
  std::unique_ptr<internal::BlockDeflater> deflater_;
  uint8_t extra_flags_;
};

}  // namespace

// Libraries by level: docs/performance/deflate.md.
Status NewBlockCompressor(Compression compression, int level, std::unique_ptr<BlockCompressor>* compressor) {
  if (compression == Compression::kZstd) return internal::NewZstdBlockCompressor(level, compressor);
  if (compression != Compression::kGzip) return Status::InvalidArgument("only GZIP and ZSTD are compressed in blocks");
  if (level == CompressionOptions::kUnset || level == -1) level = 6;
  if (level < 0 || level > 9) {
    return Status::InvalidArgument("compression_level " + std::to_string(level) + " is outside GZIP's -1 to 9");
  }
  std::unique_ptr<internal::BlockDeflater> deflater =
      level == 1 ? internal::NewIsalDeflater() : internal::NewLibdeflateDeflater(level == 9 ? 10 : level);
  if (!deflater) return Status::OutOfMemory("deflate");
  // As zlib sets them: 2 for the smallest, 4 for the fastest.
  const uint8_t extra_flags = level == 9 ? 2 : level == 1 ? 4 : 0;
  *compressor = std::make_unique<GzipBlockCompressor>(std::move(deflater), extra_flags);
  return {};
}

bool ReadPartSizes(Compression compression, const uint8_t* data, size_t size, PartSizes* sizes) {
  if (size < kPartHeaderBytes) return false;
  if (compression == Compression::kGzip) {
    if (data[0] != 0x1f || data[1] != 0x8b || data[2] != 8 || data[3] != 4) return false;
    if (std::memcmp(data + kGzipFixed, kGzipMark, sizeof kGzipMark) != 0) return false;
    *sizes = {LoadLE32(data + kGzipMarked - 8), LoadLE32(data + kGzipMarked - 4)};
    return sizes->compressed > kGzipMarked + kGzipTrailer && sizes->uncompressed <= kMaxBlockBytes;
  }
  if (compression == Compression::kZstd) {
    if (std::memcmp(data, kZstdMark, sizeof kZstdMark) != 0) return false;
    *sizes = {LoadLE32(data + sizeof kZstdMark), LoadLE32(data + sizeof kZstdMark + 4)};
    return sizes->compressed > sizeof kZstdMark + 8 && sizes->uncompressed <= kMaxBlockBytes;
  }
  return false;
}

namespace internal {

// Stored blocks of 64 KiB at worst, five bytes of header each, and room for the library's own way of working.
size_t DeflateRoom(size_t size) { return size + size / 64 + (16 << 10); }

}  // namespace internal
}  // namespace tfr
