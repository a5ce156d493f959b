// The wanted features of each record, compiled once: one spec per feature key, checked before any record is seen.
//
// The semantics are those of tf.io.parse_example and tf.io.parse_sequence_example, except where
// docs/differences.md lists a difference.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/element_type.h"
#include "base/records.h"
#include "base/status.h"
#include "images/image_spec.h"
#include "wire/example.h"

namespace tfr {

enum class Layout : uint8_t {
  kFixed,   // [rows, elements], written in place
  kPadded,  // [rows, longest, elements]; short rows are padded
  kList,    // values and row splits
};

struct FeatureSpec {
  std::string key;
  ElementType type = ElementType::kInt64;  // kBytes: views into the records
  Layout layout = Layout::kFixed;

  // Shape of a row (kFixed) or a step (kPadded), and the product of its lengths: 1 for a scalar, 0 only for kFixed.
  // With kList, in Examples and contexts: the number of a row's values is a multiple of `elements`.
  std::vector<int64_t> shape;
  size_t elements = 1;

  // kFixed: `elements` values, for a row without the feature; if there are none, such a row is an error.
  // kPadded: the one padding value; if there is none, zero or the empty string.
  // The type determines which of the two is used.
  std::vector<uint8_t> default_values;  // numeric: elements * ItemSize(type) bytes
  std::vector<std::string> default_strings;

  // Added to errors about values that do not fit: which records the shape was inferred from. Empty if it was given.
  std::string note;

  // For feature lists (the second map of a SequenceExample) with kPadded: the list may be absent.
  bool may_be_absent = false;

  // True if the column also tells which rows have the feature.
  bool presence = false;

  // The bytes, one value of a kFixed feature, are an image, and the column has its pixels.
  std::optional<ImageSpec> image = std::nullopt;

  // kFixed, of numbers: the little-endian bytes of one bytes value may stand in for them.
  bool takes_raw_bytes = false;

  // True if the column has views of bytes.
  bool has_strings() const { return type == ElementType::kBytes && !image; }
  bool has_default() const { return type == ElementType::kBytes ? !default_strings.empty() : !default_values.empty(); }
};

// An array that values of kFixed features are written to, `[rows, elements]`: one feature's own, or that of a group, in
// which each feature has one column.
struct FixedArray {
  ElementType type;
  size_t elements;
  std::vector<uint32_t> features;

  size_t row_bytes() const { return elements * ItemSize(type); }
};

// Immutable. Shared by the threads that parse and, if there are string defaults, by the columns.
class Schema {
 public:
  // InvalidArgument if two specs share a key, a default has the wrong size, or a padded shape holds a 0. Where
  // `only_these` is not empty, a record that has a value under any other key is an error, which it explains.
  // Each group is a list of features by index, whose values lie side by side in one array, in that order.
  // InvalidArgument if one is empty, or if its features are not kFixed scalars of one numeric type, each in one place,
  // without presence.
  static Status Compile(std::vector<FeatureSpec> features, std::shared_ptr<const Schema>* schema,
                        std::string only_these = "", std::vector<std::vector<uint32_t>> groups = {});

  const std::vector<FeatureSpec>& features() const { return features_; }
  size_t size() const { return features_.size(); }

  // Why there must be no other keys; empty if there may be.
  const std::string& only_these() const { return only_these_; }

  const std::vector<std::vector<uint32_t>>& groups() const { return groups_; }
  bool is_grouped(size_t f) const { return is_grouped_[f]; }

  // Number of features outside groups, plus the number of groups.
  size_t num_columns() const { return num_columns_; }

  // Those of the kFixed features that are in no group, in order, and then those of the groups.
  const std::vector<FixedArray>& fixed_arrays() const { return fixed_arrays_; }

  bool has_images() const { return has_images_; }

  // Views of features()[i].default_strings.
  const std::vector<Bytes>& default_views(size_t i) const { return default_views_[i]; }

 private:
  std::vector<FeatureSpec> features_;
  std::string only_these_;
  std::vector<std::vector<uint32_t>> groups_;
  std::vector<bool> is_grouped_;
  size_t num_columns_ = 0;
  bool has_images_ = false;
  std::vector<FixedArray> fixed_arrays_;
  std::vector<std::vector<Bytes>> default_views_;
};

using SchemaPtr = std::shared_ptr<const Schema>;

}  // namespace tfr
