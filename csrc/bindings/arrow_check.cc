// The checks; see arrow_check.h.
//
// Spec: https://arrow.apache.org/docs/format/CDataInterface.html and …/Columnar.html.

#include "bindings/arrow_check.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <iterator>
#include <string_view>
#include <utility>

#include "bindings/bindings.h"

namespace tfr {
namespace {

constexpr int64_t kMostItems = INT64_MAX / 64;  // no item takes more than 64 bytes of one buffer

// The type of a primitive format except for bits; false for others.
bool NumberOf(std::string_view format, ElementType* type) {
  if (format.size() != 1) return false;
  switch (format[0]) {
    case 'c':
      *type = ElementType::kInt8;
      return true;
    case 'C':
      *type = ElementType::kUInt8;
      return true;
    case 's':
      *type = ElementType::kInt16;
      return true;
    case 'S':
      *type = ElementType::kUInt16;
      return true;
    case 'i':
      *type = ElementType::kInt32;
      return true;
    case 'I':
      *type = ElementType::kUInt32;
      return true;
    case 'l':
      *type = ElementType::kInt64;
      return true;
    case 'L':
      *type = ElementType::kUInt64;
      return true;
    case 'e':
      *type = ElementType::kFloat16;
      return true;
    case 'f':
      *type = ElementType::kFloat32;
      return true;
    case 'g':
      *type = ElementType::kFloat64;
      return true;
    default:
      return false;
  }
}

// The number after the colon of "w:16" and "+w:3".
int64_t WidthOf(std::string_view format) {
  const std::string_view digits = format.substr(format.find(':') + 1);
  int64_t width = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), width);
  if (error != std::errc() || end != digits.data() + digits.size() || width < 0 || width > INT32_MAX) {
    RefuseArrow("the format '" + std::string(format) + "' has no width");
  }
  return width;
}

// How many buffers and children a form has; at least so many buffers for views, which have one for each run of data.
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

void CheckChildren(const ArrowSchema& schema, const ArrowArray& array, int64_t wanted) {
  if (schema.n_children != wanted || array.n_children != wanted || wanted < 0) {
    RefuseArrow("a '" + std::string(schema.format) + "' with " + Counted(schema.n_children, "children") +
                " in its schema and " + std::to_string(array.n_children) + " in its array");
  }
  if (wanted > kMostArrowNodes) RefuseArrow("it has " + Counted(wanted, "children"));
  if (wanted > 0 && (schema.children == nullptr || array.children == nullptr)) RefuseArrow("it has no children");
  for (int64_t i = 0; i < wanted; ++i) {
    if (schema.children[i] == nullptr || array.children[i] == nullptr) {
      RefuseArrow("child " + std::to_string(i) + " is missing");
    }
  }
}

void CheckBuffers(ArrowForm form, const ArrowSchema& schema, const ArrowArray& array, int64_t least) {
  if (array.n_buffers < least || (form != ArrowForm::kViews && array.n_buffers != least)) {
    RefuseArrow("a '" + std::string(schema.format) + "' with " + Counted(array.n_buffers, "buffers") + ", expected " +
                std::to_string(least));
  }
  if (array.buffers == nullptr) RefuseArrow("it has no buffers");
  if (array.null_count > 0 && array.buffers[0] == nullptr) RefuseArrow("it has nulls, but no validity buffer");
}

// Whether the form's second buffer must be there for an array that is not empty: its values, offsets or views. Strings
// of a width of 0 have no bytes.
bool NeedsSecond(const ArrowType& type) {
  return type.form != ArrowForm::kFixedList && type.form != ArrowForm::kStruct &&
         !(type.form == ArrowForm::kFixedStrings && type.width == 0);
}

