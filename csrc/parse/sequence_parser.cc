// The SequenceExample parser; see sequence_parser.h. The message: example.proto and feature.proto of TensorFlow.
//
//   SequenceExample { Features context = 1; FeatureLists feature_lists = 2; }
//   FeatureLists    { map<string, FeatureList> feature_list = 1; }
//   FeatureList     { repeated Feature feature = 1; }                         each is a step

#include "parse/sequence_parser.h"

#include <algorithm>

#include "wire/wire.h"

namespace tfr {
namespace {

constexpr uint32_t kContextTag = WireTag(1, kWireDelimited);
constexpr uint32_t kListsTag = WireTag(2, kWireDelimited);
constexpr uint32_t kEntryTag = WireTag(1, kWireDelimited);
constexpr uint32_t kKeyTag = WireTag(1, kWireDelimited);
constexpr uint32_t kValueTag = WireTag(2, kWireDelimited);
constexpr uint32_t kStepTag = WireTag(1, kWireDelimited);

// The fields of a map entry. TensorFlow takes a key and then a value here, nothing else; fields that are not
// known may stand between.
bool ReadEntry(const uint8_t* p, const uint8_t* end, Bytes* key, Bytes* value) {
  uint32_t expected = kKeyTag;
  while (p < end) {
    uint32_t tag;
    p = ReadTag(p, end, &tag);
    if (p == nullptr) return false;
    if (tag == kKeyTag || tag == kValueTag) {
      if (tag != expected) return false;
      Bytes* field = tag == kKeyTag ? key : value;
      p = ReadLength(p, end, &field->size);
      if (p == nullptr) return false;
      field->data = p;
      p += field->size;
      expected = tag == kKeyTag ? kValueTag : 0;
    } else {
      p = SkipField(p, end, tag);
      if (p == nullptr) return false;
    }
  }
  return expected == 0;
}

Status InStep(Status status, size_t step) {
  if (status.code() != StatusCode::kInvalidArgument) return status;
  Status in_step = Status::InvalidArgument(status.detail().message + " (step " + std::to_string(step) + ")");
  return std::move(in_step).WithFeature(status.detail().feature);
}

}  // namespace

SequenceParser::Map::Map(SchemaPtr wanted) : schema(std::move(wanted)), keys(*schema), writer(*schema) {
  found.resize(schema->size());
}

SequenceParser::SequenceParser(SchemaPtr context, SchemaPtr lists)
    : context_(std::move(context)), lists_(std::move(lists)) {}

Status SequenceParser::ParseRows(const Bytes* records, size_t first, size_t last, const ColumnTarget* context_targets,
                                 const ColumnTarget* list_targets, size_t* bad_row) {
  context_.writer.StartRange(context_targets, first, last - first);
  lists_.writer.StartRange(list_targets, first, last - first);
  for (size_t row = first; row < last; ++row) {
    PrefetchScattered(records, row, last);
    Status status = ParseRow(records[row], row);
    if (!status.ok()) [[unlikely]] {
      *bad_row = row;
      return status;
    }
    context_.writer.EndRow(row);
    lists_.writer.EndRow(row);
  }
  return {};
}

bool SequenceParser::WalkMap(const uint8_t* p, const uint8_t* end, Map* map) {
  KeyTable::Slot* slots = map->keys.slots();
  while (p < end) {
    uint32_t tag;
    size_t size;
    p = ReadTag(p, end, &tag);
    if (p == nullptr) return false;
    if (tag != kEntryTag) {
      p = SkipField(p, end, tag);
      if (p == nullptr) return false;
      continue;
    }
    p = ReadLength(p, end, &size);
    if (p == nullptr) return false;
    Bytes key, value;
    if (!ReadEntry(p, p + size, &key, &value)) return false;
    p += size;
    uint32_t found = slots[map->last_key].next;
    if (found <= KeyTable::kUnknown || !KeyTable::Matches(slots[found], key.data, key.size)) {
      found = map->keys.Find(key.data, key.size);
      slots = map->keys.slots();
      slots[map->last_key].next = found;
    }
    map->last_key = found;
    if (slots[found].feature >= 0) map->found[static_cast<size_t>(slots[found].feature)] = value;
  }
  return true;
}

bool SequenceParser::Walk(const Bytes& record) {
  for (Map* map : {&context_, &lists_}) {
    std::fill(map->found.begin(), map->found.end(), Bytes{nullptr, 0});
    map->last_key = KeyTable::kStart;
  }
  const uint8_t* p = record.data;
  const uint8_t* const end = p + record.size;
  while (p < end) {
    uint32_t tag;
    size_t size;
    p = ReadTag(p, end, &tag);
    if (p == nullptr) return false;
    if (tag == kContextTag || tag == kListsTag) {
      p = ReadLength(p, end, &size);
      if (p == nullptr || !WalkMap(p, p + size, tag == kContextTag ? &context_ : &lists_)) return false;
      p += size;
    } else {
      if ((tag & 7) == kWireStartGroup) return false;  // as TensorFlow
      p = SkipField(p, end, tag);
      if (p == nullptr) return false;
    }
  }
  return true;
}

Status SequenceParser::ParseRow(const Bytes& record, size_t row) {
  if (!Walk(record)) {
    return Status::InvalidArgument("could not parse the record as a SequenceExample: malformed protobuf (" +
                                   std::to_string(record.size) + " bytes)");
  }
  TFR_RETURN_IF_ERROR(PutContext(row));
  for (size_t f = 0; f < lists_.schema->size(); ++f) TFR_RETURN_IF_ERROR(PutList(f, row));
  return {};
}

Status SequenceParser::PutContext(size_t row) {
  for (size_t f = 0; f < context_.schema->size(); ++f) {
    const FeatureSpec& spec = context_.schema->features()[f];
    const Bytes& found = context_.found[f];
    if (found.data == nullptr) {
      if (spec.layout == Layout::kFixed) {
        if (!spec.has_default()) return MissingFeature(spec);
        context_.writer.PutDefault(f, row);
      }
      continue;
    }
    FeatureValue value;
    if (!FindValue(found.data, found.data + found.size, &value)) return MalformedFeature(spec);
    // A Feature without a kind has no values: too few, whatever the default, unless none are wanted.
    if (value.kind == Kind::kNone && spec.layout == Layout::kFixed) value.kind = KindOf(spec.type);
    Status why;
    if (!context_.writer.Put(f, row, value, &why)) return why;
  }
  return {};
}

Status SequenceParser::PutList(size_t f, size_t row) {
  const FeatureSpec& spec = lists_.schema->features()[f];
  const Bytes& found = lists_.found[f];
  if (found.data == nullptr) {
    if (spec.layout != Layout::kPadded || spec.may_be_absent) return {};
    return Status::InvalidArgument("feature list '" + spec.key +
                                   "' is required but could not be found; allow_missing=True would let it be absent")
        .WithFeature(spec.key);
  }
  const uint8_t* p = found.data;
  const uint8_t* const end = p + found.size;
  size_t step = 0;
  p = lists_.writer.PutUsualSteps(f, row, p, end, &step);
  while (p < end) {
    uint32_t tag;
    p = ReadTag(p, end, &tag);
    if (p == nullptr) return MalformedFeature(spec);
    if (tag != kStepTag) {
      p = SkipField(p, end, tag);
      if (p == nullptr) return MalformedFeature(spec);
      continue;
    }
    size_t size;
    p = ReadLength(p, end, &size);
    FeatureValue value;
    if (p == nullptr || !FindValue(p, p + size, &value)) return MalformedFeature(spec);
    p += size;
    if (!lists_.writer.PutStep(f, row, value, nullptr)) {
      // Again, for the reason: what was appended before the failure is not counted, so nothing is taken back.
      Status why;
      lists_.writer.PutStep(f, row, value, &why);
      return InStep(std::move(why), step);
    }
    ++step;
  }
  return {};
}

Status CheckEmptyBatch(const Schema& context, size_t rows) {
  if (rows > 0) return {};
  for (const FeatureSpec& spec : context.features()) {
    if (spec.layout == Layout::kFixed && spec.elements > 0 && !spec.has_default()) return MissingFeature(spec);
  }
  return {};
}

}  // namespace tfr
