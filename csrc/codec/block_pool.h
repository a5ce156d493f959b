// Threads that compress blocks for one or more outputs, and write the parts of each output in order.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/buffer.h"
#include "base/records.h"
#include "base/status.h"
#include "codec/block_compressor.h"
#include "io/sink.h"

namespace tfr {

struct BlockPoolOptions {
  Compression compression = Compression::kNone;  // kNone: blocks are written as they are
  int level = CompressionOptions::kUnset;
  size_t num_threads = 0;  // 0: as many as the process may use
};

// Called by one thread at a time. All later calls for an output return its first failure; nothing more is written
// to it.
class BlockPool {
 public:
  // kInvalidArgument if the level is out of range.
  static Status New(const BlockPoolOptions& options, std::unique_ptr<BlockPool>* pool);
  // Stops and joins the threads; what was submitted and not drained may be lost. In a process forked from the one
  // that made it, the threads don't exist, and their memory is not freed.
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  // `sink` must outlive the pool; if it is for its caller only, Submit and Drain write to it, else any thread. Returns
  // the output's number.
  size_t AddOutput(Sink* sink);

  // Hands over a block of an output. Waits while the pool is full: two blocks for each thread and two
  // more. A signal ends the wait, and the output has failed then.
  Status Submit(size_t output, std::shared_ptr<Buffer> buffer, size_t size, Content content);

  // Waits until every block of the output is written.
  Status Drain(size_t output);

 private:
  class Impl;
  explicit BlockPool(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Compresses what is written to it into `sink`, in blocks. Each call of Write must end where a record ends.
Status NewBlockCompressingSink(std::unique_ptr<Sink> sink, const BlockPoolOptions& options,
                               std::unique_ptr<Sink>* made);

}  // namespace tfr
