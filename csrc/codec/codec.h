// Codecs: compressed streams in both directions. A codec is an entry in one table, defined in a file of its own.
//
// A stream may hold several parts one after the other (members of GZIP, streams of ZLIB, frames of ZSTD, blocks of
// SNAPPY); they read as one. Between parts the input may end; anywhere else, its end is a truncation. What follows the
// last part and is not a part itself is damage.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/records.h"
#include "base/status.h"
#include "io/sink.h"
#include "io/source.h"

namespace tfr {

// The progress of one call.
struct Progress {
  size_t consumed = 0;
  size_t produced = 0;
  bool between_parts = false;  // the input may end here
  bool at_restart = false;     // stopped as StopAtRestart asked
};

// A place in a compressed stream where decompression can begin.
struct Restart {
  size_t bits_back = 0;  // how many bits before the end of the input that was taken
  size_t pending = 0;    // bytes of output before it that were not given out yet
  bool inside = false;   // of a part: what follows refers to the window
  Bytes window = {};     // the output before it; valid until the next call
};

class Decompressor {
 public:
  virtual ~Decompressor() = default;

  // Takes what it can of `in`, writes what it can to `out` (not empty). Makes progress on every call unless
  // all input given so far is taken and all of its output is written. On damage, *progress tells what was
  // produced before it.
  virtual Status Decompress(const uint8_t* in, size_t in_size, uint8_t* out, size_t out_size, Progress* progress) = 0;

  // How many bytes of input came before the part that is being read. Only of codecs that have may_begin_part.
  virtual int64_t part_begin() const { return 0; }

  // Has a later call of Decompress stop at the next place where decompression can begin (Progress::at_restart).
  virtual void StopAtRestart() = 0;
  virtual Restart restart() const { return {}; }
  // To be called before the first Decompress. It then goes on from a restart inside a part, whose checksum is not
  // checked. `bits` bits of the first byte were not taken: the upper ones.
  virtual void BeginInside(uint8_t /*first_byte*/, int /*bits*/, Bytes /*window*/) {}
};

class Compressor {
 public:
  virtual ~Compressor() = default;

  enum class Mode : uint8_t {
    kRun,     // may hold input back
    kFlush,   // all input so far can be read back from what was produced
    kFinish,  // ends the stream
  };
  // Takes what it can of `in`, writes what it can to `out`. *done is set when all of `in` is taken and the mode
  // is fulfilled; until then call again with the rest of `in` and more room.
  virtual Status Compress(const uint8_t* in, size_t in_size, uint8_t* out, size_t out_size, Mode mode,
                          Progress* progress, bool* done) = 0;
};

// zlib's parameters, as TensorFlow's TFRecordOptions names them. Unset (kUnset) is the default of the format.
struct CompressionOptions {
  static constexpr int kUnset = -1000;
  int level = kUnset;        // zlib: -1 (6), 0 to 9; zstd: 3 (-1 too), -131072 to 22; snappy has none
  int window_bits = kUnset;  // zlib only: 9..15 ZLIB, 25..31 GZIP, -8..-15 raw deflate
  int method = kUnset;       // zlib only: 8
  int mem_level = kUnset;    // zlib only: 9
  int strategy = kUnset;     // zlib only: 0
  int flush_mode = kUnset;   // zlib only: what follows every buffer of input; 0: nothing
};

class BlockCompressor;  // block.h
struct PartSizes;

// A library that a codec works with.
struct CodecLibrary {
  const char* name;
  std::string (*version)();
};

// The inflated beginning of a stream: as much as was requested and the stream holds.
struct Peeked {
  size_t produced = 0;
  // How many bytes of the stream, counted from its start, are needed at least to produce more. 0 if all that was
  // requested was produced, or if this is not such a stream.
  size_t needed = 0;
};

// An entry in the table of codecs. What a codec lacks is null.
struct Codec {
  enum class Blocks : uint8_t {
    kNever,
    kUnlessTuned,  // not if zlib's own parameters, other than the level, are given: they describe one stream
    kAlways,
  };
  enum class Appending : uint8_t {
    kAllowed,
    kRefused,  // TensorFlow reads the first part and silently ignores the rest
  };

