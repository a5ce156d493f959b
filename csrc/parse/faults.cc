// The words of errors; see faults.h.

#include "parse/faults.h"

#include <algorithm>
#include <atomic>
#include <string_view>
#include <utility>
#include <vector>

namespace tfr {
namespace {

constexpr size_t kShown = 32;  // bytes of a record in an error

std::atomic<bool> tensorflow_words{false};

std::string ShapeText(const std::vector<int64_t>& shape, const char* first = "") {
  std::string text = std::string("[") + first;
  for (size_t i = 0; i < shape.size(); ++i) text += (i || *first ? "," : "") + std::to_string(shape[i]);
  return text + "]";
}

// The name in TensorFlow's errors: float32 is "float" there.
std::string DataType(ElementType type) { return type == ElementType::kFloat32 ? "float" : TypeName(type); }

const char* DataType(Kind kind) { return kind == Kind::kBytes ? "string" : KindName(kind); }

std::string Lead(const std::string& key) { return "Key: " + key + ".  "; }

Status Made(const FeatureSpec& spec, std::string message) {
  if (!spec.note.empty()) message += " (" + spec.note + ")";
  return Status::InvalidArgument(std::move(message)).WithFeature(spec.key);
}

// An error in our words; for scripts of TensorFlow they follow its words, in parentheses.
Status InWords(const FeatureSpec& spec, const std::string& theirs, const std::string& ours) {
  const std::string fault = "feature '" + spec.key + "': " + ours;
  return Made(spec, tensorflow_words ? theirs + " (" + fault + ")" : fault);
}

Status OfKey(const FeatureSpec& spec, const std::string& theirs, const std::string& ours) {
  return InWords(spec, Lead(spec.key) + theirs, ours);
}

// The dtype that reads values of this kind.
const char* ReadBy(Kind kind) {
  return kind == Kind::kBytes ? "tf.string" : kind == Kind::kFloat ? "tf.float32" : "tf.int64";
}

// The first bytes of a record, those that are not printable ASCII as \xNN.
std::string Shown(const Bytes& record) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (size_t i = 0; i < std::min(record.size, kShown); ++i) {
    const uint8_t byte = record.data[i];
    if (byte >= 0x20 && byte < 0x7f) {
      text += static_cast<char>(byte);
    } else {
      text += std::string("\\x") + kDigits[byte >> 4] + kDigits[byte & 15];
    }
  }
  return "'" + text + (record.size > kShown ? "'..." : "'") + " (" + std::to_string(record.size) + " bytes)";
}

// The part of the message after "Key: a.  "; empty if it does not start so.
std::string_view AfterLead(const Status& status) {
  if (status.code() != StatusCode::kInvalidArgument || status.detail().feature.empty()) return {};
  const std::string lead = Lead(status.detail().feature);
  const std::string_view message = status.detail().message;
  return message.substr(0, lead.size()) == lead ? message.substr(lead.size()) : std::string_view();
}

Status Reworded(const Status& status, std::string message) {
  return Status::InvalidArgument(std::move(message)).WithFeature(status.detail().feature);
}

// Words the error like TensorFlow's SequenceExample parser: the expected type first, whatever the layout; no type for
// counts.
std::string InSequence(std::string_view rest) {
  constexpr std::string_view kCount = "values != expected.  Values size: ";
  constexpr std::string_view kGot = "Data types don't match. Data type: ", kBut = " but expected type: ";
  const size_t ours = rest.find(" (feature '");
  const std::string_view theirs = rest.substr(0, ours);
  const std::string_view tail = ours == std::string_view::npos ? std::string_view() : rest.substr(ours);
  std::string text(theirs);
  if (const size_t at = theirs.find(kCount); at != std::string_view::npos) {
    text = "Number of values != expected.  values size: " + std::string(theirs.substr(at + kCount.size()));
  } else if (const size_t but = theirs.find(kBut);
             theirs.substr(0, kGot.size()) == kGot && but != std::string_view::npos) {
    text = "Data types don't match. Expected type: " + std::string(theirs.substr(but + kBut.size())) +
           ", Actual type: " + std::string(theirs.substr(kGot.size(), but - kGot.size()));
  }
  return text + std::string(tail);
}

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// How many letters must be added, removed or replaced to make one key of the other, whatever their case.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0]++;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (Lower(a[i]) != Lower(b[j]));
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

// ", which has 'a', 'b' and 5 more keys; did you mean 'a'?": the keys of the record, the ones most like `key` first.
std::string KeysLike(const std::string& key, const std::vector<MapEntry>& entries) {
  constexpr size_t kNamed = 3, kLongest = 64;
  std::vector<std::pair<size_t, std::string_view>> keys;
  for (const MapEntry& entry : entries) {
    const std::string_view name(reinterpret_cast<const char*>(entry.key.data), entry.key.size);
    const bool is_short = name.size() <= kLongest && key.size() <= kLongest;
    keys.emplace_back(is_short ? Distance(key, name) : SIZE_MAX, name);
  }
  if (keys.empty()) return "";
  std::sort(keys.begin(), keys.end());
  std::string text;
  for (size_t i = 0; i < std::min(keys.size(), kNamed); ++i) {
    text += (i ? ", '" : ", which has '") + std::string(keys[i].second.substr(0, kLongest)) + "'";
  }
  if (keys.size() > kNamed) text += " and " + std::to_string(keys.size() - kNamed) + " more keys";
  const bool is_like = keys[0].first <= std::max<size_t>(1, key.size() / 3);
  return is_like ? text + ", did you mean '" + std::string(keys[0].second) + "'?" : text;
}

bool StartsWith(std::string_view text, std::string_view start) { return text.substr(0, start.size()) == start; }

}  // namespace

