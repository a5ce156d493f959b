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
  if (spec.image) TFR_RETURN_IF_ERROR(CheckImageSpec(*spec.image).WithFeature(spec.key));
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

Status CheckGroup(const std::vector<FeatureSpec>& features, const std::vector<uint32_t>& group,
                  std::vector<bool>* is_grouped) {
  if (group.empty()) return Status::InvalidArgument("a group needs features");
  for (const uint32_t f : group) {
    if (f >= features.size()) return Status::InvalidArgument("a group names a feature that does not exist");
    const FeatureSpec& spec = features[f];
    const char* why = nullptr;
    if (spec.layout != Layout::kFixed || !spec.shape.empty()) {
      why = "features of a group must be scalars";
    } else if (spec.type == ElementType::kBytes) {
      why = "features of a group must be numbers";
    } else if (spec.type != features[group[0]].type) {
      why = "features of a group must have the same type";
    } else if (spec.presence) {
      why = "features of a group cannot report presence";
    } else if ((*is_grouped)[f]) {
      why = "a feature may be in one group only, and once";
    }
    if (why != nullptr) return Status::InvalidArgument(why).WithFeature(spec.key);
    (*is_grouped)[f] = true;
  }
  return {};
}

}  // namespace

Status Schema::Compile(std::vector<FeatureSpec> features, std::shared_ptr<const Schema>* schema, std::string only_these,
                       std::vector<std::vector<uint32_t>> groups) {
  std::unordered_set<std::string> seen;
  for (const FeatureSpec& spec : features) {
    TFR_RETURN_IF_ERROR(CheckSpec(spec));
    if (!seen.insert(spec.key).second) {
      return Status::InvalidArgument("the key is given twice").WithFeature(spec.key);
    }
  }
  std::vector<bool> is_grouped(features.size());
  for (const std::vector<uint32_t>& group : groups) TFR_RETURN_IF_ERROR(CheckGroup(features, group, &is_grouped));
  auto compiled = std::make_shared<Schema>();
  compiled->features_ = std::move(features);
  compiled->only_these_ = std::move(only_these);
  compiled->groups_ = std::move(groups);
  compiled->is_grouped_ = std::move(is_grouped);
  compiled->num_columns_ = compiled->size();
  for (uint32_t f = 0; f < compiled->size(); ++f) {
    const FeatureSpec& spec = compiled->features_[f];
    if (spec.layout != Layout::kFixed || compiled->is_grouped_[f]) continue;
    compiled->fixed_arrays_.push_back({spec.type, spec.elements, {f}});
  }
  for (const std::vector<uint32_t>& group : compiled->groups_) {
    compiled->num_columns_ -= group.size() - 1;
    compiled->fixed_arrays_.push_back({compiled->features_[group[0]].type, group.size(), group});
  }
  for (const FeatureSpec& spec : compiled->features_) {
    compiled->has_images_ |= spec.image.has_value();
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
