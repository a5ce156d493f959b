// Blocks: arrays of values of one size, and their owners.

#pragma once

#include <cstddef>
#include <cstdint>

#include "base/records.h"

namespace tfr {

// A block of values and what keeps it alive.
struct Block {
  Owner owner;
  uint8_t* data = nullptr;
  size_t count = 0;  // in values, not bytes

  template <typename T>
  T* as() const {
    return reinterpret_cast<T*>(data);
  }
};

// Room for `count` values of `item_size` bytes, contents undefined, from a pool shared by the process. False if
// out of memory. `stagger` moves the start by some cache lines, so that columns that are written side by side do not
// all fall into the same cache set.
bool AllocateBlock(size_t count, size_t item_size, size_t stagger, Block* block);

// Room in that pool for blocks that are made ahead. While it lives, the pool keeps as many bytes more as its owner has
// had in flight at most. Otherwise blocks of a large batch would go back to the system, to be faulted in again.
class BlockRoom {
 public:
  BlockRoom() = default;
  ~BlockRoom();
  BlockRoom(const BlockRoom&) = delete;
  BlockRoom& operator=(const BlockRoom&) = delete;

  void Note(size_t bytes_in_flight) noexcept;

 private:
  size_t bytes_ = 0;
};

}  // namespace tfr
