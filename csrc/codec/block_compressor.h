// Compressing in blocks: each block becomes a part of its own (a GZIP member, a ZSTD frame, SNAPPY blocks), so that
// threads can compress several blocks at the same time. Parts one after the other are an ordinary file of the format.
//
// Where the format has room for it, a part is marked: it tells its sizes, so that a reader can find the parts without
// inflating them and inflate several at the same time. A marked part starts with the first byte of a record and ends
// with the last byte of one. The bytes of the marks are in docs/format.md, and in gzip.cc and zstd.cc.

#pragma once

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

// The contents of a block.
enum class Content : uint8_t {
  kRecords,  // whole records, from the first byte to the last; its part is marked, if the format has room for it
  kBytes,    // any bytes
};

// Not safe to use from several threads at the same time.
class BlockCompressor {
 public:
  virtual ~BlockCompressor() = default;
  // *part gets one part that holds `block`, of *size bytes.
  virtual Status Compress(Bytes block, Content content, std::shared_ptr<Buffer>* part, size_t* size) = 0;
};

struct PartSizes {
  size_t compressed;    // of the whole part, header and trailer included
  size_t uncompressed;  // of what it holds
};

// This many bytes from the start of a part are enough to tell if the part is marked.
constexpr size_t kPartHeaderBytes = 24;

// True if the part that starts with these bytes is marked, and its sizes. These are what the file claims: the reader
// has to compare them with the file's size and with what the part inflates to.
bool ReadPartSizes(Compression compression, const uint8_t* data, size_t size, PartSizes* sizes);

// Inflates a whole part to exactly `size` bytes, and checks its checksum. False if that is not all of the part, if it
// is damaged, or if a Decompressor is faster: one must then be used, which reports what is wrong.
bool InflateWholePart(Compression compression, Bytes part, uint8_t* out, size_t size);

// True if a part, marked or not, may begin with these bytes.
bool MayBeginPart(Compression compression, const uint8_t* data, size_t size);

}  // namespace tfr
