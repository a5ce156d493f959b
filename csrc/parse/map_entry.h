// The entries of the maps in Examples and SequenceExamples, in whatever form a writer gave them. Where the usual form is
// expected, parsers look for that first, and come here for the rest.

#ifndef TFRECORD_FAST_PARSE_MAP_ENTRY_H_
#define TFRECORD_FAST_PARSE_MAP_ENTRY_H_

#include <cstdint>

#include "base/records.h"

namespace tfr {

struct MapEntry {
  Bytes key;
  Bytes value;
};

// What TensorFlow's two parsers take: key and value as they come, or a key and then a value. Both must be there.
enum class EntryOrder : uint8_t { kAny, kKeyFirst };

// The next entry of the map whose message goes on at `p`, past fields that are not known. Returns the cursor behind it;
// `end` with a null key where there is none; null where the message is malformed.
const uint8_t* NextEntry(const uint8_t* p, const uint8_t* end, EntryOrder order, MapEntry* entry);

}  // namespace tfr

#endif  // TFRECORD_FAST_PARSE_MAP_ENTRY_H_
