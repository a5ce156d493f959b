// Guesses from the form of a record what wrote it; see looks_like.h. A kind of record is a function and a line in a
// table.

#include "parse/looks_like.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "wire/wire.h"

namespace tfr {
namespace {

struct Field {
  uint32_t number;
  uint32_t type;
  Bytes content;  // of a delimited field

  bool Is(uint32_t other_number, WireType other_type) const { return number == other_number && type == other_type; }
};
using Fields = std::vector<Field>;

// False if the bytes are not a protobuf message.
bool ReadFields(const Bytes& message, Fields* fields) {
  const uint8_t* p = message.data;
  const uint8_t* const end = p + message.size;
  while (p < end) {
    uint32_t tag;
    p = ReadTag(p, end, &tag);
    if (p == nullptr) return false;
    Field field = {FieldOf(tag), WireTypeOf(tag), {p, 0}};
    if (field.type == kWireDelimited) {
      p = ReadLength(p, end, &field.content.size);
      if (p == nullptr) return false;
      field.content.data = p;
      p += field.content.size;
    } else {
      p = SkipField(p, end, tag);
      if (p == nullptr) return false;
    }
    fields->push_back(field);
  }
  return true;
}

// True for a message of whose fields all fit.
template <typename Fits>
bool AllFields(const Bytes& message, Fits fits) {
  Fields fields;
  return ReadFields(message, &fields) && std::all_of(fields.begin(), fields.end(), fits);
}

template <typename Fits>
size_t Count(const Fields& fields, Fits fits) {
  return static_cast<size_t>(std::count_if(fields.begin(), fields.end(), fits));
}

size_t Count(const Fields& fields, uint32_t number, WireType type) {
  return Count(fields, [=](const Field& field) { return field.Is(number, type); });
}

// ---- Examples and SequenceExamples ----

bool IsFeature(const Bytes& message) {
  return AllFields(message, [](const Field& field) {
    return field.type == kWireDelimited && field.number >= static_cast<uint32_t>(Kind::kBytes) &&
           field.number <= static_cast<uint32_t>(Kind::kInt64);
  });
}

bool IsFeatureList(const Bytes& message) {
  return AllFields(message, [](const Field& field) { return field.Is(1, kWireDelimited) && IsFeature(field.content); });
}

bool IsMap(const Bytes& message, bool (*is_value)(const Bytes&)) {
  return AllFields(message, [=](const Field& entry) {
    Fields parts;
    return entry.Is(1, kWireDelimited) && ReadFields(entry.content, &parts) && parts.size() == 2 &&
           Count(parts, 1, kWireDelimited) == 1 &&
           Count(parts, [=](const Field& part) { return part.Is(2, kWireDelimited) && is_value(part.content); }) == 1;
  });
}

bool IsExample(const Bytes& record) {
  return AllFields(record,
                   [](const Field& field) { return field.Is(1, kWireDelimited) && IsMap(field.content, IsFeature); });
}

bool IsSequenceExample(const Bytes& record) {
  return AllFields(record, [](const Field& field) {
    return field.type == kWireDelimited && ((field.number == 1 && IsMap(field.content, IsFeature)) ||
                                            (field.number == 2 && IsMap(field.content, IsFeatureList)));
  });
}

// ---- Other messages ----

// tensorflow/core/util/event.proto: wall_time = 1, step = 2, one of 3 to 9, source_metadata = 10.
bool IsEvent(const Fields& fields) {
  constexpr uint32_t kLastField = 10;
  return Count(fields, 1, kWireFixed64) == 1 && std::all_of(fields.begin(), fields.end(), [](const Field& field) {
           return field.Is(1, kWireFixed64) || field.Is(2, kWireVarint) ||
                  (field.type == kWireDelimited && field.number > 2 && field.number <= kLastField);
         });
}

// tensorflow_serving/apis/input.proto: examples = 1, context = 2, all of them Examples.
bool IsExampleListWithContext(const Fields& fields) {
  return std::all_of(fields.begin(), fields.end(), [](const Field& field) {
    return field.type == kWireDelimited && field.number <= 2 && IsExample(field.content);
  });
}

// waymo_open_dataset/protos/scenario.proto: timestamps_seconds = 1, tracks = 2, scenario_id = 5.
bool IsScenario(const Fields& fields) {
  constexpr uint32_t kScenarioId = 5;
  return Count(fields, 1, kWireFixed64) > 0 && Count(fields, 2, kWireDelimited) > 0 &&
         Count(fields, kScenarioId, kWireDelimited) == 1;
}

// tensorflow_metadata/proto/v0/statistics.proto: datasets = 1, in each num_examples = 2 and features = 3.
bool IsStatistics(const Fields& fields) {
  return std::all_of(fields.begin(), fields.end(), [](const Field& field) {
    Fields parts;
    return field.Is(1, kWireDelimited) && ReadFields(field.content, &parts) && Count(parts, 2, kWireVarint) == 1 &&
           Count(parts, 3, kWireDelimited) > 0;
  });
}

// tensorflow/core/framework/tensor_shape.proto: dim = 2 (size = 1, name = 2), unknown_rank = 3.
bool IsTensorShape(const Bytes& message) {
  return AllFields(message, [](const Field& field) {
    return field.Is(3, kWireVarint) || (field.Is(2, kWireDelimited) && AllFields(field.content, [](const Field& part) {
                                          return part.Is(1, kWireVarint) || part.Is(2, kWireDelimited);
                                        }));
  });
}

// tensorflow/core/framework/tensor.proto: dtype = 1, tensor_shape = 2, version_number = 3, the values = 4 and above.
bool IsTensor(const Fields& fields) {
  constexpr uint32_t kFirstValues = 4;
  constexpr uint32_t kLastValues = 18;
  return Count(fields, 1, kWireVarint) == 1 && Count(fields, 2, kWireDelimited) == 1 &&
         std::all_of(fields.begin(), fields.end(), [](const Field& field) {
           if (field.number >= kFirstValues) return field.number <= kLastValues;
           return field.Is(1, kWireVarint) || field.Is(3, kWireVarint) ||
                  (field.Is(2, kWireDelimited) && IsTensorShape(field.content));
         });
}

bool HoldsExample(const Field& field) {
  constexpr size_t kEmptyExample = 2;  // bytes: features without any
  return field.type == kWireDelimited && field.content.size > kEmptyExample && IsExample(field.content);
}

// Lists of Examples, or lists of such lists, as Input of TensorFlow Serving.
bool HoldsExamples(const Fields& fields) {
  return Count(fields, [](const Field& field) {
           Fields parts;
           return HoldsExample(field) ||
                  (field.type == kWireDelimited && ReadFields(field.content, &parts) && Count(parts, HoldsExample) > 0);
         }) > 0;
}

constexpr struct {
  bool (*fits)(const Fields&);
  const char* name;
} kMessages[] = {
    {IsEvent, "a TensorBoard event (tensorflow.Event)"},
    {IsExampleListWithContext, "an ELWC (ExampleListWithContext)"},
    {IsScenario, "a Waymo Scenario"},
    {IsStatistics, "statistics of TFX (DatasetFeatureStatisticsList)"},
    {IsTensor, "a serialized tensor (TensorProto)"},
    {HoldsExamples, "a message with Examples inside"},
};

const char* NameOf(uint32_t wire_type) {
  switch (wire_type) {
    case kWireVarint:
      return "varint";
    case kWireFixed64:
      return "fixed64";
    case kWireFixed32:
      return "fixed32";
    case kWireDelimited:
      return "bytes";
    default:
      return "group";
  }
}

std::string DescribeMessage(const Fields& fields) {
  constexpr size_t kShown = 8;
  std::set<std::pair<uint32_t, uint32_t>> kinds;
  for (const Field& field : fields) kinds.emplace(field.number, field.type);
  std::string text = "another protobuf message, with ";
  text += kinds.size() == 1 ? "field" : "fields";
  size_t shown = 0;
  for (const auto& [number, type] : kinds) {
    if (shown == kShown) return text + ", …";
    text += (shown++ == 0 ? " " : ", ") + std::to_string(number) + " (" + NameOf(type) + ")";
  }
  return text;
}

// ---- Bytes that are not a message ----

using namespace std::string_view_literals;

// Fewer than 8 bytes are none of these: "RIFF" alone is a word.
constexpr struct {
  std::string_view start;
  std::string_view at8;  // of containers, what they hold
  const char* name;
} kMagic[] = {
    {"\xff\xd8\xff"sv, ""sv, "a JPEG image"},
    {"\x89PNG\r\n"sv, ""sv, "a PNG image"},
    {"GIF87a"sv, ""sv, "a GIF image"},
    {"GIF89a"sv, ""sv, "a GIF image"},
    {"RIFF"sv, "WEBP"sv, "a WebP image"},
    {"II*\0"sv, ""sv, "a TIFF image"},
    {"MM\0*"sv, ""sv, "a TIFF image"},
    {"RIFF"sv, "WAVE"sv, "WAV audio"},
    {"RIFF"sv, ""sv, "a RIFF file"},
    {"OggS"sv, ""sv, "Ogg audio"},
    {"fLaC"sv, ""sv, "FLAC audio"},
    {"\x93NUMPY"sv, ""sv, "a NumPy array (.npy)"},
    {"PK\x03\x04"sv, ""sv, "a ZIP archive"},
    {"\x1f\x8b"sv, ""sv, "GZIP data"},
    {"\x28\xb5\x2f\xfd"sv, ""sv, "ZSTD data"},
    {"\x80\x04\x95"sv, ""sv, "a Python pickle"},
    {"\x80\x05\x95"sv, ""sv, "a Python pickle"},
};

bool HasAt(const Bytes& record, size_t place, std::string_view what) {
  return record.size >= place + what.size() && std::memcmp(record.data + place, what.data(), what.size()) == 0;
}

// "BM", and then how many bytes there are.
bool IsBmp(const Bytes& record) {
  uint32_t size;
  constexpr size_t kHeader = 2 + sizeof size;
  if (record.size < kHeader || !HasAt(record, 0, "BM")) return false;
  std::memcpy(&size, record.data + 2, sizeof size);
  return size == record.size;
}

// UTF-8 without control characters of ASCII, except for blanks and ends of lines.
bool IsText(const Bytes& record) {
  for (size_t i = 0; i < record.size;) {
    const uint8_t lead = record.data[i++];
    if (lead < 0x80) {
      if (lead < ' ' ? lead != '\t' && lead != '\n' && lead != '\r' : lead == 0x7f) return false;
      continue;
    }
    if (lead < 0xc2 || lead > 0xf4) return false;
    // The second byte excludes overlong forms, surrogates, and code points over U+10FFFF.
    uint8_t low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    uint8_t high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    for (int more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1; more > 0; --more, ++i) {
      if (i == record.size || record.data[i] < low || record.data[i] > high) return false;
      low = 0x80;
      high = 0xbf;
    }
  }
  return true;
}

bool IsJson(const Bytes& text) {
  const auto* const end = text.data + text.size;
  const auto* const first = std::find_if(text.data, end, [](uint8_t c) { return c > ' '; });
  return first != end && (*first == '{' || *first == '[');
}

}  // namespace

bool HasForm(MessageType type, const Bytes& record) {
  return type == MessageType::kExample ? IsExample(record) : IsSequenceExample(record);
}

std::string LooksLike(const Bytes& record) {
  if (record.size == 0) return "an empty record";
  for (const auto& magic : kMagic) {
    if (HasAt(record, 0, magic.start) && HasAt(record, 8, magic.at8)) return magic.name;
  }
  if (IsBmp(record)) return "a BMP image";
  if (IsText(record)) return IsJson(record) ? "JSON text" : "text";
  if (IsExample(record)) return "an Example";
  if (IsSequenceExample(record)) return "a SequenceExample";
  Fields fields;
  if (!ReadFields(record, &fields)) return "bytes of an unknown form";
  for (const auto& message : kMessages) {
    if (message.fits(fields)) return message.name;
  }
  return DescribeMessage(fields);
}

}  // namespace tfr
