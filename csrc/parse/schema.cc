// Checks and freezes a list of feature specs; see schema.h.

#include "parse/schema.h"

#include <unordered_set>
#include <utility>

namespace tfr {

const char* KindName(Kind kind) {
  switch (kind) {
    case Kind::kBytes:
      return "bytes";
    case Kind::kFloat:
      return "float";
    case Kind::kInt64:
      return "int64";
    case Kind::kNone:
      break;
  }
  return "none";
}

size_t ItemSize(ColumnType type) {
  switch (type) {
    case ColumnType::kBytes:
      return sizeof(Bytes);
    case ColumnType::kBool:
    case ColumnType::kInt8:
    case ColumnType::kUInt8:
      return 1;
    case ColumnType::kInt16:
    case ColumnType::kUInt16:
    case ColumnType::kFloat16:
    case ColumnType::kBFloat16:
      return 2;
    case ColumnType::kInt32:
    case ColumnType::kUInt32:
    case ColumnType::kFloat32:
      return 4;
    case ColumnType::kInt64:
    case ColumnType::kUInt64:
    case ColumnType::kFloat64:
      break;
  }
  return 8;
}

const char* TypeName(ColumnType type) {
  static constexpr const char* kNames[] = {"string", "bool",   "int8",   "int16",   "int32",    "int64",   "uint8",
                                           "uint16", "uint32", "uint64", "float16", "bfloat16", "float32", "float64"};
  return kNames[static_cast<size_t>(type)];
}

Kind KindOf(ColumnType type) {
  if (type == ColumnType::kBytes) return Kind::kBytes;
  return type >= ColumnType::kFloat16 ? Kind::kFloat : Kind::kInt64;
}

namespace {

Status CheckSpec(const FeatureSpec& spec) {
  if (spec.layout == Layout::kPadded && spec.elements == 0) {
    return Status::InvalidArgument("the shape of a FixedLenSequenceFeature must not hold a 0").WithFeature(spec.key);
  }
  if (!spec.has_default()) return {};
  const size_t want = spec.layout == Layout::kPadded ? 1 : spec.elements;
  const size_t have = spec.type == ColumnType::kBytes ? spec.default_strings.size()
                                                      : spec.default_values.size() / ItemSize(spec.type);
  if (have != want) {
    return Status::InvalidArgument("the default value has " + std::to_string(have) + " values, but the shape needs " +
                                   std::to_string(want))
        .WithFeature(spec.key);
  }
  return {};
}

}  // namespace

Status Schema::Compile(std::vector<FeatureSpec> features, std::shared_ptr<const Schema>* schema) {
  std::unordered_set<std::string> seen;
  for (const FeatureSpec& spec : features) {
    TFR_RETURN_IF_ERROR(CheckSpec(spec));
    if (!seen.insert(spec.key).second) {
      return Status::InvalidArgument("the key is given twice").WithFeature(spec.key);
    }
  }
  auto compiled = std::make_shared<Schema>();
  compiled->features_ = std::move(features);
  for (const FeatureSpec& spec : compiled->features_) {
    std::vector<Bytes> views;
    for (const std::string& value : spec.default_strings) {
      views.push_back({reinterpret_cast<const uint8_t*>(value.data()), value.size()});
    }
    compiled->default_views_.push_back(std::move(views));
  }
  *schema = std::move(compiled);
  return {};
}

}  // namespace tfr
