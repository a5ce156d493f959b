// Walking maps, entry by entry; see map_entry.h.

#include "parse/map_entry.h"

#include "wire/example.h"
#include "wire/wire.h"

namespace tfr {
namespace {

bool ReadEntry(const uint8_t* p, const uint8_t* end, EntryOrder order, MapEntry* entry) {
  constexpr unsigned kKey = 1, kValue = 2;
  *entry = {{p, 0}, {p, 0}};
  unsigned had = 0;
  while (p < end) {
    uint32_t tag;
    p = ReadTag(p, end, &tag);
    if (p == nullptr) return false;
    if (tag == kKeyTag || tag == kValueTag) {
      const unsigned field_bit = tag == kKeyTag ? kKey : kValue;
      // Writers never write a field twice; a protobuf library would merge two values.
      if ((had & field_bit) != 0 || (order == EntryOrder::kKeyFirst && had + 1 != field_bit)) return false;
      had |= field_bit;
      Bytes* const field = tag == kKeyTag ? &entry->key : &entry->value;
      p = ReadLength(p, end, &field->size);
      if (p == nullptr) return false;
      field->data = p;
      p += field->size;
    } else {
      p = SkipField(p, end, tag);
      if (p == nullptr) return false;
    }
  }
  return had == (kKey | kValue);
}

}  // namespace

const uint8_t* NextEntry(const uint8_t* p, const uint8_t* end, EntryOrder order, MapEntry* entry) {
  entry->key.data = nullptr;
  while (p < end) {
    uint32_t tag;
    p = ReadTag(p, end, &tag);
    if (p == nullptr) return nullptr;
    if (tag == kEntryTag) {
      size_t size;
      p = ReadLength(p, end, &size);
      return p != nullptr && ReadEntry(p, p + size, order, entry) ? p + size : nullptr;
    }
    p = SkipField(p, end, tag);
    if (p == nullptr) return nullptr;
  }
  return p;
}

bool AppendEntries(const Bytes& map, std::vector<MapEntry>* entries) {
  const uint8_t* p = map.data;
  MapEntry entry;
  while ((p = NextEntry(p, map.data + map.size, EntryOrder::kAny, &entry)) != nullptr && entry.key.data != nullptr) {
    entries->push_back(entry);
  }
  return p != nullptr;
}

}  // namespace tfr