// The next number, or string of so many bytes, of a schema's metadata, which come in the machine's byte order.
int32_t TakeNumber(const char** at) {
  int32_t number;
  std::memcpy(&number, *at, sizeof number);
  if (number < 0) RefuseArrow("metadata with a length of " + std::to_string(number));
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

// Whether "[0,1,2]" names the axes in their own order.
bool InOrder(std::string_view permutation) {
  std::string expected = "[";
  for (int axis = 0; expected.size() < permutation.size(); ++axis) expected += std::to_string(axis) + ",";
  expected.back() = ']';
  return permutation == expected;
}

// Throws for a tensor that lists its values in another order than that of its axes: written as they lie, they would be
// other values.
void RefusePermuted(const ArrowSchema& schema) {
  const char* at = schema.metadata;
  if (at == nullptr) return;
  std::string_view name, parameters;
  for (int32_t pairs = TakeNumber(&at); pairs > 0; --pairs) {
    const std::string_view key = TakeText(&at);
    const std::string_view value = TakeText(&at);
    if (key == "ARROW:extension:name") name = value;
    if (key == "ARROW:extension:metadata") parameters = value;
  }
  if (name != "arrow.fixed_shape_tensor") return;
  const std::string permutation = PermutationIn(parameters);
  if (permutation.empty() || InOrder(permutation)) return;
  const std::string named = schema.name != nullptr && schema.name[0] != 0 ? " '" + std::string(schema.name) + "'" : "";
  RefuseArrow("a tensor" + named + " with the permutation " + permutation +
              ", whose values lie in another order than that of its axes: give its to_numpy_ndarray() instead");
}

}  // namespace

void RefuseArrow(const std::string& what) { ThrowStatus(Status::InvalidArgument("Arrow array: " + what)); }

int64_t ArrowEnd(int64_t first, int64_t length) {
  if (first < 0 || length < 0 || first > kMostItems || length > kMostItems - first) {
    RefuseArrow("an offset of " + std::to_string(first) + " and a length of " + std::to_string(length));
  }
  return first + length;
}

ArrowType TypeOfArrow(const ArrowSchema& schema) {
  if (schema.release == nullptr) RefuseArrow("its schema was released: a capsule can be used only once");
  if (schema.format == nullptr) RefuseArrow("its schema has no format");
  const std::string_view format = schema.format;
  ElementType element;
  if (schema.dictionary != nullptr) {
    const bool integers = NumberOf(format, &element) && !IsFloat(element);
    return integers ? ArrowType{ArrowForm::kDictionary, element} : ArrowType{ArrowForm::kOther};
  }
  if (NumberOf(format, &element)) return {ArrowForm::kNumbers, element};
  if (format == "n") return {ArrowForm::kNull};
  if (format == "b") return {ArrowForm::kBits};
  if (format == "z" || format == "u") return {ArrowForm::kStrings};
  if (format == "Z" || format == "U") return {ArrowForm::kLargeStrings};
  if (format == "vz" || format == "vu") return {ArrowForm::kViews};
  if (format.starts_with("w:")) return {ArrowForm::kFixedStrings, ElementType::kBytes, WidthOf(format)};
  if (format == "+l") return {ArrowForm::kList};
  if (format == "+L") return {ArrowForm::kLargeList};
  if (format.starts_with("+w:")) {
    RefusePermuted(schema);
    return {ArrowForm::kFixedList, ElementType::kInt64, WidthOf(format)};
  }
  if (format == "+s") return {ArrowForm::kStruct};
  return {ArrowForm::kOther};
}

void CheckArrow(const ArrowSchema& schema, const ArrowType& type, const ArrowArray& array, int64_t first,
                int64_t length) {
  if (array.release == nullptr) RefuseArrow("it was released: a capsule can be used only once");
  const int64_t end = ArrowEnd(first, length);
  if (end > ArrowEnd(array.offset, array.length)) {
    RefuseArrow("a child of " + std::to_string(array.length) + " items, which has too few for its parent");
  }
  if (array.null_count < -1 || array.null_count > array.length) {
    RefuseArrow(std::to_string(array.null_count) + " nulls among " + std::to_string(array.length) + " items");
  }
  if (type.form == ArrowForm::kNull || type.form == ArrowForm::kOther) return;
  const Parts parts = PartsOf(type.form, schema.n_children);
  CheckChildren(schema, array, parts.children);
  CheckBuffers(type.form, schema, array, parts.buffers);
  if (length > 0 && NeedsSecond(type) && array.buffers[1] == nullptr)
    RefuseArrow("it has items, but no buffer of them");
  if (type.form == ArrowForm::kDictionary && array.dictionary == nullptr) RefuseArrow("a dictionary without values");
}

}  // namespace tfr
