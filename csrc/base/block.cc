// Memory of blocks; see block.h.

#include "base/block.h"

#include <bit>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/buffer.h"

namespace tfr {
namespace {

constexpr size_t kCacheLine = 64;
constexpr size_t kPage = 4096;
constexpr size_t kMaxIdleBytes = size_t{64} << 20;
constexpr size_t kPoolFrom = 4 << 10;      // smaller blocks come from malloc
constexpr size_t kStaggerFrom = 16 << 10;  // smaller blocks do not start on pages of their own

BufferPool& Pool() {
  // Never destroyed: arrays may outlive the end of the program's static objects.
  static BufferPool* pool = new BufferPool(kMaxIdleBytes);
  return *pool;
}

// Lists of about the same length should find each other's blocks in the pool, so sizes are rounded up to an eighth of a
// power of two.
size_t SizeClass(size_t bytes) {
  const size_t step = std::bit_floor(bytes) / 8;
  return (bytes + step - 1) / step * step;
}

}  // namespace

bool AllocateBlock(size_t count, size_t item_size, size_t stagger, Block* block) {
  if (count > (SIZE_MAX / 2) / item_size) return false;
  const size_t bytes = count * item_size;
  const size_t shift = bytes >= kStaggerFrom ? stagger * kCacheLine % kPage : 0;
  std::shared_ptr<Buffer> buffer = bytes >= kPoolFrom ? Pool().Take(SizeClass(bytes + shift)) : Buffer::Allocate(bytes);
  if (!buffer) return false;
  block->data = buffer->data() + shift;
  block->count = count;
  block->owner = std::move(buffer);
  return true;
}

BlockRoom::~BlockRoom() { Pool().KeepMore(-static_cast<ptrdiff_t>(bytes_)); }

void BlockRoom::Note(size_t bytes_in_flight) noexcept {
  if (bytes_in_flight <= bytes_) return;
  Pool().KeepMore(static_cast<ptrdiff_t>(bytes_in_flight - bytes_));
  bytes_ = bytes_in_flight;
}

}  // namespace tfr
