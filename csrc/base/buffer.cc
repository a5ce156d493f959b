// Allocation and pooling; see buffer.h.

#include "base/buffer.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

namespace tfr {
namespace {

constexpr size_t kAlignment = 64;   // a cache line, and the widest vector register
constexpr size_t kMostIdle = 1024;  // buffers on a shelf

// From this size on blocks are mapped, as the C library does it, too, so that they can grow by remapping.
#if defined(__linux__)
constexpr size_t kMapped = size_t{32} << 20;
bool IsMapped(size_t capacity) { return capacity >= kMapped; }
#else
bool IsMapped(size_t) { return false; }
#endif

}  // namespace

bool Buffer::Take(size_t capacity) noexcept {
  if (capacity > SIZE_MAX / 2) return false;
#if defined(__linux__)
  if (IsMapped(capacity)) {
    void* block = ::mmap(nullptr, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) return false;
    data_ = static_cast<uint8_t*>(block);
    capacity_ = capacity;
    return true;
  }
#endif
  const size_t rounded = std::max((capacity + kAlignment - 1) / kAlignment * kAlignment, kAlignment);
  data_ = static_cast<uint8_t*>(std::aligned_alloc(kAlignment, rounded));
  capacity_ = capacity;
  return data_ != nullptr;
}

void Buffer::Release() noexcept {
#if defined(__linux__)
  if (IsMapped(capacity_)) {
    ::munmap(data_, capacity_);
    return;
  }
#endif
  std::free(data_);
}

bool Buffer::Grow(size_t capacity, size_t kept) noexcept {
  if (capacity <= capacity_) return true;
#if defined(__linux__)
  if (IsMapped(capacity_)) {
    if (capacity > SIZE_MAX / 2) return false;
    void* block = ::mremap(data_, capacity_, capacity, MREMAP_MAYMOVE);
    if (block == MAP_FAILED) return false;
    data_ = static_cast<uint8_t*>(block);
    capacity_ = capacity;
    return true;
  }
#endif
  Buffer larger;
  if (!larger.Take(capacity)) return false;
  std::memcpy(larger.data_, data_, kept);
  std::swap(data_, larger.data_);
  std::swap(capacity_, larger.capacity_);
  return true;
}

std::shared_ptr<Buffer> Buffer::Allocate(size_t capacity) noexcept {
  try {
    std::shared_ptr<Buffer> buffer(new Buffer);
    return buffer->Take(capacity) ? std::move(buffer) : nullptr;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

Buffer::~Buffer() {
  if (data_ != nullptr) Release();
}

BufferPool::BufferPool(size_t max_idle_bytes) : shelf_(std::make_shared<Shelf>()) {
  shelf_->max_idle_bytes = max_idle_bytes;
  shelf_->idle.reserve(kMostIdle);
}

std::shared_ptr<Buffer> BufferPool::Take(size_t capacity) noexcept {
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
  try {
    if (!buffer) {
      buffer.reset(new Buffer);
      if (!buffer->Take(capacity)) return nullptr;
    }
    auto give_back = [shelf = std::weak_ptr<Shelf>(shelf_)](Buffer* raw) noexcept {
      std::unique_ptr<Buffer> returned(raw);
      if (std::shared_ptr<Shelf> open = shelf.lock()) {
        std::lock_guard<ForkSafeMutex> lock(open->mutex);
        if (open->idle_bytes + returned->capacity() <= open->max_idle_bytes && open->idle.size() < kMostIdle) {
          open->idle_bytes += returned->capacity();
          open->idle.push_back(std::move(returned));
        }
      }
    };
    return std::shared_ptr<Buffer>(buffer.release(), give_back);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // namespace tfr
