// What is wanted from each record, compiled once: one spec a feature key, checked before any record is seen.
//
// The semantics are those of tf.io.parse_example and tf.io.parse_sequence_example, except where
// the README, "Differences from TensorFlow", says otherwise.

#ifndef TFRECORD_FAST_PARSE_SCHEMA_H_
#define TFRECORD_FAST_PARSE_SCHEMA_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/records.h"
#include "base/status.h"

namespace tfr {

// Which list a Feature holds; the values are its field numbers in the oneof.
enum class Kind : uint8_t { kNone = 0, kBytes = 1, kFloat = 2, kInt64 = 3 };

// "bytes", "float", "int64", "none": as error messages name them.
const char* KindName(Kind kind);

// The type of a column's values. kBytes values are views (struct Bytes) into the records.
enum class ColumnType : uint8_t {
  kBytes,
  kBool,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUInt8,
  kUInt16,
  kUInt32,
  kUInt64,
  kFloat16,
  kBFloat16,
  kFloat32,
  kFloat64,
};

size_t ItemSize(ColumnType type);
const char* TypeName(ColumnType type);

// The list that feeds a column of this type: integers and bool an int64 list, floats a float list.
Kind KindOf(ColumnType type);

enum class Layout : uint8_t {
  kFixed,   // [rows, elements], written in place
  kPadded,  // [rows, longest, elements]; short rows are padded
  kList,    // values and row splits
};

struct FeatureSpec {
  std::string key;
  ColumnType type = ColumnType::kInt64;
  Layout layout = Layout::kFixed;

  // Of a row (kFixed) or a step (kPadded), and the product of it; 1 for a scalar, and not 0 for kPadded.
  std::vector<int64_t> shape;
  size_t elements = 1;

  // kFixed: fills a row without the feature; empty: such a row is an error. Holds `elements` values.
  // kPadded: the one padding value; empty: zero or the empty string.
  // Exactly one of the two is used, by type.
  std::vector<uint8_t> default_values;      // numeric: elements * ItemSize(type) bytes
  std::vector<std::string> default_strings;

  // Added to errors about values that do not fit, such as where the shape comes from; may be empty.
  std::string note;

  // A feature list (second map of a SequenceExample) that may be absent; of kPadded only.
  bool may_be_absent = false;

  bool has_default() const { return type == ColumnType::kBytes ? !default_strings.empty() : !default_values.empty(); }
};

// Immutable, shared by the threads that parse and, where string defaults are in use, by the columns.
class Schema {
 public:
  // InvalidArgument where two specs share a key, a default has the wrong size, or a padded shape holds a 0.
  static Status Compile(std::vector<FeatureSpec> features, std::shared_ptr<const Schema>* schema);

  const std::vector<FeatureSpec>& features() const { return features_; }
  size_t size() const { return features_.size(); }

  // Views of features()[i].default_strings.
  const std::vector<Bytes>& default_views(size_t i) const { return default_views_[i]; }

 private:
  std::vector<FeatureSpec> features_;
  std::vector<std::vector<Bytes>> default_views_;
};

using SchemaPtr = std::shared_ptr<const Schema>;

}  // namespace tfr

#endif  // TFRECORD_FAST_PARSE_SCHEMA_H_
