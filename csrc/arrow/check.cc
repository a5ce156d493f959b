// The checks; see check.h.
//
// Spec: https://arrow.apache.org/docs/format/CDataInterface.html and …/Columnar.html.

#include "arrow/check.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

namespace tfr {
namespace {

constexpr int64_t kMostItems = INT64_MAX / 64;  // no item takes more than 64 bytes of one buffer

// Sets *type to that of a primitive format other than bits; false for other formats.
bool NumberOf(std::string_view format, ElementType* type) {
  constexpr std::pair<char, ElementType> kNumbers[] = {
      {'c', ElementType::kInt8},    {'C', ElementType::kUInt8},   {'s', ElementType::kInt16},
      {'S', ElementType::kUInt16},  {'i', ElementType::kInt32},   {'I', ElementType::kUInt32},
      {'l', ElementType::kInt64},   {'L', ElementType::kUInt64},  {'e', ElementType::kFloat16},
      {'f', ElementType::kFloat32}, {'g', ElementType::kFloat64},
  };
  if (format.size() != 1) return false;
  const auto* entry = std::find_if(std::begin(kNumbers), std::end(kNumbers),
                                   [&](const auto& number) { return number.first == format[0]; });
  if (entry == std::end(kNumbers)) return false;
  *type = entry->second;
  return true;
}

// The number after the colon of "w:16" and "+w:3".
Status ReadWidth(std::string_view format, int64_t* width) {
  const std::string_view digits = format.substr(format.find(':') + 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), *width);
  if (error == std::errc() && end == digits.data() + digits.size() && *width >= 0 && *width <= INT32_MAX) return {};
  return ArrowError("the format '" + std::string(format) + "' has no width");
}

// The numbers of buffers and children of a form. Views have more buffers, one for each run of data.
struct Parts {
  int64_t buffers;
  int64_t children;
};

Parts PartsOf(ArrowForm form, int64_t fields) {
  switch (form) {
    case ArrowForm::kBits:
    case ArrowForm::kNumbers:
    case ArrowForm::kDictionary:
    case ArrowForm::kFixedStrings:
      return {2, 0};
    case ArrowForm::kStrings:
    case ArrowForm::kLargeStrings:
    case ArrowForm::kViews:
      return {3, 0};
    case ArrowForm::kList:
    case ArrowForm::kLargeList:
      return {2, 1};
    case ArrowForm::kFixedList:
      return {1, 1};
    case ArrowForm::kStruct:
      return {1, fields};
    case ArrowForm::kNull:
    case ArrowForm::kOther:
      break;
  }
  return {0, 0};
}

std::string Counted(int64_t count, const char* what) { return std::to_string(count) + " " + what; }

Status CheckChildren(const ArrowSchema& schema, const ArrowArray& array, int64_t wanted) {
  if (schema.n_children != wanted || array.n_children != wanted || wanted < 0) {
    return ArrowError("a '" + std::string(schema.format) + "' with " + Counted(schema.n_children, "children") +
                      " in its schema and " + std::to_string(array.n_children) + " in its array");
  }
  if (wanted > kMostArrowNodes) return ArrowError("it has " + Counted(wanted, "children"));
  if (wanted > 0 && (schema.children == nullptr || array.children == nullptr)) return ArrowError("it has no children");
  for (int64_t i = 0; i < wanted; ++i) {
    if (schema.children[i] == nullptr || array.children[i] == nullptr) {
      return ArrowError("child " + std::to_string(i) + " is missing");
    }
  }
  return {};
}

Status CheckBuffers(ArrowForm form, const ArrowSchema& schema, const ArrowArray& array, int64_t least) {
  if (array.n_buffers < least || (form != ArrowForm::kViews && array.n_buffers != least)) {
    return ArrowError("a '" + std::string(schema.format) + "' with " + Counted(array.n_buffers, "buffers") +
                      ", expected " + std::to_string(least));
  }
  if (array.buffers == nullptr) return ArrowError("it has no buffers");
  if (array.null_count > 0 && array.buffers[0] == nullptr) return ArrowError("it has nulls, but no validity buffer");
  return {};
}

// True if an array of this type needs its second buffer, of values, offsets or views, unless it is empty. Strings of
// width 0 have no bytes.
bool NeedsSecond(const ArrowType& type) {
  return type.form != ArrowForm::kFixedList && type.form != ArrowForm::kStruct &&
         !(type.form == ArrowForm::kFixedStrings && type.width == 0);
}

// Takes the next number, or string after its length, of a schema's metadata, in the machine's byte order.
Status TakeNumber(const char** at, int32_t* number) {
  std::memcpy(number, *at, sizeof *number);
  if (*number < 0) return ArrowError("metadata with a length of " + std::to_string(*number));
  *at += sizeof *number;
  return {};
}

Status TakeText(const char** at, std::string_view* text) {
  int32_t size;
  TFR_RETURN_IF_ERROR(TakeNumber(at, &size));
  *text = {std::exchange(*at, *at + size), static_cast<size_t>(size)};
  return {};
}

// The list under "permutation" in the JSON of a tensor's type, without spaces; "" if it has none.
std::string PermutationIn(std::string_view json) {
  std::string dense;
  std::copy_if(json.begin(), json.end(), std::back_inserter(dense), [](char c) { return c > ' '; });
  constexpr std::string_view key = "\"permutation\":[";
  const size_t begin = dense.find(key);
  if (begin == std::string::npos) return "";
  return dense.substr(begin + key.size() - 1, dense.find(']', begin) - begin - key.size() + 2);
}

// True if "[0,1,2]" names the axes in their own order.
bool InOrder(std::string_view permutation) {
  std::string expected = "[";
  for (int axis = 0; expected.size() < permutation.size(); ++axis) expected += std::to_string(axis) + ",";
  expected.back() = ']';
  return permutation == expected;
}

// Fails for a tensor whose values lie in another order than that of its axes: written as they lie, they would be other
// values.
Status RefusePermuted(const ArrowSchema& schema) {
  const char* at = schema.metadata;
  if (at == nullptr) return {};
  std::string_view name, parameters;
  int32_t pairs;
  TFR_RETURN_IF_ERROR(TakeNumber(&at, &pairs));
  for (; pairs > 0; --pairs) {
    std::string_view key, value;
    TFR_RETURN_IF_ERROR(TakeText(&at, &key));
    TFR_RETURN_IF_ERROR(TakeText(&at, &value));
    if (key == "ARROW:extension:name") name = value;
    if (key == "ARROW:extension:metadata") parameters = value;
  }
  if (name != "arrow.fixed_shape_tensor") return {};
  const std::string permutation = PermutationIn(parameters);
  if (permutation.empty() || InOrder(permutation)) return {};
  const std::string named = schema.name != nullptr && schema.name[0] != 0 ? " '" + std::string(schema.name) + "'" : "";
  return ArrowError("a tensor" + named + " with the permutation " + permutation +
                    ", whose values lie in another order than that of its axes: pass its to_numpy_ndarray() instead");
}

}  // namespace

