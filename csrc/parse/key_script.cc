// Learning a script, and taking its entries without vectors; see key_script.h.

#include "parse/key_script.h"

#include <cstring>

#include "base/endian.h"
#include "varint/varint.h"
#include "wire/wire.h"

namespace tfr {
namespace {

constexpr uint8_t kValueTag = WireTag(2, kWireDelimited);
constexpr uint8_t kFloatListTag = WireTag(2, kWireDelimited);
constexpr uint8_t kInt64ListTag = WireTag(3, kWireDelimited);
constexpr uint8_t kPackedTag = WireTag(1, kWireDelimited);

// What stands between a key and its only value, as one little-endian word of six bytes:
//   value tag, its length | list tag, its length | packed tag, its length
// with the three lengths growing together with the bytes of the value.
constexpr uint64_t Between(uint8_t list_tag, uint64_t value_bytes) {
  return kValueTag | (value_bytes + 4) << 8 | static_cast<uint64_t>(list_tag) << 16 | (value_bytes + 2) << 24 |
         static_cast<uint64_t>(kPackedTag) << 32 | value_bytes << 40;
}
constexpr size_t kBetweenBytes = 6;
constexpr uint64_t kBetweenMask = (uint64_t{1} << 8 * kBetweenBytes) - 1;
constexpr uint64_t kPerValueByte = Between(0, 1) - Between(0, 0);
static_assert(kPerValueByte == 0x0000010001000100);

constexpr size_t kHeaderBytes = 4;        // entry tag, its length, key tag, its length
constexpr uint32_t kEntryLengthUnit = 1u << 8;
constexpr uint32_t kValueMessageBytes = 4;  // list tag and length, packed tag and length
// So many columns' next lines fit into the nearest cache beside the lines that are written; of more, each drives out
// another.
constexpr size_t kMostFetched = 256;
constexpr uint64_t kContinue = 0x8080808080808080;

// Header, what is between, the eight bytes of a value's load, and the eight that a short key's load may take.
constexpr size_t kReadAhead = kHeaderBytes + kBetweenBytes + 8 + 8;

// If an entry of this slot's key with one packed varint of 1 to 8 bytes stands at `p`, takes it and returns the
// cursor behind it, else null. kReadAhead bytes and the key are readable at p.
inline const uint8_t* TakeOneInt64(const uint8_t* p, const KeyTable::Slot& slot, int64_t* value) {
  const uint8_t* between = p + kHeaderBytes + slot.size;
  const uint64_t word = LoadLE64(between);
  const uint64_t bytes = word >> 40 & 0xff;
  if (bytes - 1 > 7) return nullptr;
  const uint64_t header = LoadLE32(p) ^ (slot.entry_header + static_cast<uint32_t>(bytes + kValueMessageBytes) *
                                                                 kEntryLengthUnit);
  const uint64_t differs = header | ((word & kBetweenMask) ^ (Between(kInt64ListTag, 0) + bytes * kPerValueByte));
  if (differs != 0 || !KeyTable::SameBytes(slot, p + kHeaderBytes)) return nullptr;
  const uint64_t mask = ~uint64_t{0} >> (64 - 8 * bytes);
  const uint64_t varint = LoadLE64(between + kBetweenBytes) & mask;
  if ((varint & kContinue) != (kContinue & mask >> 8)) return nullptr;  // not one varint of that many bytes
  *value = static_cast<int64_t>(internal::JoinGroups(varint & ~kContinue));
  return between + kBetweenBytes + bytes;
}

inline const uint8_t* TakeOneFloat(const uint8_t* p, const KeyTable::Slot& slot, uint32_t* bits) {
  const uint8_t* between = p + kHeaderBytes + slot.size;
  const uint64_t header = LoadLE32(p) ^ (slot.entry_header + (4 + kValueMessageBytes) * kEntryLengthUnit);
  const uint64_t differs = header | ((LoadLE64(between) & kBetweenMask) ^ Between(kFloatListTag, 4));
  if (differs != 0 || !KeyTable::SameBytes(slot, p + kHeaderBytes)) return nullptr;
  *bits = LoadLE32(between + kBetweenBytes);
  return between + kBetweenBytes + 4;
}

// Behind an entry of this slot's key with a value of fewer than 128 bytes, none of which matter.
inline const uint8_t* TakeSkipped(const uint8_t* p, const uint8_t* end, const KeyTable::Slot& slot) {
  const uint8_t* value = p + kHeaderBytes + slot.size;
  const uint32_t size = value[1];
  if (slot.size + kHeaderBytes + size > KeyTable::kMaxOneByteLength) return nullptr;
  const uint32_t header = LoadLE32(p) ^ (slot.entry_header + size * kEntryLengthUnit);
  if (header != 0 || value[0] != kValueTag || !KeyTable::SameBytes(slot, p + kHeaderBytes)) return nullptr;
  value += 2;
  return static_cast<size_t>(end - value) >= size ? value + size : nullptr;
}

// Takes a map entry of this slot's key, in the one form that its shape stands for, and puts its value into the row;
// null if it is anything else.
inline const uint8_t* TakeWhole(const uint8_t* p, const uint8_t* end, const KeyTable::Slot& slot, size_t row) {
  if (slot.shape == KeyTable::kGeneral || static_cast<size_t>(end - p) < kReadAhead + slot.size) return nullptr;
  if (slot.shape == KeyTable::kOneInt64) {
    int64_t value;
    const uint8_t* const behind = TakeOneInt64(p, slot, &value);
    if (behind) reinterpret_cast<int64_t*>(slot.out)[row] = value;
    return behind;
  }
  if (slot.shape == KeyTable::kOneFloat) {
    uint32_t bits;
    const uint8_t* const behind = TakeOneFloat(p, slot, &bits);
    if (behind) reinterpret_cast<uint32_t*>(slot.out)[row] = bits;
    return behind;
  }
  return TakeSkipped(p, end, slot);
}

// Steps of a key too long for the window, or without a usual form, are for TakeWhole and for the parser.
KeyScript::Step StepOf(uint32_t index, const KeyTable::Slot& slot) {
  KeyScript::Step step{};
  step.slot = index;
  step.out = slot.out;
  step.shape = slot.shape;
  const size_t told = kHeaderBytes + slot.size + (slot.shape == KeyTable::kSkip ? 2 : kBetweenBytes);
  if (slot.shape == KeyTable::kGeneral || told > KeyScript::kWindow) {
    step.base[0] = 0xff;  // no entry's first byte
    step.mask[0] = 0xff;
    step.shape = KeyTable::kGeneral;
    return step;
  }
  const size_t between = kHeaderBytes + slot.size;
  StoreLE32(step.base, slot.entry_header);
  std::memcpy(step.base + kHeaderBytes, slot.key, slot.size);
  step.base[between] = kValueTag;
  std::memset(step.mask, 0xff, told);
  step.n_at = static_cast<uint8_t>(told - 1);
  step.grows[1] = step.grows[between + 1] = step.grows[told - 1] = 0xff;
  if (slot.shape == KeyTable::kSkip) {
    step.most = static_cast<uint8_t>(KeyTable::kMaxOneByteLength - kHeaderBytes - slot.size);
    return step;
  }
  step.grows[between + 3] = 0xff;
  step.base[1] += kValueMessageBytes;
  const uint64_t word = Between(slot.shape == KeyTable::kOneInt64 ? kInt64ListTag : kFloatListTag, 0);
  std::memcpy(step.base + between, &word, kBetweenBytes);
  if (slot.shape == KeyTable::kOneFloat) {  // n is 4
    for (size_t i = 0; i < told; ++i) step.base[i] = static_cast<uint8_t>(step.base[i] + (step.grows[i] & 4));
    std::memset(step.grows, 0, sizeof step.grows);
  }
  return step;
}

bool UseAvx2() {
#if defined(__x86_64__)
  // Whoever asks for portable varints gets no vectors here either.
  return internal::ScriptAvx2Supported() && std::strcmp(VarintBackend(), "portable") != 0;
#else
  return false;
#endif
}

}  // namespace

KeyScript::KeyScript() { Clear(); }

void KeyScript::Clear() {
  KeyTable::Slot none{};
  none.shape = KeyTable::kGeneral;
  steps_.assign(1, StepOf(KeyTable::kUnknown, none));
  places_.clear();
}

void KeyScript::Insert(size_t at, uint32_t slot, const KeyTable& keys) {
  steps_.insert(steps_.begin() + static_cast<ptrdiff_t>(at), StepOf(slot, keys.slot(slot)));
  if (places_.size() <= slot) places_.resize(slot + 1, kNowhere);
  for (size_t i = at; i < size(); ++i) places_[steps_[i].slot] = static_cast<uint32_t>(i);
}

void KeyScript::SetColumns(const KeyTable& keys) {
  vectors_ = UseAvx2();
  for (Step& step : steps_) step.out = keys.slot(step.slot).out;
}

const uint8_t* KeyScript::Take(const uint8_t* begin, const uint8_t* p, const uint8_t* end, const uint8_t* readable_end,
                               size_t row, const KeyTable& keys, size_t* at) const {
#if defined(__x86_64__)
  if (vectors_) {
    const Step* step = &steps_[*at];
    p = internal::TakeScriptAvx2(&step, size() <= kMostFetched, begin, p, end, readable_end, row);
    *at = static_cast<size_t>(step - steps_.data());
    return p;
  }
#endif
  (void)begin, (void)readable_end;
  for (; p < end && *at < size(); ++*at) {
    const uint8_t* const behind = TakeWhole(p, end, keys.slot(steps_[*at].slot), row);
    if (behind == nullptr) break;
    p = behind;
  }
  return p;
}

}  // namespace tfr
