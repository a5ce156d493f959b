// Compressing in blocks: each block becomes a part of its own (a GZIP member, a ZSTD frame) that tells its sizes, so
// that threads can compress blocks at once, and a reader can find the parts without inflating them and inflate them
// at once. Parts one after the other are an ordinary file of the format; the bytes are in docs/format.md.
//
//   GZIP: member with an extra field (RFC 1952, 2.3.1.1) of one subfield:
//         1f 8b 08 04  00 00 00 00  xfl 03  0c 00  'T' 'F' 08 00  size:u32le  length:u32le   deflate…  crc32  length
//   ZSTD: a skippable frame (RFC 8878, 3.1.2), then a frame with content size and checksum:
//         5d 2a 4d 18  0c 00 00 00  'T' 'F' 'R' '1'  size:u32le  length:u32le                frame…
//
// `size` is that of the whole part, from its first byte on; `length` that of what it inflates to. A part with this
// mark starts with the first byte of a record and ends with the last byte of one.

#ifndef TFRECORD_FAST_CODEC_BLOCK_H_
#define TFRECORD_FAST_CODEC_BLOCK_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/buffer.h"
#include "base/records.h"
#include "base/status.h"
#include "codec/codec.h"

namespace tfr {

// A block of more bytes than this can't be marked.
constexpr size_t kMaxBlockBytes = size_t{1} << 30;

// Not safe from several threads at once.
class BlockCompressor {
 public:
  virtual ~BlockCompressor() = default;
  // *part gets one part that holds `block`, of *size bytes. `marked`: `block` is whole records, and the part says so.
  virtual Status Compress(Bytes block, bool marked, std::shared_ptr<Buffer>* part, size_t* size) = 0;
};

// GZIP or ZSTD. `level` as in CompressionOptions; kInvalidArgument where it is out of range.
Status NewBlockCompressor(Compression compression, int level, std::unique_ptr<BlockCompressor>* compressor);

struct PartSizes {
  size_t compressed;    // of the whole part, header and trailer included
  size_t uncompressed;  // of what it holds
};

// Enough of a part's beginning to tell.
constexpr size_t kPartHeaderBytes = 24;

// Whether the part that starts with these bytes is marked, and its sizes. They are what the file claims: it is up to
// the reader to hold them against the file's size and against what the part inflates to.
bool ReadPartSizes(Compression compression, const uint8_t* data, size_t size, PartSizes* sizes);

namespace internal {  // one file each

// Deflates a block in one go. Needs `room` of DeflateRoom(size) bytes at out; returns how many were used, 0 on failure.
class BlockDeflater {
 public:
  virtual ~BlockDeflater() = default;
  virtual size_t Deflate(Bytes block, uint8_t* out, size_t room) = 0;
};
size_t DeflateRoom(size_t size);
uint32_t GzipCrc(Bytes block);

std::unique_ptr<BlockDeflater> NewIsalDeflater();
std::unique_ptr<BlockDeflater> NewLibdeflateDeflater(int level);  // 0 to 12
Status NewZstdBlockCompressor(int level, std::unique_ptr<BlockCompressor>* compressor);
std::string LibdeflateVersion();

}  // namespace internal
}  // namespace tfr

#endif  // TFRECORD_FAST_CODEC_BLOCK_H_
