// The entries of the maps in Examples and SequenceExamples, in whatever form a writer gave them. Parsers that expect
// the usual form look for that first, and come here for the rest.

#pragma once

#include <cstdint>
#include <vector>

#include "base/records.h"

namespace tfr {

struct MapEntry {
  Bytes key;
  Bytes value;
};

// The entries that TensorFlow's two parsers accept: key and value in any order, or a key and then a value.
// Neither may be missing.
enum class EntryOrder : uint8_t { kAny, kKeyFirst };

// Reads the next entry of a map, of which [p, end) is left, skipping unknown fields. Returns the cursor after it; `end`
// with a null key if there is none; null if the message is malformed.
const uint8_t* NextEntry(const uint8_t* p, const uint8_t* end, EntryOrder order, MapEntry* entry);

// Appends all entries of a map, in any order of key and value; false if the message is malformed.
bool AppendEntries(const Bytes& map, std::vector<MapEntry>* entries);

}  // namespace tfr
