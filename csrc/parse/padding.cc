// Padding values; see padding.h.

#include "parse/padding.h"

#include <algorithm>
#include <cstring>

namespace tfr {
namespace {

constexpr uint8_t kZeros[16] = {};
constexpr Bytes kEmpty{kZeros, 0};  // a view is never null

const uint8_t* ItemOf(const Schema& schema, size_t f) {
  const FeatureSpec& spec = schema.features()[f];
  if (spec.type == ElementType::kBytes) {
    return reinterpret_cast<const uint8_t*>(spec.has_default() ? schema.default_views(f).data() : &kEmpty);
  }
  return spec.has_default() ? spec.default_values.data() : kZeros;
}

}  // namespace

Padding::Padding(const Schema& schema, size_t f)
    : item_(ItemOf(schema, f)),
      item_size_(ItemSize(schema.features()[f].type)),
      zero_(std::all_of(item_, item_ + item_size_, [](uint8_t byte) { return byte == 0; })) {}

void Padding::Fill(uint8_t* out, size_t count) const {
  if (zero_) {
    if (count > 0) std::memset(out, 0, count * item_size_);
    return;
  }
  for (size_t i = 0; i < count; ++i) std::memcpy(out + i * item_size_, item_, item_size_);
}

}  // namespace tfr
