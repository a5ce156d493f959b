// A file as memory: many small pieces of it, copied out of the page cache without a call of the system for each.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "io/source.h"

namespace tfr {

// [offset, offset + size) of a file goes to `to`.
struct Piece {
  int64_t offset;
  size_t size;
  uint8_t* to;
};

// If a file is cut while it is mapped, or its disk fails, touching the memory raises SIGBUS, which ends the process.
// Therefore no one gets a pointer into the mapping: Copy is the only way to read it, and survives that. For this the
// first mapping installs a handler for SIGBUS, once and for good; any such signal that is not Copy's goes to the
// handler that was there before.
class MappedFile {
 public:
  // Null where the system refuses; the file has to be read then.
  static std::unique_ptr<const MappedFile> Map(const File& file);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  // In bytes, when it was mapped.
  int64_t size() const { return size_; }

  // All pieces must lie within size(). False if some of the bytes could not be read; what the pieces' memory holds is
  // undefined then, and File::ReadAt tells the reason.
  bool Copy(const Piece* pieces, size_t count) const;

 private:
  MappedFile(const uint8_t* data, int64_t size) : data_(data), size_(size) {}

  const uint8_t* data_;
  int64_t size_;
};

}  // namespace tfr
