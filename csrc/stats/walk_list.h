// The values of one Feature's list, block by block: whatever their number, no more memory is needed than for a block.

#pragma once

#include <cstddef>
#include <cstdint>

#include "base/endian.h"
#include "base/records.h"
#include "parse/feature.h"
#include "varint/varint.h"
#include "wire/example.h"
#include "wire/wire.h"

namespace tfr {

// Calls sink.Add(const int64_t*, n), sink.Add(const float*, n) or sink.Add(const Bytes&) for the values in their order.
// False if the list is malformed; some of its values may have been given then.
template <typename Sink>
bool WalkList(const FeatureValue& list, Sink&& sink) {
  constexpr size_t kValues = 256;
  const uint8_t* p = list.begin;
  // A run of the Feature's fields has the list in pieces.
  if (!list.lone && list.kind != Kind::kNone) {
    const Bytes fields = {list.begin, static_cast<size_t>(list.end - list.begin)};
    return ForEachField(fields, {ListTag(list.kind)}, [&](uint32_t, const Bytes& piece) {
      return WalkList(FeatureValue{list.kind, true, piece.data, piece.data + piece.size}, sink);
    });
  }
  while (p < list.end) {
    uint32_t tag;
    p = ReadTag(p, list.end, &tag);
    if (p == nullptr) return false;
    if (tag == kPackedTag) {  // or a string's, which is the same
      size_t size;
      p = ReadLength(p, list.end, &size);
      if (p == nullptr) return false;
      const uint8_t* const end = p + size;
      if (list.kind == Kind::kBytes) {
        sink.Add(Bytes{p, size});
        p = end;
      } else if (list.kind == Kind::kFloat) {
        if (size % sizeof(float) != 0) return false;
        float values[kValues];
        for (size_t n; p < end; p += n * sizeof(float)) {
          const size_t left = static_cast<size_t>(end - p) / sizeof(float);
          n = left < kValues ? left : kValues;
          std::memcpy(values, p, n * sizeof(float));
          sink.Add(values, n);
        }
      } else {
        int64_t values[kValues];
        while (p < end) {
          size_t n;
          p = DecodeVarintRun(p, end, values, kValues, &n);
          if (p == nullptr) return false;
          sink.Add(values, n);
        }
      }
    } else if (tag == kUnpackedInt64Tag && list.kind == Kind::kInt64) {
      uint64_t bits;
      p = ReadVarint(p, list.end, &bits);
      if (p == nullptr) return false;
      const auto value = static_cast<int64_t>(bits);
      sink.Add(&value, 1);
    } else if (tag == kUnpackedFloatTag && list.kind == Kind::kFloat) {
      float value;
      if (static_cast<size_t>(list.end - p) < sizeof value) return false;
      std::memcpy(&value, p, sizeof value);
      p += sizeof value;
      sink.Add(&value, 1);
    } else {
      p = SkipField(p, list.end, tag);
      if (p == nullptr) return false;
    }
  }
  return true;
}

}  // namespace tfr
