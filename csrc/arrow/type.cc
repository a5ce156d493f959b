// Reads formats and metadata; see type.h.
//
// Spec: https://arrow.apache.org/docs/format/CDataInterface.html and …/Columnar.html.

#include "arrow/type.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

namespace tfr {
namespace {

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

// Takes the next number, or string after its length, of a schema's metadata, in the machine's byte order.
int32_t TakeNumber(const char** at) {
  int32_t number;
  std::memcpy(&number, *at, sizeof number);
  *at += sizeof number;
  return number;
}

std::string_view TakeText(const char** at) {
  const auto size = static_cast<size_t>(TakeNumber(at));
  return {std::exchange(*at, *at + size), size};
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
  for (int32_t pairs = TakeNumber(&at); pairs > 0; --pairs) {
    const std::string_view key = TakeText(&at), value = TakeText(&at);
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

Status TypeOfArrow(const ArrowSchema& schema, ArrowType* type) {
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

}  // namespace tfr
