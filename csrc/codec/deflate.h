// The common half of the codecs GZIP and ZLIB: the libraries that inflate and deflate, one in each file.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/records.h"
#include "base/status.h"
#include "codec/codec.h"

namespace tfr::internal {

enum class Wrapper : uint8_t { kGzip, kZlib };

// isal_inflate.cc
std::unique_ptr<Decompressor> NewInflater(Wrapper wrapper);

// zlib_deflate.cc. kInvalidArgument if zlib refuses the options.
Status NewDeflater(Wrapper wrapper, const CompressionOptions& options, std::unique_ptr<Compressor>* made);

// Deflates a block in one go. Needs `room` of DeflateRoom(size) bytes at out; returns how many were used, 0 on failure.
class BlockDeflater {
 public:
  virtual ~BlockDeflater() = default;
  virtual size_t Deflate(Bytes block, uint8_t* out, size_t room) = 0;
};

// Stored blocks of 64 KiB at worst, with five bytes of header each, and some room that the library needs to work.
constexpr size_t DeflateRoom(size_t size) { return size + size / 64 + (16 << 10); }

std::unique_ptr<BlockDeflater> NewIsalDeflater();                 // isal_deflate.cc
std::unique_ptr<BlockDeflater> NewLibdeflateDeflater(int level);  // libdeflate_block.cc; 0 to 12
uint32_t GzipCrc(Bytes block);                                    // libdeflate_block.cc
// Inflates a member of GZIP whose sizes are known. False if it is damaged, has other sizes, or memory lacks.
bool InflateMember(Bytes member, uint8_t* out, size_t size);  // libdeflate_block.cc

std::string IsalVersion();
std::string LibdeflateVersion();
std::string ZlibVersion();

}  // namespace tfr::internal
