// The choice between a stream and blocks; see compressed_sink.h.

#include "codec/compressed_sink.h"

#include <utility>

namespace tfr {
namespace {

bool InBlocks(const Codec& codec, const CompressionOptions& options) {
  constexpr int kUnset = CompressionOptions::kUnset;
  switch (codec.blocks) {
    case Codec::Blocks::kNever:
      return false;
    case Codec::Blocks::kAlways:
      return true;
    case Codec::Blocks::kUnlessTuned:
      return options.window_bits == kUnset && options.method == kUnset && options.mem_level == kUnset &&
             options.strategy == kUnset && options.flush_mode == kUnset;
  }
  return false;
}

}  // namespace

Status CheckCompression(Compression compression, const CompressionOptions& options) {
  if (compression == Compression::kNone) return {};
  const Codec& codec = *compression.codec();
  std::unique_ptr<Compressor> unused;
  std::unique_ptr<BlockCompressor> unused_block;
  return InBlocks(codec, options) ? codec.new_block_compressor(options.level, &unused_block)
                                  : codec.new_compressor(options, &unused);
}

Status NewCompressedSink(std::unique_ptr<Sink> sink, Compression compression, const CompressionOptions& options,
                         size_t num_threads, std::unique_ptr<Sink>* made) {
  if (compression == Compression::kNone) {
    *made = std::move(sink);
    return {};
  }
  const Codec& codec = *compression.codec();
  if (InBlocks(codec, options)) {
    const BlockPoolOptions pool = {compression, options.level, num_threads};
    return NewBlockCompressingSink(std::move(sink), pool, made);
  }
  std::unique_ptr<Compressor> compressor;
  TFR_RETURN_IF_ERROR(codec.new_compressor(options, &compressor));
  *made = NewCompressingSink(std::move(sink), std::move(compressor));
  return {};
}

}  // namespace tfr
