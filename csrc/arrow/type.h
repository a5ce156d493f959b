// The types of an Arrow schema, as far as they have a form in an Example.

#pragma once

#include <cstdint>
#include <string>

#include "arrow/c_data.h"
#include "base/element_type.h"
#include "base/status.h"

namespace tfr {

// Layout of the values of an Arrow type.
enum class ArrowForm : uint8_t {
  kNull,
  kBits,
  kNumbers,
  kDictionary,    // indices of the type `element`
  kStrings,       // int32 offsets
  kLargeStrings,  // int64 offsets
  kViews,
  kFixedStrings,  // of `width` bytes
  kList,          // int32 offsets
  kLargeList,     // int64 offsets
  kFixedList,     // of `width` items
  kStruct,
  kOther,  // has no form in an Example
};

struct ArrowType {
  ArrowForm form;
  ElementType element = ElementType::kInt64;
  int64_t width = 0;
};

// Fails for permuted tensors, and for a width that is not a number.
Status TypeOfArrow(const ArrowSchema& schema, ArrowType* type);

Status ArrowError(const std::string& message);

}  // namespace tfr
