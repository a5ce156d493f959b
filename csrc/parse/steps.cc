// Taking steps of one form; see steps.h.

#include "parse/steps.h"

#include <algorithm>
#include <cstring>

#include "base/endian.h"
#include "varint/varint.h"
#include "wire/example.h"
#include "wire/wire.h"

namespace tfr {
namespace {

constexpr uint64_t kMaxVarintWord = 8;
constexpr uint64_t kTopBits = 0x8080808080808080;
constexpr int kMostChanges = 2;  // of the varints' size in a list, before prediction ends

// The header before `bytes` bytes of varints.
constexpr uint64_t Int64Header(uint64_t bytes) { return FeatureHeader(kStepTag, Kind::kInt64, bytes); }
inline uint64_t HeaderAt(const uint8_t* p) { return LoadLE64(p - kBeforeSteps) >> 16; }

// Steps of one varint of n bytes each, 1 to 8.
template <bool kShort>
const uint8_t* TakeVarintsOf(size_t n, const uint8_t* p, const uint8_t* end, int64_t* out, size_t room, size_t* taken) {
  const size_t step = kFeatureHeaderBytes + n;
  const size_t most = std::min(room, static_cast<size_t>(end - p) / step);
  const uint64_t header = Int64Header(n);
  const size_t others = 64 - 8 * n;
  const uint64_t more = kTopBits >> others >> 8;  // set on all bytes but the last
  size_t i = 0;
  for (; i < most; ++i, p += step) {
    const uint64_t x = LoadLE64(p + step - 8) >> others;
    if (((HeaderAt(p) ^ header) | ((x & kTopBits) ^ more)) != 0) break;
    out[i] = static_cast<int64_t>(kShort ? (x & 0x7f) | (x >> 1 & 0x3f80) : internal::JoinGroups(x & ~kTopBits));
  }
  *taken += i;
  return p;
}

// Steps of one varint of any size: each waits for the size of the one before.
const uint8_t* TakeVarints(const uint8_t* p, const uint8_t* end, int64_t* out, size_t room, size_t* taken) {
  size_t i = 0;
  while (static_cast<size_t>(end - p) > kFeatureHeaderBytes && i < room) {
    const size_t n = p[kFeatureHeaderBytes - 1];
    if (HeaderAt(p) != Int64Header(n) || n > kMaxVarintSize || n > static_cast<size_t>(end - p) - kFeatureHeaderBytes ||
        !DecodeOneVarint(p - kBeforeSteps, p + kFeatureHeaderBytes, n, out + i)) {
      break;
    }
    p += kFeatureHeaderBytes + n;
    ++i;
  }
  *taken += i;
  return p;
}

const uint8_t* TakeRuns(size_t values, const uint8_t* p, const uint8_t* end, int64_t* out, size_t room, size_t* taken) {
  size_t i = 0;
  while (static_cast<size_t>(end - p) > kFeatureHeaderBytes && i < room) {
    const size_t n = p[kFeatureHeaderBytes - 1];
    if (HeaderAt(p) != Int64Header(n) || n > kMaxShortValues || n > static_cast<size_t>(end - p) - kFeatureHeaderBytes)
      break;
    const uint8_t* const after = p + kFeatureHeaderBytes + n;
    size_t count;
    if (DecodeVarintRun(p + kFeatureHeaderBytes, after, out + i * values, values, &count) != after || count != values)
      break;
    p = after;
    ++i;
  }
  *taken += i;
  return p;
}

}  // namespace

FloatStep::FloatStep(size_t floats) : value_bytes_(4 * floats) {
  constexpr size_t kMostBytes = size_t{1} << 27;  // lengths then take four bytes at most
  if (floats == 0 || floats > kMostBytes / 4) return;
  const uint64_t list = FieldSize(value_bytes_);
  const uint64_t feature = FieldSize(list);
  uint8_t header[16] = {};
  uint8_t* out = WriteField(kStepTag, feature, header);
  out = WriteField(ListTag(Kind::kFloat), list, out);
  out = WriteField(kPackedTag, value_bytes_, out);
  header_size_ = static_cast<size_t>(out - header);
  uint8_t mask[16] = {};
  std::fill(mask, mask + header_size_, 0xff);
  for (int i = 0; i < 2; ++i) {
    head_[i] = LoadLE64(header + 8 * i);
    mask_[i] = LoadLE64(mask + 8 * i);
  }
}

// kBytes of values after a header with lengths of one byte.
template <size_t kBytes>
const uint8_t* FloatStep::TakeSmall(const uint8_t* p, const uint8_t* end, uint8_t* out, size_t room,
                                    size_t* taken) const {
  constexpr size_t kStep = kFeatureHeaderBytes + kBytes;
  static_assert(kStep >= 8);
  const size_t most = std::min(room, static_cast<size_t>(end - p) / kStep);
  const uint64_t head = head_[0];
  size_t i = 0;
  for (; i < most; ++i, p += kStep, out += kBytes) {
    if ((LoadLE64(p) << 16) != head << 16) break;
    std::memcpy(out, p + kFeatureHeaderBytes, kBytes);
  }
  *taken += i;
  return p;
}

const uint8_t* FloatStep::Take(const uint8_t* p, const uint8_t* end, uint8_t* out, size_t room, size_t* taken) const {
  if (header_size_ == 0) return p;
  switch (value_bytes_) {
    case 4:
      return TakeSmall<4>(p, end, out, room, taken);
    case 8:
      return TakeSmall<8>(p, end, out, room, taken);
    case 12:
      return TakeSmall<12>(p, end, out, room, taken);
    case 16:
      return TakeSmall<16>(p, end, out, room, taken);
    case 32:
      return TakeSmall<32>(p, end, out, room, taken);
    case 64:
      return TakeSmall<64>(p, end, out, room, taken);
    default:
      break;
  }
  // There are at least 20 bytes of values here, after a header of up to 16.
  const size_t step = header_size_ + value_bytes_;
  const size_t most = std::min(room, static_cast<size_t>(end - p) / step);
  size_t i = 0;
  for (; i < most; ++i, p += step, out += value_bytes_) {
    if ((((LoadLE64(p) ^ head_[0]) & mask_[0]) | ((LoadLE64(p + 8) ^ head_[1]) & mask_[1])) != 0) break;
    std::memcpy(out, p + header_size_, value_bytes_);
  }
  *taken += i;
  return p;
}

const uint8_t* TakeInt64Steps(size_t values, const uint8_t* p, const uint8_t* end, int64_t* out, size_t room,
                              size_t* taken) {
  if (values != 1) return TakeRuns(values, p, end, out, room, taken);
  for (int change = 0; static_cast<size_t>(end - p) > kFeatureHeaderBytes && room > 0; ++change) {
    const size_t n = p[kFeatureHeaderBytes - 1];
    size_t some = 0;
    if (n - 1 < kMaxVarintWord && change <= kMostChanges) {
      p = n <= 2 ? TakeVarintsOf<true>(n, p, end, out, room, &some) : TakeVarintsOf<false>(n, p, end, out, room, &some);
    } else {
      p = TakeVarints(p, end, out, room, &some);
    }
    *taken += some;
    if (some == 0) break;
    out += some;
    room -= some;
  }
  return p;
}

}  // namespace tfr
