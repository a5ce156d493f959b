// Threads, jobs and their order; see block_pool.h.
//
// The thread protocol. One mutex guards everything in Impl. A job is a block on its way: queued for compression
// (`todo_`) and, at the same time, in the queue of its output, in the order of submission. A thread that has compressed
// a job, or waits for one, writes what is ready at the front of that output's queue, unless another thread is doing so
// already (`writing`), which will then see this job too. So each output is written by one thread at a time and in
// order, and different outputs by different threads. They start when a second block is pending: small files need none.

#include "codec/block_pool.h"

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/core_thread.h"
#include "base/interrupt.h"
#include "base/parallel.h"
#include "base/process.h"

namespace tfr {
namespace {

constexpr auto kInterruptInterval = std::chrono::milliseconds(50);

}  // namespace

class BlockPool::Impl {
 public:
  Impl(const BlockPoolOptions& options, size_t num_threads) : options_(options), num_threads_(num_threads) {}

  Status Init() { return NewCompressor(&caller_compressor_); }

  bool forked() const { return generation_ != ForkGeneration(); }

  void Stop() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      stop_ = true;
    }
    work_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  size_t AddOutput(Sink* sink) {
    std::lock_guard<std::mutex> lock(mutex_);
    outputs_.push_back(std::make_unique<Output>());
    outputs_.back()->sink = sink;
    return outputs_.size() - 1;
  }

  Status Submit(size_t number, std::shared_ptr<Buffer> buffer, size_t size, Content content) {
    if (forked()) return Forked();
    std::unique_lock<std::mutex> lock(mutex_);
    Output& output = *outputs_[number];
    if (!output.failed.ok()) return output.failed;
    if (!Queue(&output, std::move(buffer), size, content)) return output.failed = Status::OutOfMemory();
    if (++pending_ > 1) StartThreads(&lock);
    work_.notify_one();
    const size_t most = 2 * num_threads_ + 2;
    while (pending_ > most && output.failed.ok()) {
      if (CallerWrites(output)) {
        WriteReady(&output, &lock);
        if (pending_ <= most) break;
        Wait(&output, &lock, [&] { return output.queue.empty() || output.queue.front()->done; });
      } else {
        Wait(&output, &lock, [&] { return pending_ <= most; });
      }
    }
    return output.failed;
  }

  Status Drain(size_t number) {
    if (forked()) return Forked();
    std::unique_lock<std::mutex> lock(mutex_);
    Output& output = *outputs_[number];
    while (!output.queue.empty()) {
      // Rather than wait, help.
      if (!todo_.empty()) {
        RunOne(caller_compressor_.get(), &lock);
        continue;
      }
      WriteReady(&output, &lock);
      if (output.queue.empty()) break;
      Wait(&output, &lock,
           [&] { return output.queue.empty() || (output.queue.front()->done && !output.writing) || !todo_.empty(); });
    }
    Wait(&output, &lock, [&] { return !output.writing; });
    return output.failed;
  }

 private:
  struct Output;

  struct Job {
    Output* output = nullptr;
    std::shared_ptr<Buffer> buffer;  // the block; then the part
    size_t size = 0;
    Content content = Content::kBytes;
    bool done = false;
    Status status;
  };

  struct Output {
    Sink* sink = nullptr;
    std::deque<std::shared_ptr<Job>> queue;
    bool writing = false;
    Status failed;
  };

  static bool CallerWrites(const Output& output) { return output.sink->caller_only(); }

  // Waits, and asks now and then whether to continue. If not, the output fails: what is queued for it is dropped, which
  // is what the caller then waits for.
  template <typename Until>
  void Wait(Output* output, std::unique_lock<std::mutex>* lock, Until until) {
    while (!done_.wait_for(*lock, kInterruptInterval, until)) {
      lock->unlock();
      Status status = CheckInterrupt();
      lock->lock();
      if (!status.ok()) output->failed = std::move(status);
    }
  }

