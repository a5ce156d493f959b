// The search, and what it looks through; see search.h.

#include "framing/search.h"

#include <algorithm>

#include "framing/format.h"
#include "framing/scan.h"

namespace tfr {
namespace {

constexpr size_t kBlockBytes = 256 << 10;  // per read

}  // namespace

Status SearchedMemory::ShowHeader(int64_t offset, Bytes* shown) {
  *shown = {bytes_.data + offset, bytes_.size - static_cast<size_t>(offset)};
  return {};
}

Status SearchedMemory::ShowRecord(int64_t offset, size_t, Bytes* shown) { return ShowHeader(offset, shown); }

Status SearchedFile::ShowHeader(int64_t offset, Bytes* shown) { return Show(offset, kHeaderBytes, shown); }

Status SearchedFile::ShowRecord(int64_t offset, size_t size, Bytes* shown) {
  if (size <= static_cast<uint64_t>(std::max<int64_t>(end_ - offset, 0))) return Show(offset, size, shown);
  *shown = {nullptr, 0};
  return {};
}

Status SearchedFile::Show(int64_t offset, size_t size, Bytes* shown) {
  if (offset < begin_ || offset + static_cast<int64_t>(size) > begin_ + static_cast<int64_t>(held_)) {
    block_.resize(std::max(size, kBlockBytes));
    held_ = 0;
    begin_ = offset;
    TFR_RETURN_IF_ERROR(file_.ReadFullyAt(offset, block_.data(), block_.size(), &held_));
  }
  const auto skip = static_cast<size_t>(offset - begin_);
  *shown = {block_.data() + skip, held_ - skip};
  return {};
}

Status FindIntactRecord(int64_t from, SearchedBytes* bytes, int64_t* found) {
  while (true) {
    Bytes shown;
    TFR_RETURN_IF_ERROR(bytes->ShowHeader(from, &shown));
    if (shown.size < kHeaderBytes) {
      *found = from + static_cast<int64_t>(shown.size);
      return {};
    }
    const uint8_t* const header = FindHeader(shown.data, shown.data + shown.size);
    if (header == nullptr) {  // one may begin in the last bytes
      from += static_cast<int64_t>(shown.size - (kHeaderBytes - 1));
      continue;
    }
    from += header - shown.data;
    const uint64_t length = RecordLength(header);
    TFR_RETURN_IF_ERROR(bytes->ShowRecord(from, kFrameBytes + length, &shown));
    if (shown.size >= kFrameBytes + length && DataIsIntact(shown.data + kHeaderBytes, length)) {
      *found = from;
      return {};
    }
    ++from;
  }
}

}  // namespace tfr
