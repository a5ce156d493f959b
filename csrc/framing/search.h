// Looks for the next intact record after damage.
//
// Damaged bytes may be full of headers, by accident or on purpose, each of which claims a long record. To check the
// data of each from its first byte to its last would take time that grows with the square of their number. Therefore a
// search keeps the CRC of all bytes from some place on, at regular steps; the CRC of a long record is put together from
// those at its ends. Every byte is read a bounded number of times, and no record is held in memory because of its
// claim.

#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/records.h"
#include "base/status.h"
#include "framing/format.h"
#include "io/source.h"

namespace tfr {

// The bytes that a search reads.
class SearchedBytes {
 public:
  virtual ~SearchedBytes() = default;

  // *shown gets the bytes from `offset` on: as many as are ready, and at least a header, or all up to the end. The
  // requested offsets only grow; what lies before may be forgotten.
  virtual Status ShowHeader(int64_t offset, Bytes* shown) = 0;
  // True if there are bytes up to `end`.
  virtual Status Reach(int64_t end, bool* reached) = 0;
  // *shown gets `size` bytes from `offset` on, which is not before ShowHeader's last; fewer only at the file's end.
  virtual Status Show(int64_t offset, size_t size, Bytes* shown) = 0;
};

class SearchedMemory : public SearchedBytes {
 public:
  // `bytes` are those from offset 0 on.
  explicit SearchedMemory(Bytes bytes) : bytes_(bytes) {}
  Status ShowHeader(int64_t offset, Bytes* shown) override;
  Status Reach(int64_t end, bool* reached) override;
  Status Show(int64_t offset, size_t size, Bytes* shown) override;

 private:
  const Bytes bytes_;
};

class SearchedFile : public SearchedBytes {
 public:
  // A regular file, which must outlive this.
  explicit SearchedFile(const File& file) : file_(file) {}
  Status ShowHeader(int64_t offset, Bytes* shown) override;
  Status Reach(int64_t end, bool* reached) override;
  Status Show(int64_t offset, size_t size, Bytes* shown) override;

 private:
  // A part of the file that was read.
  struct Window {
    std::vector<uint8_t> bytes;
    int64_t begin = 0;
    size_t size = 0;

    bool Holds(int64_t offset, size_t wanted) const;
    Bytes From(int64_t offset) const;
  };
  Status Fill(Window* window, int64_t offset, size_t size);

  const File& file_;
  int64_t size_ = 0;  // at the last request
  Window near_;       // where headers are looked for
  Window far_;        // where records end
};

// Searches one stream of bytes, as often as need be, each time from further on.
class RecordSearch {
 public:
  // `most`: as for JudgeHeader. `cancelled`, if it is given, ends a search: kCancelled.
  explicit RecordSearch(uint64_t most, const std::atomic<bool>* cancelled = nullptr)
      : most_(most), cancelled_(cancelled) {}

  // *found is the offset of the first intact record from `from` on, whose header and data both match their CRCs; the
  // end of the bytes if there is none. Asks now and then whether to continue (CheckInterrupt).
  Status Find(int64_t from, SearchedBytes* bytes, int64_t* found);

  // Notes so much work, also of those who search for something else, and asks now and then whether to continue.
  Status Worked(size_t bytes);

 private:
  Status Check(int64_t offset, size_t length, SearchedBytes* bytes, bool* intact);
  Status CheckLong(int64_t begin, int64_t end, SearchedBytes* bytes, bool* intact);
  Status SumUpTo(int64_t step, SearchedBytes* bytes);

  const uint64_t most_;
  const std::atomic<bool>* const cancelled_;
  // sums_[i] is the CRC of the bytes from first_step_ steps on, i steps long.
  std::vector<uint32_t> sums_;
  int64_t first_step_ = 0;
  size_t worked_ = 0;  // bytes since the clock was looked at last
  std::chrono::steady_clock::time_point asked_ = std::chrono::steady_clock::now();
};

}  // namespace tfr
