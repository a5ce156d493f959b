// Allocation and pooling; see buffer.h.

#include "base/buffer.h"

#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>

namespace tfr {
namespace {

constexpr size_t kAlignment = 64;  // a cache line, and the widest vector register

}  // namespace

std::shared_ptr<Buffer> Buffer::Allocate(size_t capacity) {
  if (capacity > SIZE_MAX - kAlignment) return nullptr;
  const size_t rounded = (capacity + kAlignment - 1) / kAlignment * kAlignment;
  auto* data = static_cast<uint8_t*>(std::aligned_alloc(kAlignment, rounded ? rounded : kAlignment));
  if (data == nullptr) return nullptr;
  return std::shared_ptr<Buffer>(new Buffer(data, capacity));
}

Buffer::~Buffer() { std::free(data_); }

BufferPool::BufferPool(size_t max_idle_bytes) : shelf_(std::make_shared<Shelf>()) {
  shelf_->max_idle_bytes = max_idle_bytes;
}

std::shared_ptr<Buffer> BufferPool::Take(size_t capacity) {
  std::unique_ptr<Buffer> buffer;
  {
    std::lock_guard<ForkSafeMutex> lock(shelf_->mutex);
    // The newest first, as it is the most likely to be still in the cache. Never one more than twice the size, or a
    // single large record would keep large blocks in use for small chunks.
    for (size_t i = shelf_->idle.size(); i-- > 0;) {
      const size_t have = shelf_->idle[i]->capacity();
      if (have < capacity || have / 2 > capacity) continue;
      buffer = std::move(shelf_->idle[i]);
      shelf_->idle.erase(shelf_->idle.begin() + static_cast<ptrdiff_t>(i));
      shelf_->idle_bytes -= have;
      break;
    }
  }
  if (!buffer) {
    std::shared_ptr<Buffer> fresh = Buffer::Allocate(capacity);
    if (!fresh) return nullptr;
    buffer.reset(new Buffer(std::exchange(fresh->data_, nullptr), capacity));
  }
  auto give_back = [shelf = std::weak_ptr<Shelf>(shelf_)](Buffer* raw) {
    std::unique_ptr<Buffer> returned(raw);
    if (std::shared_ptr<Shelf> open = shelf.lock()) {
      std::lock_guard<ForkSafeMutex> lock(open->mutex);
      if (open->idle_bytes + returned->capacity() <= open->max_idle_bytes) {
        open->idle_bytes += returned->capacity();
        open->idle.push_back(std::move(returned));
      }
    }
  };
  return std::shared_ptr<Buffer>(buffer.release(), give_back);
}

}  // namespace tfr
