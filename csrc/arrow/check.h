// Checks of what an Arrow producer hands over, before anything acts on it: a producer may lie, by accident or intent.
//
// The interface has sizes for the buffers of views only, so another buffer that is too short cannot be detected. All
// else can: released structures, missing buffers and children, negative or huge lengths, endless nesting. Offsets and
// indices are checked where they are read, once.

#pragma once

#include <cstdint>
#include <string>

#include "arrow/c_data.h"
#include "base/element_type.h"
#include "base/status.h"

namespace tfr {

// The most arrays inside one, at any depth: more than anyone has. The interface does not say how long the list of an
// array's children is, so a larger number is refused before the list is read.
constexpr int64_t kMostArrowNodes = 1 << 20;

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

// Fails for a released schema, an invalid format and permuted tensors.
Status TypeOfArrow(const ArrowSchema& schema, ArrowType* type);

// Fails unless the array has what its type needs: for items [first, first + length), counted from the start of its
// buffers, all buffers; and all children, which must not have been released.
Status CheckArrow(const ArrowSchema& schema, const ArrowType& type, const ArrowArray& array, int64_t first,
                  int64_t length);

// Sets *end to first + length. Fails if either is negative, or if the bytes of that many items can overflow.
Status ArrowEnd(int64_t first, int64_t length, int64_t* end);

Status ArrowError(const std::string& message);

}  // namespace tfr
