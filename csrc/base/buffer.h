// Buffers: reference-counted blocks of memory that many views share, taken from a pool and given back to it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/process.h"

namespace tfr {

// A block of `capacity` bytes, 64-byte aligned, contents undefined. Any thread may free it.
class Buffer {
 public:
  // Null if out of memory.
  static std::shared_ptr<Buffer> Allocate(size_t capacity) noexcept;

  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  uint8_t* data() const { return data_; }
  size_t capacity() const { return capacity_; }

  // Makes it larger and keeps its first `kept` bytes; only for its one owner. A large block grows without a second one
  // of its size beside it, where the system can do that. False if out of memory; it is as it was then.
  bool Grow(size_t capacity, size_t kept) noexcept;

 private:
  friend class BufferPool;
  Buffer() = default;
  bool Take(size_t capacity, size_t mapped_from) noexcept;

  uint8_t* data_ = nullptr;
  size_t capacity_ = 0;
  bool mapped_ = false;
};

// Hands out buffers of at least the requested size, and takes them back when their last reference is dropped, so that a
// steady stream of batches runs on memory that is already mapped and, with luck, in the cache. Buffers may outlive the
// pool. Safe from any thread, and in a forked process.
class BufferPool {
 public:
  // Keeps at most `max_idle_bytes` for reuse, those that came back last; the rest is freed immediately.
  explicit BufferPool(size_t max_idle_bytes);
  // The same for buffers of which those of at least `mapped_from` bytes go back to the system when they are freed, and
  // are not kept by the C library, which has a heap for each thread.
  BufferPool(size_t max_idle_bytes, size_t mapped_from);

  // Null if out of memory.
  std::shared_ptr<Buffer> Take(size_t capacity) noexcept;

  // Changes how much is kept, by `more` or by less.
  void KeepMore(ptrdiff_t more) noexcept;

 private:
  struct Shelf {
    std::unique_ptr<Buffer> Remove(size_t index) noexcept;
    void GiveBack(std::unique_ptr<Buffer> buffer) noexcept;
    void Trim() noexcept;  // frees the oldest until the rest is within the bound

    ForkSafeMutex mutex;                        // guards all below
    std::vector<std::unique_ptr<Buffer>> idle;  // the oldest first; never grows: giving back takes no memory
    size_t idle_bytes = 0;
    size_t max_idle_bytes;
    size_t mapped_from;
  };
  std::shared_ptr<Shelf> shelf_;
};

}  // namespace tfr
