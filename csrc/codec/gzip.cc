// The codec GZIP (RFC 1952): members, in blocks by a deflater, or as one stream by zlib. A marked part is a member
// with an extra field (RFC 1952, 2.3.1.1) of one subfield:
//
//   1f 8b 08 04  00 00 00 00  xfl 03  0c 00  'T' 'F' 08 00  size:u32le  length:u32le   deflate…  crc32  length
//
// `size` is that of the whole part, from its first byte on; `length` that of what it inflates to.

#include <cstring>
#include <string>
#include <utility>

#include "base/endian.h"
#include "codec/block_compressor.h"
#include "codec/deflate.h"

namespace tfr {
namespace {

constexpr size_t kFixed = 10;
constexpr size_t kMarked = kFixed + 2 + 4 + 8;  // XLEN, the subfield's head, its two sizes
constexpr size_t kTrailer = 4 + 4;
static_assert(kMarked == kPartHeaderBytes);
constexpr uint8_t kMark[] = {12, 0, 'T', 'F', 8, 0};

class GzipBlockCompressor : public BlockCompressor {
 public:
  GzipBlockCompressor(std::unique_ptr<internal::BlockDeflater> deflater, uint8_t extra_flags)
      : deflater_(std::move(deflater)), extra_flags_(extra_flags) {}

  Status Compress(Bytes block, Content content, std::shared_ptr<Buffer>* part, size_t* size) override {
    const bool marked = content == Content::kRecords;
    const size_t header = marked ? kMarked : kFixed;
    const size_t room = internal::DeflateRoom(block.size);
    *part = Buffer::Allocate(header + room + kTrailer);
    if (!*part) return Status::OutOfMemory("no memory to compress " + std::to_string(block.size) + " bytes");
    uint8_t* out = (*part)->data();
    size_t deflated = block.size > 0 ? deflater_->Deflate(block, out + header, room) : 0;
    if (block.size == 0) {
      // The shortest possible, as zlib writes it: an empty block of fixed codes.
      out[header] = 3;
      out[header + 1] = 0;
      deflated = 2;
    }
    if (deflated == 0) {
      return Status::InvalidArgument("GZIP: a block of " + std::to_string(block.size) + " bytes was refused");
    }
    *size = header + deflated + kTrailer;
    const uint8_t fixed[kFixed] = {0x1f, 0x8b, 8, static_cast<uint8_t>(marked ? 4 : 0), 0, 0, 0, 0, extra_flags_, 3};
    std::memcpy(out, fixed, sizeof fixed);
    if (marked) {
      std::memcpy(out + kFixed, kMark, sizeof kMark);
      StoreLE32(out + kMarked - 8, static_cast<uint32_t>(*size));
      StoreLE32(out + kMarked - 4, static_cast<uint32_t>(block.size));
    }
    StoreLE32(out + header + deflated, internal::GzipCrc(block));
    StoreLE32(out + header + deflated + 4, static_cast<uint32_t>(block.size));
    return {};
  }

 private:
  std::unique_ptr<internal::BlockDeflater> deflater_;
  uint8_t extra_flags_;
};

// Which library for which level: docs/performance/deflate.md.
Status NewBlockCompressor(int level, std::unique_ptr<BlockCompressor>* made) {
  if (level == CompressionOptions::kUnset || level == -1) level = 6;
  if (level < 0 || level > 9) {
    return Status::InvalidArgument("compression_level " + std::to_string(level) + " is outside GZIP's -1 to 9");
  }
  std::unique_ptr<internal::BlockDeflater> deflater =
      level == 1 ? internal::NewIsalDeflater() : internal::NewLibdeflateDeflater(level == 9 ? 10 : level);
  if (!deflater) return Status::OutOfMemory("deflate");
  // The values that zlib sets: 2 for the smallest, 4 for the fastest.
  const uint8_t extra_flags = level == 9 ? 2 : level == 1 ? 4 : 0;
  *made = std::make_unique<GzipBlockCompressor>(std::move(deflater), extra_flags);
  return {};
}

Status NewCompressor(const CompressionOptions& options, std::unique_ptr<Compressor>* made) {
  return internal::NewDeflater(internal::Wrapper::kGzip, options, made);
}

std::unique_ptr<Decompressor> NewDecompressor() { return internal::NewInflater(internal::Wrapper::kGzip); }

// RFC 1952, 2.3.1; or a mark whose first bytes are damaged.
bool HasMagic(const uint8_t* head, size_t size) {
  if (size >= 2 && head[0] == 0x1f && head[1] == 0x8b) return true;
  return size >= kMarked && std::memcmp(head + kFixed, kMark, sizeof kMark) == 0;
}

// A member: deflated, without reserved flags.
bool MayBeginPart(const uint8_t* data) {
  return data[0] == 0x1f && data[1] == 0x8b && data[2] == 8 && (data[3] & 0xe0) == 0;
}

bool ReadSizes(const uint8_t* data, size_t size, PartSizes* sizes) {
  if (size < kMarked || !MayBeginPart(data) || data[3] != 4) return false;
  if (std::memcmp(data + kFixed, kMark, sizeof kMark) != 0) return false;
  *sizes = {LoadLE32(data + kMarked - 8), LoadLE32(data + kMarked - 4)};
  return sizes->compressed > kMarked + kTrailer && sizes->uncompressed <= kMaxBlockBytes;
}

// libdeflate is faster at matches, of which there are many in what compresses well, and ISA-L at literals
// (docs/performance/deflate.md).
bool InflatePart(Bytes part, uint8_t* out, size_t size) {
  return part.size < size / 2 && internal::InflateMember(part, out, size);
}

constexpr CodecLibrary kLibraries[] = {
    {"isa-l", internal::IsalVersion}, {"libdeflate", internal::LibdeflateVersion}, {"zlib", internal::ZlibVersion}};

}  // namespace

namespace internal {

extern constinit const Codec kGzip = {
    .name = "GZIP",
    .extension = ".gz",
    .has_magic = HasMagic,
    .new_decompressor = NewDecompressor,
    .truncated = "no end marker and checksum",
    .blocks = Codec::Blocks::kUnlessTuned,
    .new_compressor = NewCompressor,
    .new_block_compressor = NewBlockCompressor,
    .may_begin_part = MayBeginPart,
    .read_part_sizes = ReadSizes,
    .inflate_part = InflatePart,
    .libraries = kLibraries,
};

}  // namespace internal
}  // namespace tfr
