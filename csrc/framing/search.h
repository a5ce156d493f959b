// Looks for the next intact record after damage.

#ifndef TFRECORD_FAST_FRAMING_SEARCH_H_
#define TFRECORD_FAST_FRAMING_SEARCH_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/records.h"
#include "base/status.h"
#include "io/source.h"

namespace tfr {

// The bytes that a search reads, from some offset on. The offsets asked for only grow.
class SearchedBytes {
 public:
  virtual ~SearchedBytes() = default;

  // *shown gets the bytes from `offset` on: as many as are ready, and at least a header, or all up to the end.
  virtual Status ShowHeader(int64_t offset, Bytes* shown) = 0;
  // The same with at least `size` bytes; if there are fewer, any smaller number. Memory is taken only for
  // bytes that really exist.
  virtual Status ShowRecord(int64_t offset, size_t size, Bytes* shown) = 0;
};

class SearchedMemory : public SearchedBytes {
 public:
  // `bytes` are those from offset 0 on.
  explicit SearchedMemory(Bytes bytes) : bytes_(bytes) {}
  Status ShowHeader(int64_t offset, Bytes* shown) override;
  Status ShowRecord(int64_t offset, size_t size, Bytes* shown) override;

 private:
  const Bytes bytes_;
};

class SearchedFile : public SearchedBytes {
 public:
  // A regular file.
  explicit SearchedFile(const File& file) : file_(file), end_(file.Size()) {}
  Status ShowHeader(int64_t offset, Bytes* shown) override;
  Status ShowRecord(int64_t offset, size_t size, Bytes* shown) override;

 private:
  Status Show(int64_t offset, size_t size, Bytes* shown);

  const File& file_;
  const int64_t end_;
  std::vector<uint8_t> block_;  // what was read last
  int64_t begin_ = 0;           // where it starts in the file
  size_t held_ = 0;
};

// *found is the offset of the first intact record from `from` on, whose header and data both match their CRCs; the end
// of the bytes if there is none.
Status FindIntactRecord(int64_t from, SearchedBytes* bytes, int64_t* found);

}  // namespace tfr

#endif  // TFRECORD_FAST_FRAMING_SEARCH_H_
