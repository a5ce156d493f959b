// Arrow arrays and streams to columns for the encoder. Numbers and strings are not copied; bits become bytes, and
// offsets and indices are copied as they are checked.
//
// A producer is trusted with the structures: how many buffers and children there are, and that they are long enough.
// Offsets, indices, views and the lengths of children are checked, since they may come from a damaged file.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arrow/c_data.h"
#include "base/block.h"
#include "base/element_type.h"
#include "base/records.h"
#include "base/status.h"

namespace tfr {

// An Arrow array after all checks. The comments name the kinds for which a field is set.
struct ArrowColumn {
  enum class Kind : uint8_t { kNull, kValues, kList, kFixedList, kStruct, kDictionary, kOther };

  Kind kind = Kind::kNull;
  int64_t rows = 0;
  Block valid;                        // all: uint8, 0 for rows that are null; without data if no row is null
  ElementType type = {};              // kValues
  Block values;                       // kValues: read-only, maybe unaligned; kDictionary: int64 indices, all in range
  std::vector<Bytes> strings;         // kValues of type kBytes, instead of `values`
  Owner owner;                        // of the strings
  Block splits;                       // kList: int64
  int64_t width = 0;                  // kFixedList: the items of each row
  std::string format;                 // kOther: Arrow's format, which has no form in an Example
  std::vector<std::string> names;     // kStruct: of the children
  std::vector<ArrowColumn> children;  // kStruct; of a list, its items; of a dictionary, the values that are looked up
};

// Calls array->release. Called from any thread.
using ArrowRelease = void (*)(ArrowArray* array);

// Takes the array over, so that it can be used only once.
Status ImportArrow(const ArrowSchema& schema, ArrowArray* array, ArrowRelease release, ArrowColumn* column);

// The chunks of a stream, which is taken over.
Status ImportArrowStream(ArrowStream* stream, ArrowRelease release, std::vector<ArrowColumn>* chunks);

}  // namespace tfr
