// Names and the factories; see codec.h.

#include "codec/codec.h"

namespace tfr {

const char* CompressionName(Compression compression) {
  switch (compression) {
    case Compression::kNone: return "";
    case Compression::kGzip: return "GZIP";
    case Compression::kZlib: return "ZLIB";
    case Compression::kZstd: return "ZSTD";
  }
  return "";
}

std::unique_ptr<Decompressor> NewDecompressor(Compression compression) {
  switch (compression) {
    case Compression::kGzip: return internal::NewGzipDecompressor();
    case Compression::kZlib: return internal::NewZlibDecompressor();
    case Compression::kZstd: return internal::NewZstdDecompressor();
    case Compression::kNone: break;
  }
  return nullptr;
}

Status NewCompressor(Compression compression, const CompressionOptions& options, std::unique_ptr<Compressor>* compressor) {
  switch (compression) {
    case Compression::kGzip: return internal::NewDeflateCompressor(true, options, compressor);
    case Compression::kZlib: return internal::NewDeflateCompressor(false, options, compressor);
    case Compression::kZstd: return internal::NewZstdCompressor(options, compressor);
    case Compression::kNone: break;
  }
  return Status::InvalidArgument("no compressor for uncompressed files");
}

}  // namespace tfr
