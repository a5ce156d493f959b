// Learning a script, and taking its entries without vectors; see key_script.h.

#include "parse/key_script.h"

#include <algorithm>
#include <cstring>

#include "base/endian.h"
#include "varint/varint.h"
#include "wire/example.h"
#include "wire/wire.h"

namespace tfr {
namespace {

// The next lines of this many columns fit into the nearest cache next to the lines that are written; with more, each
// drives out another.
constexpr size_t kMostFetched = 256;
constexpr uint64_t kContinue = 0x8080808080808080;

// The two headers, the eight bytes of a value's load, and the eight that a short key's load may take.
constexpr size_t kReadAhead = kEntryHeaderBytes + kFeatureHeaderBytes + 8 + 8;

// If there is an entry of this slot's key with one packed varint of 1 to 8 bytes at `p`, takes it and returns the
// cursor after it, else null. kReadAhead bytes and the key are readable at p.
inline const uint8_t* TakeOneInt64(const uint8_t* p, const KeyTable::Slot& slot, int64_t* value) {
  const uint8_t* feature = p + kEntryHeaderBytes + slot.size;
  const uint64_t word = LoadLE64(feature);
  const uint64_t bytes = ValueBytes(word);
  if (bytes - 1 > 7) return nullptr;
  const uint64_t entry =
      LoadLE32(p) ^ (slot.entry_header + static_cast<uint32_t>(bytes + kFeatureOverhead) * kEntryLengthUnit);
  const uint64_t differs = entry | ((word & kFeatureHeaderMask) ^ FeatureHeader(kValueTag, Kind::kInt64, bytes));
  if (differs != 0 || !KeyTable::SameBytes(slot, p + kEntryHeaderBytes)) return nullptr;
  const uint64_t mask = ~uint64_t{0} >> (64 - 8 * bytes);
  const uint64_t varint = LoadLE64(feature + kFeatureHeaderBytes) & mask;
  if ((varint & kContinue) != (kContinue & mask >> 8)) return nullptr;  // not one varint of that many bytes
  *value = static_cast<int64_t>(internal::JoinGroups(varint & ~kContinue));
  return feature + kFeatureHeaderBytes + bytes;
}

inline const uint8_t* TakeOneFloat(const uint8_t* p, const KeyTable::Slot& slot, uint32_t* bits) {
  const uint8_t* feature = p + kEntryHeaderBytes + slot.size;
  const uint64_t entry = LoadLE32(p) ^ (slot.entry_header + (4 + kFeatureOverhead) * kEntryLengthUnit);
  const uint64_t differs =
      entry | ((LoadLE64(feature) & kFeatureHeaderMask) ^ FeatureHeader(kValueTag, Kind::kFloat, 4));
  if (differs != 0 || !KeyTable::SameBytes(slot, p + kEntryHeaderBytes)) return nullptr;
  *bits = LoadLE32(feature + kFeatureHeaderBytes);
  return feature + kFeatureHeaderBytes + 4;
}

// Skips an entry of this slot's key whose value is shorter than 128 bytes; returns its end, or null if it is another
// entry.
inline const uint8_t* TakeSkipped(const uint8_t* p, const uint8_t* end, const KeyTable::Slot& slot) {
  const uint8_t* value = p + kEntryHeaderBytes + slot.size;
  const uint32_t size = value[1];
  if (slot.size + 2 * kShortField + size > kMaxShortLength) return nullptr;
  const uint32_t entry = LoadLE32(p) ^ (slot.entry_header + size * kEntryLengthUnit);
  if (entry != 0 || value[0] != kValueTag || !KeyTable::SameBytes(slot, p + kEntryHeaderBytes)) return nullptr;
  value += kShortField;
  return static_cast<size_t>(end - value) >= size ? value + size : nullptr;
}

// Takes a map entry of this slot's key, in the one form that its shape describes, and puts its value into the row;
// null if it is anything else. kReadAhead bytes and the key are readable at p.
inline const uint8_t* TakeWhole(const uint8_t* p, const uint8_t* end, const KeyTable::Slot& slot, size_t row) {
  if (slot.shape == KeyTable::kOneInt64) {
    int64_t value;
    const uint8_t* const after = TakeOneInt64(p, slot, &value);
    if (after) StoreLE64(slot.out + row * slot.row_bytes, static_cast<uint64_t>(value));
    return after;
  }
  if (slot.shape == KeyTable::kOneFloat) {
    uint32_t bits;
    const uint8_t* const after = TakeOneFloat(p, slot, &bits);
    if (after) StoreLE32(slot.out + row * slot.row_bytes, bits);
    return after;
  }
  return TakeSkipped(p, end, slot);
}

// Like TakeWhole, near the end of the map, for an entry that has room after it only in a copy. Rejects a value that
// goes past the end.
const uint8_t* TakeLast(const uint8_t* p, const uint8_t* end, const KeyTable::Slot& slot, size_t row) {
  uint8_t copy[kReadAhead + kMaxShortLength];
  const auto rest = static_cast<size_t>(end - p);
  std::memcpy(copy, p, rest);
  std::memset(copy + rest, 0, kReadAhead + slot.size - rest);
  const uint8_t* const after = TakeWhole(copy, copy + rest, slot, row);
  return after != nullptr && after <= copy + rest ? p + (after - copy) : nullptr;
}

// An entry whose key is too long for the window, or which has no usual form, is left to TakeWhole and the parser.
KeyScript::Step StepOf(uint32_t index, const KeyTable::Slot& slot) {
  KeyScript::Step step{};
  step.slot = index;
  step.out = slot.out;
  step.row_bytes = slot.row_bytes;
  step.shape = slot.shape;
  const size_t feature = kEntryHeaderBytes + slot.size;
  const size_t known = feature + (slot.shape == KeyTable::kSkip ? kShortField : kFeatureHeaderBytes);
  if (slot.shape == KeyTable::kGeneral || known > KeyScript::kWindow) {
    step.base[0] = 0xff;  // no entry's first byte
    step.mask[0] = 0xff;
    step.shape = KeyTable::kGeneral;
    return step;
  }
  StoreLE32(step.base, slot.entry_header);
  std::memcpy(step.base + kEntryHeaderBytes, slot.key, slot.size);
  step.base[feature] = kValueTag;
  std::memset(step.mask, 0xff, known);
  step.n_at = static_cast<uint8_t>(known - 1);
  step.grows[1] = step.grows[feature + 1] = step.grows[known - 1] = 0xff;
  if (slot.shape == KeyTable::kSkip) {
    step.most = static_cast<uint8_t>(kMaxShortLength - 2 * kShortField - slot.size);
    return step;
  }
  step.grows[feature + 3] = 0xff;
  step.base[1] += kFeatureOverhead;
  const Kind kind = slot.shape == KeyTable::kOneInt64 ? Kind::kInt64 : Kind::kFloat;
  const uint64_t header = FeatureHeader(kValueTag, kind, 0);
  std::memcpy(step.base + feature, &header, kFeatureHeaderBytes);
  if (slot.shape == KeyTable::kOneFloat) {  // n is 4
    for (size_t i = 0; i < known; ++i) step.base[i] = static_cast<uint8_t>(step.base[i] + (step.grows[i] & 4));
    std::memset(step.grows, 0, sizeof step.grows);
  }
  return step;
}

#if defined(__x86_64__)
// A script's varints use the backend of VarintBackend, so that a test which forces a backend gets it here.
bool DecodesBy(const char* backend) { return std::strcmp(VarintBackend(), backend) == 0; }
#endif

}  // namespace

KeyScript::KeyScript() { Clear(); }

void KeyScript::Clear() {
  KeyTable::Slot none{};
  none.shape = KeyTable::kGeneral;
  steps_.assign(1, StepOf(KeyTable::kUnknown, none));
  places_.clear();
  noted_.clear();
}

void KeyScript::Note(size_t at, uint32_t slot) {
  if (places_.size() <= slot) places_.resize(slot + 1, kNowhere);
  places_[slot] = kNoted;
  noted_.push_back({at, slot});
}

void KeyScript::Insert(const KeyTable& keys) {
  std::stable_sort(noted_.begin(), noted_.end(), [](const Noted& a, const Noted& b) { return a.at < b.at; });
  auto end = static_cast<ptrdiff_t>(steps_.size());
  steps_.resize(steps_.size() + noted_.size());
  auto moved_end = steps_.end();
  for (; !noted_.empty(); noted_.pop_back()) {
    const auto at = static_cast<ptrdiff_t>(noted_.back().at);
    moved_end = std::copy_backward(steps_.begin() + at, steps_.begin() + end, moved_end);
    *--moved_end = StepOf(noted_.back().slot, keys.slot(noted_.back().slot));
    end = at;
  }
  for (auto i = static_cast<size_t>(end); i < size(); ++i) places_[steps_[i].slot] = static_cast<uint32_t>(i);
}

void KeyScript::SetColumns(const KeyTable& keys) {
#if defined(__x86_64__)
  vectors_ = internal::ScriptAvx2Supported() && !DecodesBy("portable");
  pext_ = !DecodesBy("avx2");
#endif
  for (Step& step : steps_) {
    step.out = keys.slot(step.slot).out;
    step.row_bytes = keys.slot(step.slot).row_bytes;
  }
}

const uint8_t* KeyScript::Take(const uint8_t* begin, const uint8_t* p, const uint8_t* end, const uint8_t* readable_end,
                               size_t row, const KeyTable& keys, size_t* at) const {
#if defined(__x86_64__)
  if (vectors_) {
    const Step* step = &steps_[*at];
    p = internal::TakeScriptAvx2(&step, size() <= kMostFetched, pext_, begin, p, end, readable_end, row);
    *at = static_cast<size_t>(step - steps_.data());
    return p;
  }
#endif
  (void)begin, (void)readable_end;
  for (; p < end && *at < size(); ++*at) {
    const KeyTable::Slot& slot = keys.slot(steps_[*at].slot);
    if (slot.shape == KeyTable::kGeneral) break;
    const bool has_room = static_cast<size_t>(end - p) >= kReadAhead + slot.size;
    const uint8_t* const after = has_room ? TakeWhole(p, end, slot, row) : TakeLast(p, end, slot, row);
    if (after == nullptr) break;
    p = after;
  }
  return p;
}

}  // namespace tfr
