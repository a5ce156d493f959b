// Cuts bytes in memory into records and checks their CRCs: the two innermost loops of reading.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/records.h"

namespace tfr {

struct Hop {
  enum class End : uint8_t {
    kMore,       // `next` is where a record starts, or would start, that is not whole before `end`
    kBadHeader,  // `next` is where a header starts whose CRC is wrong
    kTooLarge,   // `next` is where an intact header starts that claims more than a record may have
  };
  const uint8_t* next;
  End end;
};

// Hops from header to header over [begin, end), whose first byte is a record's first, and appends a view of each
// whole record's data. Headers are checked, data is not: it is not even touched. `most`: as for JudgeHeader.
Hop HopRecords(const uint8_t* begin, const uint8_t* end, uint64_t most, std::vector<Bytes>* records);

// The first intact header in [begin, end); null if there is none.
const uint8_t* FindHeader(const uint8_t* begin, const uint8_t* end, uint64_t most);

// The first of `records` (each followed by its footer) whose data does not match its CRC; `count` if all do.
size_t FirstDamaged(const Bytes* records, size_t count);

}  // namespace tfr
