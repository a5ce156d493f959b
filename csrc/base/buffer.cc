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
constexpr size_t kMostIdle = 4096;  // buffers on a shelf: columns of some batches of a thousand features

// Blocks of at least this size are mapped, as the C library does; a growing block is mapped earlier. Mapped blocks grow
// by remapping, and leave nothing in the heaps.
constexpr size_t kMapped = size_t{32} << 20;
constexpr size_t kMappedGrown = size_t{2} << 20;

// From this size on blocks have huge pages, if the system has some: a window of shuffled records is read in no order,
// and would wait for page tables.
constexpr size_t kHuge = size_t{8} << 20;
constexpr size_t kHugePage = size_t{2} << 20;

}  // namespace

bool Buffer::Take(size_t capacity, [[maybe_unused]] size_t mapped_from) noexcept {
  if (capacity > SIZE_MAX / 2) return false;
#if defined(__linux__)
  if (capacity >= mapped_from) {
    void* block = ::mmap(nullptr, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) return false;
    data_ = static_cast<uint8_t*>(block);
    capacity_ = capacity;
    mapped_ = true;
    return true;
  }
#endif
  const size_t alignment = capacity < kHuge ? kAlignment : kHugePage;
  const size_t rounded = std::max((capacity + alignment - 1) / alignment * alignment, alignment);
  data_ = static_cast<uint8_t*>(std::aligned_alloc(alignment, rounded));
  capacity_ = capacity;
#if defined(__linux__)
  if (data_ != nullptr && capacity >= kHuge) (void)::madvise(data_, capacity / kHugePage * kHugePage, MADV_HUGEPAGE);
#endif
  return data_ != nullptr;
}

Buffer::~Buffer() {
#if defined(__linux__)
  if (mapped_) {
    ::munmap(data_, capacity_);
    return;
  }
#endif
  std::free(data_);
}

bool Buffer::Grow(size_t capacity, size_t kept) noexcept {
  if (capacity <= capacity_) return true;
#if defined(__linux__)
  if (mapped_) {
    if (capacity > SIZE_MAX / 2) return false;
    void* block = ::mremap(data_, capacity_, capacity, MREMAP_MAYMOVE);
    if (block == MAP_FAILED) return false;
    data_ = static_cast<uint8_t*>(block);
    capacity_ = capacity;
    return true;
  }
#endif
  Buffer larger;
  if (!larger.Take(capacity, kMappedGrown)) return false;
  std::memcpy(larger.data_, data_, kept);
  std::swap(data_, larger.data_);
  std::swap(capacity_, larger.capacity_);
  std::swap(mapped_, larger.mapped_);
  return true;
}

std::shared_ptr<Buffer> Buffer::Allocate(size_t capacity) noexcept {
  try {
    std::shared_ptr<Buffer> buffer(new Buffer);
    return buffer->Take(capacity, kMapped) ? std::move(buffer) : nullptr;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

BufferPool::BufferPool(size_t max_idle_bytes) : BufferPool(max_idle_bytes, kMapped) {}

BufferPool::BufferPool(size_t max_idle_bytes, size_t mapped_from) : shelf_(std::make_shared<Shelf>()) {
  shelf_->max_idle_bytes = max_idle_bytes;
  shelf_->mapped_from = mapped_from;
  shelf_->idle.reserve(kMostIdle);
}

void BufferPool::KeepMore(ptrdiff_t more) noexcept {
  {
    std::lock_guard<ForkSafeMutex> lock(shelf_->mutex);
    shelf_->max_idle_bytes += static_cast<size_t>(more);
  }
  if (more < 0) shelf_->Trim();
}

std::unique_ptr<Buffer> BufferPool::Shelf::Remove(size_t index) noexcept {
  std::unique_ptr<Buffer> buffer = std::move(idle[index]);
  idle.erase(idle.begin() + static_cast<ptrdiff_t>(index));
  idle_bytes -= buffer->capacity();
  return buffer;
}

// Here and below, buffers are freed without the lock.
void BufferPool::Shelf::GiveBack(std::unique_ptr<Buffer> buffer) noexcept {
  std::unique_ptr<Buffer> oldest;
  {
    std::lock_guard<ForkSafeMutex> lock(mutex);
    if (buffer->capacity() > max_idle_bytes) return;
    if (idle.size() == kMostIdle) oldest = Remove(0);
    idle_bytes += buffer->capacity();
    idle.push_back(std::move(buffer));
    if (idle_bytes <= max_idle_bytes) return;
  }
  Trim();
}

void BufferPool::Shelf::Trim() noexcept {
  for (;;) {
    std::unique_ptr<Buffer> oldest;
    std::lock_guard<ForkSafeMutex> lock(mutex);
    if (idle_bytes <= max_idle_bytes) return;
    oldest = Remove(0);
  }
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
      buffer = shelf_->Remove(i);
      break;
    }
  }
  try {
    if (!buffer) {
      buffer.reset(new Buffer);
      if (!buffer->Take(capacity, shelf_->mapped_from)) return nullptr;
    }
    auto give_back = [shelf = std::weak_ptr<Shelf>(shelf_)](Buffer* raw) noexcept {
      std::unique_ptr<Buffer> returned(raw);
      if (const std::shared_ptr<Shelf> open = shelf.lock()) open->GiveBack(std::move(returned));
    };
    return std::shared_ptr<Buffer>(buffer.release(), give_back);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // namespace tfr
