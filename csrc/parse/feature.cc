// Decoding the three kinds of lists; see feature.h.

#include "parse/feature.h"

#include <algorithm>
#include <cstring>

#include "base/endian.h"
#include "parse/convert.h"
#include "varint/varint.h"
#include "wire/example.h"
#include "wire/wire.h"

namespace tfr {
namespace {

constexpr size_t kBlockValues = 256;  // converted at a time, so that the intermediate stays in the first-level cache

// One packed run.
Decoded PackedInt64s(const uint8_t* p, const uint8_t* end, ElementType type, ValueTarget* target, int64_t* misfit) {
  int64_t block[kBlockValues];
  while (p < end && target->count < target->room) {
    const bool in_place = type == ElementType::kInt64;
    const size_t room = target->room - target->count;
    int64_t* out = in_place ? reinterpret_cast<int64_t*>(target->out) + target->count : block;
    size_t count;
    p = DecodeVarintRun(p, end, out, in_place ? room : std::min(room, kBlockValues), &count);
    if (p == nullptr) return Decoded::kMalformed;
    if (!in_place && !StoreInts(block, count, type, target->out + target->count * ItemSize(type), misfit)) {
      return Decoded::kOutOfRange;
    }
    target->count += count;
  }
  if (p == end) [[likely]]
    return Decoded::kOk;
  size_t beyond;  // those that there was no room for
  if (!CountVarints(p, end, &beyond)) return Decoded::kMalformed;
  target->count += beyond;
  return Decoded::kOk;
}

Decoded Int64List(const uint8_t* p, const uint8_t* end, ElementType type, ValueTarget* target, int64_t* misfit) {
  while (p < end) {
    uint32_t tag;
    p = ReadTag(p, end, &tag);
    if (p == nullptr) return Decoded::kMalformed;
    if (tag == kPackedTag) {
      size_t size;
      p = ReadLength(p, end, &size);
      if (p == nullptr) return Decoded::kMalformed;
      const Decoded decoded = PackedInt64s(p, p + size, type, target, misfit);
      if (decoded != Decoded::kOk) return decoded;
      p += size;
    } else if (tag == kUnpackedInt64Tag) {
      uint64_t bits;
      p = ReadVarint(p, end, &bits);
      if (p == nullptr) return Decoded::kMalformed;
      const auto value = static_cast<int64_t>(bits);
      if (target->count < target->room &&
          !StoreInts(&value, 1, type, target->out + target->count * ItemSize(type), misfit)) {
        return Decoded::kOutOfRange;
      }
      ++target->count;
    } else {
      p = SkipField(p, end, tag);
      if (p == nullptr) return Decoded::kMalformed;
    }
  }
  return Decoded::kOk;
}

bool PutFloats(const uint8_t* p, size_t n, ElementType type, ValueTarget* target, int64_t* misfit) {
  if (target->count < target->room) {
    const size_t fits = std::min(n, target->room - target->count);
    *misfit = 0;  // of no use: a message has no number
    if (!StoreFloats(p, fits, type, target->out + target->count * ItemSize(type))) return false;
  }
  target->count += n;
  return true;
}

Decoded FloatList(const uint8_t* p, const uint8_t* end, ElementType type, ValueTarget* target, int64_t* misfit) {
  while (p < end) {
    uint32_t tag;
    p = ReadTag(p, end, &tag);
    if (p == nullptr) return Decoded::kMalformed;
    if (tag == kPackedTag) {
      size_t size;
      p = ReadLength(p, end, &size);
      if (p == nullptr || size % 4 != 0) return Decoded::kMalformed;
      if (!PutFloats(p, size / 4, type, target, misfit)) return Decoded::kOutOfRange;
      p += size;
    } else if (tag == kUnpackedFloatTag) {
      if (end - p < 4) return Decoded::kMalformed;
      if (!PutFloats(p, 1, type, target, misfit)) return Decoded::kOutOfRange;
      p += 4;
    } else {
      p = SkipField(p, end, tag);
      if (p == nullptr) return Decoded::kMalformed;
    }
  }
  return Decoded::kOk;
}

Decoded BytesList(const uint8_t* p, const uint8_t* end, ValueTarget* target) {
  auto* out = reinterpret_cast<Bytes*>(target->out);
  while (p < end) {
    uint32_t tag;
    p = ReadTag(p, end, &tag);
    if (p == nullptr) return Decoded::kMalformed;
    if (tag == kStringTag) {
      size_t size;
      p = ReadLength(p, end, &size);
      if (p == nullptr) return Decoded::kMalformed;
      if (target->count < target->room) out[target->count] = {p, size};
      ++target->count;
      p += size;
    } else {
      p = SkipField(p, end, tag);
      if (p == nullptr) return Decoded::kMalformed;
    }
  }
  return Decoded::kOk;
}

Decoded DecodeList(const uint8_t* p, const uint8_t* end, Kind kind, ElementType type, ValueTarget* target,
                   int64_t* misfit) {
  switch (kind) {
    case Kind::kInt64:
      return Int64List(p, end, type, target, misfit);
    case Kind::kFloat:
      return FloatList(p, end, type, target, misfit);
    case Kind::kBytes:
      return BytesList(p, end, target);
    case Kind::kNone:
      break;
  }
  return Decoded::kOk;
}

}  // namespace

bool FindValue(const uint8_t* p, const uint8_t* end, FeatureValue* value) {
  *value = {Kind::kNone, false, end, end};
  if (p == end) return true;
  if (IsListTag(*p)) {
    size_t size;
    const uint8_t* list = ReadLength(p + 1, end, &size);
    if (list == nullptr) return false;
    if (list + size == end) [[likely]] {
      *value = {KindOfListTag(*p), true, list, end};
      return true;
    }
  }
  // Several fields: the last list wins, joined with those of its kind just before it.
  while (p < end) {
    const uint8_t* field = p;
    uint32_t tag;
    p = ReadTag(p, end, &tag);
    if (p == nullptr) return false;
    if (IsListTag(tag) && KindOfListTag(tag) != value->kind) {
      value->kind = KindOfListTag(tag);
      value->begin = field;
    }
    p = SkipField(p, end, tag);
    if (p == nullptr) return false;
  }
  return true;
}

size_t MostValues(const FeatureValue& value) {
  const auto bytes = static_cast<size_t>(value.end - value.begin);
  switch (value.kind) {
    case Kind::kInt64:
      return bytes;
    case Kind::kFloat:
      return bytes / 4;
    case Kind::kBytes:
      return bytes / kShortField;
    case Kind::kNone:
      break;
  }
  return 0;
}

bool CountValues(const FeatureValue& value, size_t* count) {
  *count = 0;
  const uint8_t* p = value.begin;
  if (value.kind == Kind::kNone || (value.lone && p == value.end)) return true;
  if (!value.lone) return false;
  size_t size;
  if (value.kind == Kind::kBytes) {
    for (; p < value.end; p += size, ++*count) {
      if (*p != kStringTag) return false;
      p = ReadLength(p + 1, value.end, &size);
      if (p == nullptr) return false;
    }
    return true;
  }
  if (*p != kPackedTag) return false;
  p = ReadLength(p + 1, value.end, &size);
  if (p == nullptr || p + size != value.end) return false;
  *count = value.kind == Kind::kInt64 ? CountVarints(p, value.end) : size / sizeof(float);
  return true;
}

Decoded DecodeValues(const FeatureValue& value, ElementType type, ValueTarget* target, int64_t* misfit) {
  if (value.lone) return DecodeList(value.begin, value.end, value.kind, type, target, misfit);
  if (value.kind == Kind::kNone) return Decoded::kOk;
  Decoded decoded = Decoded::kOk;
  const Bytes fields = {value.begin, static_cast<size_t>(value.end - value.begin)};
  const bool whole = ForEachField(fields, {ListTag(value.kind)}, [&](uint32_t, const Bytes& piece) {
    decoded = DecodeList(piece.data, piece.data + piece.size, value.kind, type, target, misfit);
    return decoded == Decoded::kOk;
  });
  return whole || decoded != Decoded::kOk ? decoded : Decoded::kMalformed;
}

Decoded OnlyBytes(const FeatureValue& value, Bytes* bytes, size_t* count) {
  ValueTarget target{reinterpret_cast<uint8_t*>(bytes), 1, 0};
  const Decoded decoded = DecodeValues(value, ElementType::kBytes, &target, nullptr);
  *count = target.count;
  return decoded;
}

}  // namespace tfr
