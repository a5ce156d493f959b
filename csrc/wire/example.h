// The grammar of tf.train.Example and SequenceExample, as protobuf lays them out (wire.h): example.proto and
// feature.proto of TensorFlow.
//
//   Example         := features:Features = 1
//   SequenceExample := context:Features = 1  feature_lists:FeatureLists = 2
//   Features        := entry* = 1            entry := key:string = 1  value:Feature = 2
//   FeatureLists    := entry* = 1            entry := key:string = 1  value:FeatureList = 2
//   FeatureList     := step:Feature* = 1
//   Feature         := BytesList = 1 | FloatList = 2 | Int64List = 3
//   BytesList       := bytes* = 1            one field per string
//   FloatList       := float* = 1            packed: one field with the values end to end, 4 bytes each
//   Int64List       := int64* = 1            packed: one field with the values as varints
//
// A number list may also have a field per value, not packed, or several packed runs.
//
// {"a": [5]} as an Example, 14 bytes:
//
//   0a 0c | 0a 0a | 0a 01 61 | 12 05 | 1a 03 | 0a 01 | 05
//   features, 12 bytes | entry, 10 | key "a" | value, 5 | Int64List, 3 | packed run, 1 | the value

#pragma once

#include <cstddef>
#include <cstdint>

#include "base/element_type.h"
#include "wire/wire.h"

namespace tfr {

enum class MessageType : uint8_t { kExample, kSequenceExample };

// The two maps of a SequenceExample. An Example has the first only, under the same tag.
enum class MapType : uint8_t { kFeatures, kFeatureLists };

// Which list a Feature holds; the values are the field numbers in the oneof.
enum class Kind : uint8_t { kNone = 0, kBytes = 1, kFloat = 2, kInt64 = 3 };

// The names in error messages.
constexpr const char* KindName(Kind kind) {
  constexpr const char* kNames[] = {"none", "bytes", "float", "int64"};
  return kNames[static_cast<size_t>(kind)];
}

// The list that holds values of this type.
constexpr Kind KindOf(ElementType type) {
  return type == ElementType::kBytes ? Kind::kBytes : IsFloat(type) ? Kind::kFloat : Kind::kInt64;
}

// ---- Tags, of one byte each ----

constexpr uint8_t kFeaturesTag = WireTag(1, kWireDelimited);  // of an Example; of a SequenceExample, the context
constexpr uint8_t kFeatureListsTag = WireTag(2, kWireDelimited);
constexpr uint8_t kEntryTag = WireTag(1, kWireDelimited);
constexpr uint8_t kKeyTag = WireTag(1, kWireDelimited);
constexpr uint8_t kValueTag = WireTag(2, kWireDelimited);
constexpr uint8_t kStepTag = WireTag(1, kWireDelimited);
constexpr uint8_t ListTag(Kind kind) { return WireTag(static_cast<uint32_t>(kind), kWireDelimited); }
constexpr uint8_t kStringTag = WireTag(1, kWireDelimited);  // each string of a BytesList
constexpr uint8_t kPackedTag = WireTag(1, kWireDelimited);  // a run of a FloatList or Int64List
constexpr uint8_t kUnpackedFloatTag = WireTag(1, kWireFixed32);
constexpr uint8_t kUnpackedInt64Tag = WireTag(1, kWireVarint);

constexpr bool IsListTag(uint32_t tag) {
  return tag == ListTag(Kind::kBytes) || tag == ListTag(Kind::kFloat) || tag == ListTag(Kind::kInt64);
}
constexpr Kind KindOfListTag(uint32_t tag) { return static_cast<Kind>(FieldOf(tag)); }

// ---- Headers, where every length takes one byte ----

constexpr size_t kShortField = 1 + 1;  // a tag and its length

// Before a key: entry tag, its length | key tag, its length. As a little-endian word.
constexpr size_t kEntryHeaderBytes = 2 * kShortField;

constexpr uint32_t kEntryLengthUnit = 1u << 8;  // what one byte more in the entry adds to its header

// Header of an entry with `key_bytes` of key and a value of `value_bytes`.
constexpr uint32_t EntryHeader(uint32_t key_bytes, uint32_t value_bytes) {
  return kEntryTag | static_cast<uint32_t>(kKeyTag) << 16 | key_bytes << 24 |
         (kShortField + key_bytes + kShortField + value_bytes) * kEntryLengthUnit;
}
static_assert(EntryHeader(1, 5) == 0x010a0a0a);

// Before the packed values of a Feature: the tag that the Feature is under (kValueTag or kStepTag), its length |
// list tag, its length | packed tag, its length. As the lower six bytes of a little-endian word.
constexpr size_t kFeatureHeaderBytes = 3 * kShortField;
constexpr uint64_t kFeatureHeaderMask = (uint64_t{1} << 8 * kFeatureHeaderBytes) - 1;

// A Feature's own bytes, without its tag and length, are this many more than its values'.
constexpr uint32_t kFeatureOverhead = 2 * kShortField;

// The most bytes of values for which the Feature's length takes one byte.
constexpr uint64_t kMaxShortValues = kMaxShortLength - kFeatureOverhead;

// Every length in the header grows by one with each byte of the values.
constexpr uint64_t kFeatureLengthUnit = uint64_t{1} << 8 | uint64_t{1} << 24 | uint64_t{1} << 40;

constexpr uint64_t FeatureHeader(uint8_t tag, Kind kind, uint64_t value_bytes) {
  return (tag | uint64_t{kFeatureOverhead} << 8 | static_cast<uint64_t>(ListTag(kind)) << 16 |
          uint64_t{kShortField} << 24 | static_cast<uint64_t>(kPackedTag) << 32) +
         value_bytes * kFeatureLengthUnit;
}
static_assert(FeatureHeader(kValueTag, Kind::kInt64, 1) == 0x010a031a0512);

// How many bytes of values a header claims.
constexpr size_t ValueBytes(uint64_t header) { return header >> 40 & 0xff; }
static_assert(ValueBytes(FeatureHeader(kStepTag, Kind::kFloat, kMaxShortValues)) == kMaxShortValues);

}  // namespace tfr