Status ArrowError(const std::string& message) { return Status::InvalidArgument("Arrow array: " + message); }

Status ArrowEnd(int64_t first, int64_t length, int64_t* end) {
  if (first < 0 || length < 0 || first > kMostItems || length > kMostItems - first) {
    return ArrowError("an offset of " + std::to_string(first) + " and a length of " + std::to_string(length));
  }
  *end = first + length;
  return {};
}

Status TypeOfArrow(const ArrowSchema& schema, ArrowType* type) {
  if (schema.release == nullptr) return ArrowError("its schema was released: a capsule can be used only once");
  if (schema.format == nullptr) return ArrowError("its schema has no format");
  const std::string_view format = schema.format;
  *type = {ArrowForm::kOther};
  if (NumberOf(format, &type->element)) {
    if (schema.dictionary == nullptr) type->form = ArrowForm::kNumbers;
    if (schema.dictionary != nullptr && !IsFloat(type->element)) type->form = ArrowForm::kDictionary;
    return {};
  }
  if (schema.dictionary != nullptr) return {};
  constexpr std::pair<std::string_view, ArrowForm> kForms[] = {
      {"n", ArrowForm::kNull},       {"b", ArrowForm::kBits},         {"z", ArrowForm::kStrings},
      {"u", ArrowForm::kStrings},    {"Z", ArrowForm::kLargeStrings}, {"U", ArrowForm::kLargeStrings},
      {"vz", ArrowForm::kViews},     {"vu", ArrowForm::kViews},       {"+l", ArrowForm::kList},
      {"+L", ArrowForm::kLargeList}, {"+s", ArrowForm::kStruct},
  };
  for (const auto& [name, form] : kForms) {
    if (format == name) type->form = form;
  }
  if (format.starts_with("w:")) {
    type->form = ArrowForm::kFixedStrings;
    return ReadWidth(format, &type->width);
  }
  if (format.starts_with("+w:")) {
    TFR_RETURN_IF_ERROR(RefusePermuted(schema));
    type->form = ArrowForm::kFixedList;
    return ReadWidth(format, &type->width);
  }
  return {};
}

Status CheckArrow(const ArrowSchema& schema, const ArrowType& type, const ArrowArray& array, int64_t first,
                  int64_t length) {
  if (array.release == nullptr) return ArrowError("it was released: a capsule can be used only once");
  int64_t end, array_end;
  TFR_RETURN_IF_ERROR(ArrowEnd(first, length, &end));
  TFR_RETURN_IF_ERROR(ArrowEnd(array.offset, array.length, &array_end));
  if (end > array_end) {
    return ArrowError("a child of " + std::to_string(array.length) + " items, which has too few for its parent");
  }
  if (array.null_count < -1 || array.null_count > array.length) {
    return ArrowError(std::to_string(array.null_count) + " nulls among " + std::to_string(array.length) + " items");
  }
  if (type.form == ArrowForm::kNull || type.form == ArrowForm::kOther) return {};
  const Parts parts = PartsOf(type.form, schema.n_children);
  TFR_RETURN_IF_ERROR(CheckChildren(schema, array, parts.children));
  TFR_RETURN_IF_ERROR(CheckBuffers(type.form, schema, array, parts.buffers));
  if (length > 0 && NeedsSecond(type) && array.buffers[1] == nullptr) {
    return ArrowError("it has items, but no buffer of them");
  }
  if (type.form == ArrowForm::kDictionary && array.dictionary == nullptr) {
    return ArrowError("a dictionary without values");
  }
  return {};
}

}  // namespace tfr
