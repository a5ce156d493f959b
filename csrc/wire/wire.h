// The protobuf wire format: tags, varints, length-delimited fields, and skipping unknown fields. What the fields of our
// messages mean is in example.h.
//
// Spec: https://protobuf.dev/programming-guides/encoding/. Every function that reads takes a cursor and the end of the
// message that it is in, never reads at or past the end, and returns the cursor after what it read, or null if
// the bytes are malformed. A length is checked against the bytes that exist before anything acts on it.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "base/records.h"
#include "varint/varint.h"

namespace tfr {

enum WireType : uint32_t {
  kWireVarint = 0,
  kWireFixed64 = 1,
  kWireDelimited = 2,
  kWireStartGroup = 3,
  kWireEndGroup = 4,
  kWireFixed32 = 5,
};

// The tag of `field`; one byte as long as field < 16.
constexpr uint32_t WireTag(uint32_t field, WireType type) { return field << 3 | type; }
constexpr uint32_t WireTypeOf(uint32_t tag) { return tag & 7; }
constexpr uint32_t FieldOf(uint32_t tag) { return tag >> 3; }

constexpr uint32_t kMaxShortLength = 0x7f;  // the longest length that takes one byte
constexpr int kMaxGroupDepth = 100;         // deeper nesting is refused, as by the protobuf runtime

// Like DecodeVarint, for tags and lengths, most of which take one byte.
inline const uint8_t* ReadVarint(const uint8_t* p, const uint8_t* end, uint64_t* value) {
  if (p < end && *p < 0x80) [[likely]] {
    *value = *p;
    return p + 1;
  }
  return internal::DecodeLongVarint(p, end, value);
}

// A tag: a varint below 2^32 with a field number above 0.
inline const uint8_t* ReadTag(const uint8_t* p, const uint8_t* end, uint32_t* tag) {
  uint64_t value;
  p = ReadVarint(p, end, &value);
  if (p == nullptr || value > UINT32_MAX || value < 8) return nullptr;
  *tag = static_cast<uint32_t>(value);
  return p;
}

// A length prefix: on success *size bytes are there after the returned cursor.
inline const uint8_t* ReadLength(const uint8_t* p, const uint8_t* end, size_t* size) {
  uint64_t value;
  p = ReadVarint(p, end, &value);
  if (p == nullptr || value > static_cast<uint64_t>(end - p)) return nullptr;
  *size = static_cast<size_t>(value);
  return p;
}

// Skips the field whose tag has just been read, groups included.
const uint8_t* SkipField(const uint8_t* p, const uint8_t* end, uint32_t tag);

// Calls take(tag, Bytes), which returns a bool, with each delimited field of a message whose tag is one of `tags`, and
// skips all other fields. False if the message is malformed, or once `take` returns false.
template <typename Take>
bool ForEachField(const Bytes& message, std::initializer_list<uint32_t> tags, Take take) {
  const uint8_t* p = message.data;
  const uint8_t* const end = p + message.size;
  while (p < end) {
    uint32_t tag;
    p = ReadTag(p, end, &tag);
    if (p == nullptr) return false;
    if (std::find(tags.begin(), tags.end(), tag) == tags.end()) {
      p = SkipField(p, end, tag);
      if (p == nullptr) return false;
      continue;
    }
    size_t size;
    p = ReadLength(p, end, &size);
    if (p == nullptr || !take(tag, Bytes{p, size})) return false;
    p += size;
  }
  return true;
}

// ---- Writing ----

// How many bytes a length-delimited field of `size` bytes takes with its tag, of one byte, and its length.
inline uint64_t FieldSize(uint64_t size) { return 1 + VarintSize(size) + size; }

// Writes the tag and the length; returns the byte after them, where the field's `size` bytes go.
inline uint8_t* WriteField(uint8_t tag, uint64_t size, uint8_t* out) {
  *out++ = tag;
  return EncodeVarint(size, out);
}

}  // namespace tfr
