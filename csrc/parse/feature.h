// One Feature message: which list it holds, and the list's values in a column's type.
//
// The grammar is in wire/example.h, the rules are protobuf's: fields may come in any order, packed runs of one list
// concatenate, the last member of the oneof wins, unknown fields are skipped.

#pragma once

#include <cstddef>
#include <cstdint>

#include "parse/schema.h"

namespace tfr {

// The list that a Feature holds, found but not decoded. `lone`: [begin, end) is the list message itself. Otherwise it
// is a run of the Feature's fields, and each field of this kind is a piece of the list. Empty without a list.
struct FeatureValue {
  Kind kind = Kind::kNone;
  bool lone = false;
  const uint8_t* begin = nullptr;
  const uint8_t* end = nullptr;
};

// False if the Feature is malformed. Looks at the Feature's own fields only, not into the list.
bool FindValue(const uint8_t* p, const uint8_t* end, FeatureValue* value);

// Where decoded values go. Keeps counting when the room is used up, so that an error can say how many there were.
struct ValueTarget {
  uint8_t* out;
  size_t room;   // in values
  size_t count;  // values seen
};

// Counts the values of a list without decoding them; false if that takes more than a look at its bytes, as it does for
// a list in pieces. The count may be wrong if the list is malformed.
bool CountValues(const FeatureValue& value, size_t* count);

enum class Decoded : uint8_t { kOk, kMalformed, kOutOfRange };

// An upper bound of the number of values in the list, given its bytes.
size_t MostValues(const FeatureValue& value);

// Appends the values to the target, converted to `type`, which takes lists of value.kind. On kOutOfRange the first
// integer that does not fit is in *misfit.
Decoded DecodeValues(const FeatureValue& value, ElementType type, ValueTarget* target, int64_t* misfit);

// The string of a bytes list that has only one; *count is the number of strings.
Decoded OnlyBytes(const FeatureValue& value, Bytes* bytes, size_t* count);

}  // namespace tfr
