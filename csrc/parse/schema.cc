// Checks and freezes a list of feature specs; see schema.h.

#include "parse/schema.h"

#include <unordered_set>
#include <utility>

namespace tfr {

namespace {

Status CheckSpec(const FeatureSpec& spec) {
  if (spec.layout != Layout::kFixed && spec.elements == 0) {
    return Status::InvalidArgument("the shape of a FixedLenSequenceFeature must not hold a 0").WithFeature(spec.key);
  }
  if (!spec.has_default()) return {};
  const size_t want = spec.layout == Layout::kPadded ? 1 : spec.elements;
  const size_t have =
      spec.type == ElementType::kBytes ? spec.default_strings.size() : spec.default_values.size() / ItemSize(spec.type);
  if (have != want) {
    return Status::InvalidArgument("the default value has " + std::to_string(have) + " values, but the shape needs " +
                                   std::to_string(want))
        .WithFeature(spec.key);
  }
  return {};
}

}  // namespace

Status Schema::Compile(std::vector<FeatureSpec> features, std::shared_ptr<const Schema>* schema,
                       std::string only_these) {
  std::unordered_set<std::string> seen;
  for (const FeatureSpec& spec : features) {
    TFR_RETURN_IF_ERROR(CheckSpec(spec));
    if (!seen.insert(spec.key).second) {
      return Status::InvalidArgument("the key is given twice").WithFeature(spec.key);
    }
  }
  auto compiled = std::make_shared<Schema>();
  compiled->features_ = std::move(features);
  compiled->only_these_ = std::move(only_these);
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
