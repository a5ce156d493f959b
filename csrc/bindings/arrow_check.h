// What an Arrow producer hands over, checked before anything acts on it: a producer may lie, by mistake or on purpose.
//
// The interface gives no sizes of buffers except for those of views, so that a buffer which is too short can't be found
// out. Everything else can: structures that were released, missing buffers and children, negative or huge lengths,
// nesting without an end. Offsets and indices are checked where they are read, which happens once.

#ifndef TFRECORD_FAST_BINDINGS_ARROW_CHECK_H_
#define TFRECORD_FAST_BINDINGS_ARROW_CHECK_H_

#include <cstdint>
#include <string>

#include "base/element_type.h"
#include "bindings/arrow.h"

namespace tfr {

// How many arrays, one inside another, are taken at most: more than anyone has. The interface does not say how long the
// list of an array's children is, so a number beyond this one is refused before the list is read.
constexpr int64_t kMostArrowNodes = 1 << 20;

// How an Arrow type lays out its values.
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

// Throws InvalidArgumentError for a schema that was released, whose format is not one, or whose tensors are permuted.
ArrowType TypeOfArrow(const ArrowSchema& schema);

// Throws InvalidArgumentError unless the array has what its type needs: for items [first, first + length), counted from
// the start of its buffers, all buffers; and all children, which are structures that were not released.
void CheckArrow(const ArrowSchema& schema, const ArrowType& type, const ArrowArray& array, int64_t first,
                int64_t length);

// first + length, if neither is negative and no size in bytes of so many items can overflow; throws otherwise.
int64_t ArrowEnd(int64_t first, int64_t length);

[[noreturn]] void RefuseArrow(const std::string& what);

}  // namespace tfr

#endif  // TFRECORD_FAST_BINDINGS_ARROW_CHECK_H_
