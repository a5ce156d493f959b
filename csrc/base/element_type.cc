// The names of the element types; see element_type.h.

#include "base/element_type.h"

namespace tfr {
namespace {

constexpr const char* kNames[] = {"bool",   "int8",   "int16",   "int32",    "int64",   "uint8",   "uint16",
                                  "uint32", "uint64", "float16", "bfloat16", "float32", "float64", "string"};
static_assert(sizeof kNames / sizeof kNames[0] == kElementTypes);

}  // namespace

const char* TypeName(ElementType type) { return kNames[static_cast<size_t>(type)]; }

bool TypeNamed(std::string_view name, ElementType* type) {
  for (size_t i = 0; i < kElementTypes; ++i) {
    if (name != kNames[i]) continue;
    *type = static_cast<ElementType>(i);
    return true;
  }
  return false;
}

}  // namespace tfr
