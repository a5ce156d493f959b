// The codec ZLIB (RFC 1950): one stream by zlib.

#include "codec/deflate.h"

namespace tfr {
namespace {

Status NewCompressor(const CompressionOptions& options, std::unique_ptr<Compressor>* made) {
  return internal::NewDeflater(internal::Wrapper::kZlib, options, made);
}

std::unique_ptr<Decompressor> NewDecompressor() { return internal::NewInflater(internal::Wrapper::kZlib); }

// RFC 1950, 2.2: method 8, a window of at most 32 KiB, no preset dictionary, and a multiple of 31.
bool HasMagic(const uint8_t* head, size_t size) {
  return size >= 2 && (head[0] & 0x0f) == 8 && (head[0] >> 4) <= 7 && (head[1] & 0x20) == 0 &&
         (head[0] * 256 + head[1]) % 31 == 0;
}

constexpr CodecLibrary kLibraries[] = {{"isa-l", internal::IsalVersion}, {"zlib", internal::ZlibVersion}};

}  // namespace

namespace internal {

extern constinit const Codec kZlib = {
    .name = "ZLIB",
    .has_magic = HasMagic,
    .new_decompressor = NewDecompressor,
    .truncated = "no end marker and checksum",
    .new_compressor = NewCompressor,
    .appending = Codec::Appending::kRefused,
    .libraries = kLibraries,
};

}  // namespace internal
}  // namespace tfr
