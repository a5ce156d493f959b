// Cuts what is written into blocks at the ends of records; see block_pool.h.

#include <algorithm>
#include <cstring>
#include <utility>

#include "codec/block_pool.h"

namespace tfr {
namespace {

// Large enough that blocks take little more room than one long stream would (0.3 % with deflate's window of 32 KiB),
// small enough that a file of a few MiB has one for every thread.
constexpr size_t kBlockBytes = size_t{1} << 20;

class BlockCompressingSink : public Sink {
 public:
  BlockCompressingSink(std::unique_ptr<Sink> sink, std::unique_ptr<BlockPool> pool)
      : sink_(std::move(sink)), pool_(std::move(pool)), output_(pool_->AddOutput(sink_.get())) {}

  Status Write(const Bytes* parts, size_t count) override {
    size_t total = 0;
    for (size_t i = 0; i < count; ++i) total += parts[i].size;
    if (total == 0) return {};
    if (used_ > 0 && total > kBlockBytes - std::min(used_, kBlockBytes)) TFR_RETURN_IF_ERROR(EndBlock());
    if (total > kMaxBlockBytes) return WriteUnmarked(parts, count);
    if (!buffer_ || buffer_->capacity() - used_ < total) {
      buffer_ = buffers_.Take(std::max(total, kBlockBytes));
      if (!buffer_) return Status::OutOfMemory("no memory for a block of " + std::to_string(total) + " bytes");
    }
    for (size_t i = 0; i < count; ++i) {
      if (parts[i].size > 0) std::memcpy(buffer_->data() + used_, parts[i].data, parts[i].size);
      used_ += parts[i].size;
    }
    return used_ >= kBlockBytes ? EndBlock() : Status();
  }

  Status Flush() override {
    TFR_RETURN_IF_ERROR(EndBlock());
    TFR_RETURN_IF_ERROR(pool_->Drain(output_));
    return sink_->Flush();
  }

  bool caller_only() const override { return sink_->caller_only(); }

  Status Close() override {
    // A file without records is one empty part.
    if (!any_ && used_ == 0) {
      buffer_ = buffers_.Take(kBlockBytes);
      any_ = true;
      if (!buffer_) return Status::OutOfMemory("block");
      TFR_RETURN_IF_ERROR(pool_->Submit(output_, std::exchange(buffer_, nullptr), 0, Content::kBytes));
    }
    Status status = EndBlock();
    Status drained = pool_->Drain(output_);
    Status closed = sink_->Close();
    return !status.ok() ? std::move(status) : !drained.ok() ? std::move(drained) : std::move(closed);
  }

 private:
  Status EndBlock() {
    if (used_ == 0) return {};
    any_ = true;
    return pool_->Submit(output_, std::exchange(buffer_, nullptr), std::exchange(used_, 0), Content::kRecords);
  }

  // A record too large for a block's mark is written in pieces, none of which is a whole record.
  Status WriteUnmarked(const Bytes* parts, size_t count) {
    any_ = true;
    for (size_t i = 0; i < count; ++i) {
      for (size_t done = 0; done < parts[i].size;) {
        const size_t now = std::min(parts[i].size - done, 16 * kBlockBytes);
        std::shared_ptr<Buffer> piece = buffers_.Take(now);
        if (!piece) return Status::OutOfMemory("no memory for a block of " + std::to_string(now) + " bytes");
        std::memcpy(piece->data(), parts[i].data + done, now);
        TFR_RETURN_IF_ERROR(pool_->Submit(output_, std::move(piece), now, Content::kBytes));
        done += now;
      }
    }
    return {};
  }

  std::unique_ptr<Sink> sink_;  // outlives the pool
  BufferPool buffers_{8 * kBlockBytes};
  std::unique_ptr<BlockPool> pool_;
  size_t output_;
  std::shared_ptr<Buffer> buffer_;
  size_t used_ = 0;
  bool any_ = false;
};

}  // namespace

Status NewBlockCompressingSink(std::unique_ptr<Sink> sink, const BlockPoolOptions& options,
                               std::unique_ptr<Sink>* made) {
  std::unique_ptr<BlockPool> pool;
  TFR_RETURN_IF_ERROR(BlockPool::New(options, &pool));
  *made = std::make_unique<BlockCompressingSink>(std::move(sink), std::move(pool));
  return {};
}

}  // namespace tfr