  const char* name;            // what users call it: "GZIP"
  const char* extension = "";  // of files that are compressed in this way: ".gz"; "" if none is usual

  // How a file shows that it is compressed in this way: by magic bytes, or, if there are none, by what its
  // beginning inflates to. `size` may be too small to tell.
  bool (*has_magic)(const uint8_t* head, size_t size) = nullptr;
  Peeked (*peek)(const uint8_t* head, size_t size, uint8_t* out, size_t wanted) = nullptr;

  // Null if out of memory.
  std::unique_ptr<Decompressor> (*new_decompressor)();
  const char* truncated;  // what a stream that ends too early lacks, for the message

  Blocks blocks = Blocks::kNever;
  // kInvalidArgument if an option is out of range. The first is null with kAlways, the second with kNever.
  Status (*new_compressor)(const CompressionOptions& options, std::unique_ptr<Compressor>* made) = nullptr;
  Status (*new_block_compressor)(int level, std::unique_ptr<BlockCompressor>* made) = nullptr;
  // True if a part may begin with these bytes, at least kPartHeaderBytes (block.h). Null if too much looks like a part.
  bool (*may_begin_part)(const uint8_t* data) = nullptr;
  // Like ReadPartSizes (block.h); null where parts carry no mark.
  bool (*read_part_sizes)(const uint8_t* data, size_t size, PartSizes* sizes) = nullptr;
  // Like InflateWholePart (block_compressor.h); null if a decompressor is as fast.
  bool (*inflate_part)(Bytes part, uint8_t* out, size_t size) = nullptr;

  Appending appending = Appending::kAllowed;
  std::span<const CodecLibrary> libraries;
};

// All codecs, in the order in which the beginning of a file is compared with them.
std::span<const Codec* const> Codecs();

// How a file is compressed: with a codec of the table, or not at all.
class Compression {
 public:
  constexpr Compression() = default;
  constexpr explicit Compression(const Codec* codec) : codec_(codec) {}

  static const Compression kNone;

  // Null for kNone.
  constexpr const Codec* codec() const { return codec_; }
  constexpr bool operator==(const Compression&) const = default;

 private:
  const Codec* codec_ = nullptr;
};

inline constexpr Compression Compression::kNone{};

// "" for kNone, else the codec's name.
const char* CompressionName(Compression compression);
// The reverse; nullopt if no codec has this name.
std::optional<Compression> FindCompression(std::string_view name);

// `compression` is not kNone. Null if out of memory.
std::unique_ptr<Decompressor> NewDecompressor(Compression compression);

// Notes where the decompression of a stream can begin.
class RestartLog {
 public:
  virtual ~RestartLog() = default;
  // True if a place is wanted after `out` bytes of output.
  virtual bool Wants(int64_t out) const = 0;
  // At this bit of the file, before which the stream has `out` bytes. The window is that of a place inside a part.
  virtual Status Add(int64_t bit, int64_t out, bool inside, Bytes window) = 0;
};

// The uncompressed bytes of `source`. Bytes before a damaged place come before the error, which names the place as
// counted from `begin`, where the source starts in its file. After damage it can be read on from the next part.
std::unique_ptr<Source> NewDecompressingSource(std::unique_ptr<Source> source, Compression compression,
                                               int64_t begin = 0, std::shared_ptr<RestartLog> log = nullptr);
// The same with a decompressor that was told where it begins; null if out of memory.
std::unique_ptr<Source> NewDecompressingSource(std::unique_ptr<Source> source, Compression compression, int64_t begin,
                                               std::unique_ptr<Decompressor> decompressor);
// Compresses what is written to it into `sink`, as one stream.
std::unique_ptr<Sink> NewCompressingSink(std::unique_ptr<Sink> sink, std::unique_ptr<Compressor> compressor);

}  // namespace tfr
