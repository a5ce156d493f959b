// Blocks, threads and order; see write_rows.h.
//
// The thread protocol: blocks are taken in ascending order of their first rows, and so are those of each writer. A
// thread that has made a block waits for the block's turn at its writer. The block before it was taken earlier, by a
// thread that waits only for blocks that are still earlier, so the first of them can always proceed. A writer is
// touched only by the block whose turn it is.

#include "encode/write_rows.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "base/buffer.h"
#include "base/parallel.h"
#include "encode/encode.h"
#include "framing/format.h"

namespace tfr {
namespace {

// Fits the second-level cache together with what is read for it; two of them make a block of compression.
constexpr uint64_t kBlockBytes = 512 << 10;

struct Block {
  size_t first_row;
  size_t rows;
  size_t writer;
  size_t turn;  // its place among its writer's blocks
  uint64_t bytes;
};

// Fills each block with as many rows of a writer as fit, at least one.
std::vector<Block> CutBlocks(const std::vector<uint64_t>& sizes, size_t writers, size_t first_writer) {
  std::vector<Block> blocks;
  std::vector<size_t> open(writers, SIZE_MAX);  // by writer, the block that is being filled
  std::vector<size_t> turns(writers);
  for (size_t row = 0; row < sizes.size(); ++row) {
    const size_t writer = (first_writer + row) % writers;
    const uint64_t bytes = sizes[row] + kFrameBytes;
    if (open[writer] == SIZE_MAX || blocks[open[writer]].bytes + bytes > kBlockBytes) {
      open[writer] = blocks.size();
      blocks.push_back({row, 0, writer, turns[writer]++, 0});
    }
    Block& block = blocks[open[writer]];
    ++block.rows;
    block.bytes += bytes;
  }
  return blocks;
}

class BlockWriter {
 public:
  BlockWriter(const RowEncoder& encoder, const std::vector<uint64_t>& sizes, const std::vector<RecordWriter*>& writers)
      : encoder_(encoder), sizes_(sizes), writers_(writers), turns_(writers.size()) {}

  void Run(const Block& block) {
    std::shared_ptr<Buffer> frames;
    Status status;
    std::exception_ptr thrown;
    if (!stopped()) {
      try {
        status = Encode(block, &frames);
      } catch (...) {
        thrown = std::current_exception();
      }
    }
    std::unique_lock<std::mutex> lock(mutex_);
    done_.wait(lock, [&] { return turns_[block.writer] == block.turn; });
    if (!stopped_ && status.ok() && !thrown) {
      lock.unlock();
      try {
        status = writers_[block.writer]->WriteFrames({frames->data(), block.bytes}, block.rows);
      } catch (...) {
        thrown = std::current_exception();
      }
      lock.lock();
    }
    if (!stopped_ && (!status.ok() || thrown)) {
      stopped_ = true;
      failed_ = std::move(status);
      thrown_ = std::move(thrown);
    }
    ++turns_[block.writer];
    lock.unlock();
    done_.notify_all();
  }

  // After the last block. Throws what a block has thrown.
  Status TakeStatus() {
    if (thrown_) std::rethrow_exception(thrown_);
    return std::move(failed_);
  }

 private:
  bool stopped() {
    std::lock_guard<std::mutex> lock(mutex_);
    return stopped_;
  }

  // Makes the block's framed records, end to end.
  Status Encode(const Block& block, std::shared_ptr<Buffer>* frames) {
    *frames = buffers_.Take(block.bytes);
    if (!*frames) return Status::OutOfMemory("no memory for " + std::to_string(block.bytes) + " bytes of records");
    uint8_t* out = (*frames)->data();
    for (size_t i = 0, row = block.first_row; i < block.rows; ++i, row += writers_.size()) {
      const uint64_t size = sizes_[row];
      uint8_t* const record = out + kHeaderBytes;
      if (!encoder_.Write(row, size, record)) [[unlikely]]
        return RowChanged(row);
      StoreHeader(out, size);
      StoreFooter(record + size, record, size);
      out += size + kFrameBytes;
    }
    return {};
  }

  const RowEncoder& encoder_;
  const std::vector<uint64_t>& sizes_;
  const std::vector<RecordWriter*>& writers_;
  BufferPool buffers_{64 * kBlockBytes};

  std::mutex mutex_;  // guards all below
  std::condition_variable done_;
  std::vector<size_t> turns_;
  bool stopped_ = false;  // by one of these
  Status failed_;
  std::exception_ptr thrown_;
};

}  // namespace

Status WriteRows(const RowEncoder& encoder, const std::vector<RecordWriter*>& writers, uint64_t first,
                 size_t num_threads) {
  num_threads = ResolveThreads(num_threads);
  std::vector<uint64_t> sizes(encoder.rows());
  TFR_RETURN_IF_ERROR(SizeRows(encoder, num_threads, sizes.data()));
  const std::vector<Block> blocks = CutBlocks(sizes, writers.size(), static_cast<size_t>(first % writers.size()));
  BlockWriter writer(encoder, sizes, writers);
  for (const RecordWriter* one : writers) {
    if (one->caller_only()) num_threads = 1;
  }
  ParallelFor(blocks.size(), num_threads, [&](size_t i) { writer.Run(blocks[i]); });
  Status status = writer.TakeStatus();
  if (!status.ok()) {
    for (RecordWriter* one : writers) one->Fail(status);
  }
  return status;
}

}  // namespace tfr
