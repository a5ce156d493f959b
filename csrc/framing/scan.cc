// The innermost loops of reading; see scan.h.

#include "framing/scan.h"

#include <algorithm>

#include "framing/format.h"

namespace tfr {
namespace {

constexpr size_t kMostReserved = 1024;  // records; for more, growing is cheap enough

}  // namespace

Hop HopRecords(const uint8_t* begin, const uint8_t* end, uint64_t most, std::vector<Bytes>* records) {
  const uint8_t* next = begin;
  while (static_cast<size_t>(end - next) >= kHeaderBytes) {
    const HeaderState state = JudgeHeader(next, most);
    if (state != HeaderState::kIntact) {
      return {next, state == HeaderState::kBadCrc ? Hop::End::kBadHeader : Hop::End::kTooLarge};
    }
    const uint64_t length = RecordLength(next);
    if (static_cast<size_t>(end - next) < kFrameBytes + length) break;
    if (records->empty()) {
      const size_t alike = 1 + static_cast<size_t>(end - next) / (kFrameBytes + static_cast<size_t>(length));
      records->reserve(std::min(alike, kMostReserved));
    }
    records->push_back({next + kHeaderBytes, static_cast<size_t>(length)});
    next += kFrameBytes + length;
  }
  return {next, Hop::End::kMore};
}

const uint8_t* FindHeader(const uint8_t* begin, const uint8_t* end, uint64_t most) {
  for (const uint8_t* at = begin; static_cast<size_t>(end - at) >= kHeaderBytes; ++at) {
    if (JudgeHeader(at, most) == HeaderState::kIntact) return at;
  }
  return nullptr;
}

size_t FirstDamaged(const Bytes* records, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (!DataIsIntact(records[i].data, records[i].size)) return i;
  }
  return count;
}

}  // namespace tfr
