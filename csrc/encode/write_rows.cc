// Blocks, threads and order; see write_rows.h.
//
// The thread protocol: blocks are taken in ascending order of their first rows, and so are those of each writer. A
// thread that has made a block waits for the block's turn at its writer. The block before it was taken earlier, by a
// thread that waits only for blocks that are still earlier, so the first of them can always proceed. A writer is
// touched only by the block whose turn it is.

#include "encode/write_rows.h"

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

class BlockWriter {
 public:
  BlockWriter(const RowEncoder& encoder, const std::vector<RecordWriter*>& writers)
      : encoder_(encoder), writers_(writers), turns_(writers.size()) {}

  void Run(const RowBlock& block) {
    std::shared_ptr<Buffer> buffer;
    Bytes frames;
    Status status;
    std::exception_ptr thrown;
    if (!stopped()) {
      try {
        status = Encode(block.rows, &buffer, &frames);
      } catch (...) {
        thrown = std::current_exception();
      }
    }
    std::unique_lock<std::mutex> lock(mutex_);
    done_.wait(lock, [&] { return turns_[block.file] == block.turn; });
    if (!stopped_ && status.ok() && !thrown) {
      lock.unlock();
      try {
        status = writers_[block.file]->WriteFrames(frames, block.rows.count);
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
    ++turns_[block.file];
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

  // Makes the framed records of rows, end to end.
  Status Encode(const RowRange& rows, std::shared_ptr<Buffer>* buffer, Bytes* frames) {
    std::vector<uint64_t> sizes(rows.count);
    encoder_.Size(rows, sizes.data());
    size_t total = rows.count * kFrameBytes;
    for (const uint64_t size : sizes) total += size;
    *buffer = buffers_.Take(total);
    if (!*buffer) return Status::OutOfMemory("no memory for " + std::to_string(total) + " bytes of records");
    uint8_t* out = (*buffer)->data();
    *frames = {out, total};
    for (size_t i = 0, row = rows.first; i < rows.count; ++i, row += rows.step) {
      uint8_t* const record = out + kHeaderBytes;
      if (!encoder_.Write(row, sizes[i], record)) [[unlikely]]
        return RowChanged(row);
      StoreHeader(out, sizes[i]);
      StoreFooter(record + sizes[i], record, sizes[i]);
      out += sizes[i] + kFrameBytes;
    }
    return {};
  }

  const RowEncoder& encoder_;
  const std::vector<RecordWriter*>& writers_;
  BufferPool buffers_{32 << 20};

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
  std::vector<RowBlock> blocks;
  const auto first_file = static_cast<size_t>(first % writers.size());
  TFR_RETURN_IF_ERROR(CutRows(encoder, writers.size(), first_file, num_threads, &blocks));
  BlockWriter writer(encoder, writers);
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
