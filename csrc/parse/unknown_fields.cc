// Walks through records by their tags alone; see unknown_fields.h.

#include "parse/unknown_fields.h"

#include "wire/example.h"
#include "wire/wire.h"

namespace tfr {
namespace {

// The messages of wire/example.h, and what fields may be besides: a value, or unknown.
enum class Part : uint8_t {
  kRecord,
  kFeatures,
  kFeatureLists,
  kFeatureEntry,
  kListEntry,
  kFeatureList,
  kFeature,
  kBytes,
  kFloats,
  kInt64s,
  kValue,
  kUnknown,
};

// The part of the grammar that a field is.
Part FieldIn(Part message, uint32_t tag) {
  switch (message) {
    case Part::kRecord:
      if (tag == kFeaturesTag) return Part::kFeatures;
      return tag == kFeatureListsTag ? Part::kFeatureLists : Part::kUnknown;
    case Part::kFeatures:
      return tag == kEntryTag ? Part::kFeatureEntry : Part::kUnknown;
    case Part::kFeatureLists:
      return tag == kEntryTag ? Part::kListEntry : Part::kUnknown;
    case Part::kFeatureEntry:
      if (tag == kKeyTag) return Part::kValue;
      return tag == kValueTag ? Part::kFeature : Part::kUnknown;
    case Part::kListEntry:
      if (tag == kKeyTag) return Part::kValue;
      return tag == kValueTag ? Part::kFeatureList : Part::kUnknown;
    case Part::kFeatureList:
      return tag == kStepTag ? Part::kFeature : Part::kUnknown;
    case Part::kFeature:
      if (tag == ListTag(Kind::kBytes)) return Part::kBytes;
      if (tag == ListTag(Kind::kFloat)) return Part::kFloats;
      return tag == ListTag(Kind::kInt64) ? Part::kInt64s : Part::kUnknown;
    case Part::kBytes:
      return tag == kStringTag ? Part::kValue : Part::kUnknown;
    case Part::kFloats:
      return tag == kPackedTag || tag == kUnpackedFloatTag ? Part::kValue : Part::kUnknown;
    case Part::kInt64s:
      return tag == kPackedTag || tag == kUnpackedInt64Tag ? Part::kValue : Part::kUnknown;
    case Part::kValue:
    case Part::kUnknown:
      break;
  }
  return Part::kUnknown;
}

// The number of the first unknown field; 0 if there is none. Messages are nested six deep at most.
uint32_t FirstIn(Part message, const uint8_t* p, const uint8_t* end) {
  while (p < end) {
    uint32_t tag;
    p = ReadTag(p, end, &tag);
    if (p == nullptr) return 0;
    const Part part = FieldIn(message, tag);
    if (part == Part::kUnknown) return FieldOf(tag);
    if (part == Part::kValue) {
      p = SkipField(p, end, tag);
      if (p == nullptr) return 0;
      continue;
    }
    size_t size;
    p = ReadLength(p, end, &size);
    if (p == nullptr) return 0;
    if (const uint32_t found = FirstIn(part, p, p + size); found != 0) return found;
    p += size;
  }
  return 0;
}

}  // namespace

UnknownFields FindUnknownFields(const RecordBatch& batch) {
  UnknownFields found;
  for (size_t row = 0; row < batch.size(); ++row) {
    const Bytes& record = batch.records[row];
    const uint32_t field = FirstIn(Part::kRecord, record.data, record.data + record.size);
    if (field == 0) continue;
    if (found.records++ == 0) {
      found.first_row = row;
      found.field = field;
    }
  }
  return found;
}

}  // namespace tfr