  // False if memory is exhausted.
  bool Queue(Output* output, std::shared_ptr<Buffer> buffer, size_t size, Content content) {
    try {
      auto job = std::make_shared<Job>();
      job->output = output;
      job->buffer = std::move(buffer);
      job->size = size;
      job->content = content;
      todo_.push_back(job);
      try {
        output->queue.push_back(std::move(job));
      } catch (const std::bad_alloc&) {
        todo_.pop_back();
        throw;
      }
      return true;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }

  static Status Forked() { return Status::Closed("the writer belongs to the process that this one was forked from"); }

  Status NewCompressor(std::unique_ptr<BlockCompressor>* compressor) const {
    if (options_.compression == Compression::kNone) return {};
    return options_.compression.codec()->new_block_compressor(options_.level, compressor);
  }

  void StartThreads(std::unique_lock<std::mutex>* lock) {
    while (threads_.size() < num_threads_ && !out_of_threads_) {
      // The existing threads do the work; at least the caller is one.
      try {
        std::unique_ptr<BlockCompressor> compressor;
        out_of_threads_ = !NewCompressor(&compressor).ok();
        if (!out_of_threads_) {
          threads_.reserve(threads_.size() + 1);  // a thread that is not kept would end the process
          threads_.push_back(StartCoreThread([this, own = std::move(compressor)] { Work(own.get()); }));
        }
      } catch (const std::system_error&) {
        out_of_threads_ = true;
      } catch (const std::bad_alloc&) {
        out_of_threads_ = true;
      }
    }
    while (threads_.empty() && !todo_.empty()) RunOne(caller_compressor_.get(), lock);
  }

  void Work(BlockCompressor* compressor) {
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      work_.wait(lock, [&] { return stop_ || !todo_.empty(); });
      if (stop_) return;
      RunOne(compressor, &lock);
    }
  }

  // Compresses the next job, and releases the lock meanwhile.
  void RunOne(BlockCompressor* compressor, std::unique_lock<std::mutex>* lock) {
    const std::shared_ptr<Job> job = std::move(todo_.front());
    todo_.pop_front();
    if (compressor != nullptr && job->output->failed.ok()) {
      lock->unlock();
      std::shared_ptr<Buffer> part;
      size_t size = 0;
      Status status = WithoutThrowing(
          [&] { return compressor->Compress({job->buffer->data(), job->size}, job->content, &part, &size); });
      if (status.ok()) {
        job->buffer = std::move(part);
        job->size = size;
      }
      lock->lock();
      job->status = std::move(status);
    }
    job->done = true;
    if (!CallerWrites(*job->output)) WriteReady(job->output, lock);
    done_.notify_all();
  }

  // Writes what is ready at the front, and releases the lock meanwhile.
  void WriteReady(Output* output, std::unique_lock<std::mutex>* lock) {
    if (output->writing) return;
    output->writing = true;
    while (!output->queue.empty() && output->queue.front()->done) {
      const std::shared_ptr<Job> job = std::move(output->queue.front());
      output->queue.pop_front();
      if (output->failed.ok()) {
        Status status = std::move(job->status);
        if (status.ok()) {
          lock->unlock();
          const Bytes part = {job->buffer->data(), job->size};
          status = WithoutThrowing([&] { return output->sink->Write(&part, 1); });
          lock->lock();
        }
        if (output->failed.ok()) output->failed = std::move(status);  // a signal may have come meanwhile
      }
      job->buffer.reset();
      --pending_;
      done_.notify_all();
    }
    output->writing = false;
    done_.notify_all();
  }

  const BlockPoolOptions options_;
  const size_t num_threads_;
  const uint64_t generation_ = ForkGeneration();
  std::unique_ptr<BlockCompressor> caller_compressor_;

  std::mutex mutex_;  // guards all below except threads_, which is the caller's
  std::condition_variable work_;
  std::condition_variable done_;
  std::deque<std::shared_ptr<Job>> todo_;
  std::vector<std::unique_ptr<Output>> outputs_;
  size_t pending_ = 0;  // submitted and not yet written
  bool stop_ = false;
  bool out_of_threads_ = false;
  std::vector<std::thread> threads_;
};

BlockPool::BlockPool(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Status BlockPool::New(const BlockPoolOptions& options, std::unique_ptr<BlockPool>* pool) {
  auto impl = std::make_unique<Impl>(options, ResolveThreads(options.num_threads));
  TFR_RETURN_IF_ERROR(impl->Init());
  pool->reset(new BlockPool(std::move(impl)));
  return {};
}

BlockPool::~BlockPool() {
  if (impl_->forked()) {
    (void)impl_.release();
  } else {
    impl_->Stop();
  }
}

size_t BlockPool::AddOutput(Sink* sink) { return impl_->AddOutput(sink); }
Status BlockPool::Submit(size_t output, std::shared_ptr<Buffer> buffer, size_t size, Content content) {
  return impl_->Submit(output, std::move(buffer), size, content);
}
Status BlockPool::Drain(size_t output) { return impl_->Drain(output); }

}  // namespace tfr
