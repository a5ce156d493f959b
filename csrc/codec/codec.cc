// The table of codecs; see codec.h.

#include "codec/codec.h"

#include "codec/block_compressor.h"

namespace tfr {

// One line for each codec, whose entry is defined in its own file: gzip.cc, zlib.cc, …
#define TFR_CODECS(CODEC) \
  CODEC(kGzip)            \
  CODEC(kZlib)            \
  CODEC(kZstd)            \
  CODEC(kSnappy)

namespace internal {
#define TFR_DECLARE(codec) extern const Codec codec;
TFR_CODECS(TFR_DECLARE)
#undef TFR_DECLARE
}  // namespace internal

namespace {
#define TFR_ENTRY(codec) &internal::codec,
constexpr const Codec* kTable[] = {TFR_CODECS(TFR_ENTRY)};
#undef TFR_ENTRY
}  // namespace

std::span<const Codec* const> Codecs() { return kTable; }

const char* CompressionName(Compression compression) {
  return compression == Compression::kNone ? "" : compression.codec()->name;
}

std::optional<Compression> FindCompression(std::string_view name) {
  if (name.empty()) return Compression::kNone;
  for (const Codec* codec : Codecs()) {
    if (name == codec->name) return Compression(codec);
  }
  return std::nullopt;
}

std::unique_ptr<Decompressor> NewDecompressor(Compression compression) {
  return compression.codec()->new_decompressor();
}

bool MayBeginPart(Compression compression, const uint8_t* data, size_t size) {
  const Codec* codec = compression.codec();
  return size >= kPartHeaderBytes && codec != nullptr && codec->may_begin_part != nullptr &&
         codec->may_begin_part(data);
}

bool ReadPartSizes(Compression compression, const uint8_t* data, size_t size, PartSizes* sizes) {
  const Codec* codec = compression.codec();
  return codec != nullptr && codec->read_part_sizes != nullptr && codec->read_part_sizes(data, size, sizes);
}

bool InflateWholePart(Compression compression, Bytes part, uint8_t* out, size_t size) {
  const Codec* codec = compression.codec();
  return codec != nullptr && codec->inflate_part != nullptr && codec->inflate_part(part, out, size);
}

}  // namespace tfr
