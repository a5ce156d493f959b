// Skipping unknown fields; see wire.h.

#include "wire/wire.h"

namespace tfr {
namespace {

// To the byte after the end-group tag that closes `field`.
const uint8_t* SkipGroup(const uint8_t* p, const uint8_t* end, uint32_t field, int depth);

const uint8_t* SkipFieldAt(const uint8_t* p, const uint8_t* end, uint32_t tag, int depth) {
  uint64_t ignored;
  size_t size;
  switch (WireTypeOf(tag)) {
    case kWireVarint:
      return ReadVarint(p, end, &ignored);
    case kWireFixed64:
      return end - p >= 8 ? p + 8 : nullptr;
    case kWireDelimited:
      p = ReadLength(p, end, &size);
      return p ? p + size : nullptr;
    case kWireStartGroup:
      return SkipGroup(p, end, FieldOf(tag), depth);
    case kWireFixed32:
      return end - p >= 4 ? p + 4 : nullptr;
    default:  // an end-group tag that nothing opened, or one of the two types that do not exist
      return nullptr;
  }
}

const uint8_t* SkipGroup(const uint8_t* p, const uint8_t* end, uint32_t field, int depth) {
  if (depth >= kMaxGroupDepth) return nullptr;
  while (p != nullptr) {
    uint32_t tag;
    p = ReadTag(p, end, &tag);
    if (p == nullptr) return nullptr;
    if (WireTypeOf(tag) == kWireEndGroup) return FieldOf(tag) == field ? p : nullptr;
    p = SkipFieldAt(p, end, tag, depth + 1);
  }
  return nullptr;
}

}  // namespace

const uint8_t* SkipField(const uint8_t* p, const uint8_t* end, uint32_t tag) { return SkipFieldAt(p, end, tag, 0); }

}  // namespace tfr
