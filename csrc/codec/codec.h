// Codecs: compressed streams in both directions, one library a file.
//
// A stream may hold several parts one after the other (members of GZIP, streams of ZLIB, frames of ZSTD); they
// read as one. Between parts the input may end; anywhere else its end is a truncation. What follows the last
// part and is no part itself is damage.

#ifndef TFRECORD_FAST_CODEC_CODEC_H_
#define TFRECORD_FAST_CODEC_CODEC_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/status.h"
#include "io/sink.h"
#include "io/source.h"

namespace tfr {

enum class Compression : uint8_t { kNone, kGzip, kZlib, kZstd };

// "", "GZIP", "ZLIB", "ZSTD".
const char* CompressionName(Compression compression);

// What one call got done.
struct Progress {
  size_t consumed = 0;
  size_t produced = 0;
  bool between_parts = false;  // the input may end here
};

class Decompressor {
 public:
  virtual ~Decompressor() = default;

  // Takes what it can of `in`, gives what it can into `out` (not empty). Does something on every call unless
  // all input given so far is taken and all it stands for is given. On damage, *progress tells what was
  // produced before it.
  virtual Status Decompress(const uint8_t* in, size_t in_size, uint8_t* out, size_t out_size, Progress* progress) = 0;
};

class Compressor {
 public:
  virtual ~Compressor() = default;

  enum class Mode : uint8_t {
    kRun,     // may hold input back
    kFlush,   // all input so far can be read back from what was produced
    kFinish,  // ends the stream
  };
  // Takes what it can of `in`, gives what it can into `out`. *done is set when all of `in` is taken and the mode
  // is fulfilled; until then call again with the rest of `in` and fresh room.
  virtual Status Compress(const uint8_t* in, size_t in_size, uint8_t* out, size_t out_size, Mode mode,
                          Progress* progress, bool* done) = 0;
};

// zlib's parameters, as TensorFlow's TFRecordOptions names them. Unset (kUnset) is the default of the format.
struct CompressionOptions {
  static constexpr int kUnset = -1000;
  int level = kUnset;        // zlib: -1 (6), 0 to 9; zstd: 3 (-1 too), -131072 to 22
  int window_bits = kUnset;  // zlib only: 9..15 ZLIB, 25..31 GZIP, -8..-15 raw deflate
  int method = kUnset;       // zlib only: 8
  int mem_level = kUnset;    // zlib only: 9
  int strategy = kUnset;     // zlib only: 0
  int flush_mode = kUnset;   // zlib only: what follows every buffer of input; 0 is nothing
};

// `compression` is not kNone.
std::unique_ptr<Decompressor> NewDecompressor(Compression compression);
// kInvalidArgument where an option is out of range.
Status NewCompressor(Compression compression, const CompressionOptions& options, std::unique_ptr<Compressor>* compressor);

// The uncompressed bytes of `source`. Bytes before a damaged place are given before the error is, which names the place
// counted from `begin`, where the source starts in its file.
std::unique_ptr<Source> NewDecompressingSource(std::unique_ptr<Source> source, Compression compression, int64_t begin = 0);
// Compresses what is written to it into `sink`.
std::unique_ptr<Sink> NewCompressingSink(std::unique_ptr<Sink> sink, std::unique_ptr<Compressor> compressor);

namespace internal {  // the factories behind the two functions above, one file each

std::unique_ptr<Decompressor> NewGzipDecompressor();
std::unique_ptr<Decompressor> NewZlibDecompressor();
std::unique_ptr<Decompressor> NewZstdDecompressor();
Status NewDeflateCompressor(bool gzip, const CompressionOptions& options, std::unique_ptr<Compressor>* compressor);
Status NewZstdCompressor(const CompressionOptions& options, std::unique_ptr<Compressor>* compressor);
std::string IsalVersion();
std::string ZlibVersion();
std::string ZstdVersion();

}  // namespace internal
}  // namespace tfr

#endif  // TFRECORD_FAST_CODEC_CODEC_H_
