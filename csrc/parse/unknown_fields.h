// Fields of records that the grammar of Example and SequenceExample (wire/example.h) does not have. Parsers skip them,
// as protobuf requires; writing the records in another form would lose them.

#pragma once

#include <cstddef>
#include <cstdint>

#include "base/records.h"

namespace tfr {

struct UnknownFields {
  size_t records = 0;    // those that have one
  size_t first_row = 0;  // the first of these, and the number of its first unknown field
  uint32_t field = 0;
};

// Looks through well-formed records; for others the result is unspecified.
UnknownFields FindUnknownFields(const RecordBatch& batch);

}  // namespace tfr