bool SetTensorFlowWords(bool on) { return tensorflow_words.exchange(on); }

std::string Expectation(const FeatureSpec& spec) {
  return std::string(TypeName(spec.type)) + " values of shape " + ShapeText(spec.shape);
}

Status Fault(const FeatureSpec& spec, std::string what) {
  return Made(spec, "feature '" + spec.key + "': " + std::move(what));
}

Status WrongCount(const FeatureSpec& spec, size_t got) {
  const std::string count = std::to_string(got), shape = ShapeText(spec.shape);
  return OfKey(spec,
               std::string("Number of ") + KindName(KindOf(spec.type)) + " values != expected.  Values size: " + count +
                   " but output shape: " + shape,
               "expected " + std::to_string(spec.elements) + (spec.elements == 1 ? " value" : " values") +
                   " for shape " + shape + ", got " + count +
                   "; if lengths differ, use RaggedFeature or VarLenFeature");
}

Status NotAMultiple(const FeatureSpec& spec, size_t got) {
  const std::string count = std::to_string(got);
  return OfKey(spec,
               std::string("Number of ") + KindName(KindOf(spec.type)) +
                   " values is not a multiple of stride length. Saw " + count +
                   " values but output shape is: " + ShapeText(spec.shape, "?"),
               "expected a multiple of " + std::to_string(spec.elements) + " values for steps of shape " +
                   ShapeText(spec.shape) + ", got " + count);
}

Status WrongKind(const FeatureSpec& spec, Kind got) {
  const std::string expected = DataType(KindOf(spec.type)), actual = DataType(got);
  return OfKey(spec,
               std::string("Data types don't match. ") +
                   (spec.layout == Layout::kList ? "Expected type: " + expected + ", Actual type: " + actual
                                                 : "Data type: " + actual + " but expected type: " + expected),
               std::string("expected ") + KindName(KindOf(spec.type)) + " values, got " + KindName(got) +
                   " values; use " + ReadBy(got) +
                   (got == Kind::kBytes && spec.layout == Layout::kFixed && spec.note.empty()
                        ? ", or RawFeature for an array that is stored as bytes"
                        : ""));
}

Status Misfit(const FeatureSpec& spec, int64_t value) {
  if (IsFloat(spec.type)) return Fault(spec, "a value beyond 65504 is out of range for float16; use tf.float32");
  return Fault(spec, "value " + std::to_string(value) + " is out of range for " + TypeName(spec.type));
}

Status WrongByteCount(const FeatureSpec& spec, size_t got) {
  return Fault(spec, "cannot view the bytes as " + Expectation(spec) + ": expected " +
                         std::to_string(spec.elements * ItemSize(spec.type)) + " bytes, got " + std::to_string(got));
}

Status MissingFeature(const FeatureSpec& spec, const std::vector<MapEntry>& entries) {
  return InWords(
      spec, "Feature: " + spec.key + " (data type: " + DataType(spec.type) + ") is required but could not be found.",
      "not in the record" + KeysLike(spec.key, entries) +
          (spec.image || spec.takes_raw_bytes ? "" : "; with a default_value, records may lack it"));
}

Status MissingList(const FeatureSpec& spec) {
  return InWords(
      spec, "Feature list '" + spec.key + "' is required but could not be found.  Did you mean allow_missing=True?",
      "the record lacks this feature list; allow_missing=True reads it as empty");
}

Status MalformedFeature(const FeatureSpec& spec) {
  return OfKey(spec, "Can't parse serialized Example.", "can't parse its value: malformed protobuf");
}

Status MalformedExample(const Bytes& record) {
  return Status::InvalidArgument("Could not parse example input, value: " + Shown(record) + ": malformed protobuf");
}

Status MalformedSequence(const Bytes& record) {
  return Status::InvalidArgument("Invalid protocol message input: could not parse the record as a SequenceExample, " +
                                 Shown(record) + ": malformed protobuf");
}

Status OtherKey(const Schema& schema, const Bytes& key) {
  const std::string name(reinterpret_cast<const char*>(key.data), key.size);
  return Status::InvalidArgument("feature '" + name + "': " + schema.only_these()).WithFeature(name);
}

Status InRow(Status status, size_t row) {
  const std::string_view rest = AfterLead(status);
  if (rest.empty()) return status;
  return Reworded(status,
                  "Key: " + status.detail().feature + ", Index: " + std::to_string(row) + ".  " + std::string(rest));
}

Status InStep(Status status, size_t step) {
  if (status.code() != StatusCode::kInvalidArgument) return status;
  const std::string_view rest = AfterLead(status);
  const std::string at = " (step " + std::to_string(step) + ")";
  if (rest.empty()) return Reworded(status, status.detail().message + at);
  const std::string lead = StartsWith(rest, "Data types") ? "Feature list: " : "Key: ";
  return Reworded(status,
                  lead + status.detail().feature + ", Index: " + std::to_string(step) + ".  " + InSequence(rest) + at);
}

Status InContext(Status status) {
  const std::string_view rest = AfterLead(status);
  if (rest.empty()) return status;
  return Reworded(status, "Context feature: " + status.detail().feature + ".  " + InSequence(rest));
}

Status InSingle(Status status) {
  const std::string_view rest = AfterLead(status);
  if (!StartsWith(rest, "Number of")) return status;
  return Reworded(status, Lead(status.detail().feature) + "Can't parse serialized Example: " + std::string(rest));
}

}  // namespace tfr
