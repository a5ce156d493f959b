// Writing compressed: the options of a codec, and its choice between one stream and blocks on several threads.

#pragma once

#include <cstddef>
#include <memory>

#include "base/status.h"
#include "codec/block_pool.h"
#include "codec/codec.h"
#include "io/sink.h"

namespace tfr {

// kInvalidArgument if an option is out of range. For use before a file is touched.
Status CheckCompression(Compression compression, const CompressionOptions& options);

// Compresses what is written to it into `sink`, by the codec's rule for blocks; kNone: returns `sink` itself. Each
// call of Write must end where a record ends. num_threads matters for blocks only; see BlockPoolOptions.
Status NewCompressedSink(std::unique_ptr<Sink> sink, Compression compression, const CompressionOptions& options,
                         size_t num_threads, std::unique_ptr<Sink>* made);

}  // namespace tfr
