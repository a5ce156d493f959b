// Hashing and learning of keys; see key_table.h.

#include "parse/key_table.h"

#include "wire/example.h"

namespace tfr {
namespace {

constexpr size_t kMostFeatureBytes = kFeatureOverhead + 8;  // of an entry that is tried as a whole

std::string_view View(const uint8_t* key, size_t size) { return {reinterpret_cast<const char*>(key), size}; }

KeyTable::EntryShape ShapeOf(const FeatureSpec& spec) {
  if (spec.layout != Layout::kFixed || spec.elements != 1) return KeyTable::kGeneral;
  if (spec.type == ElementType::kInt64) return KeyTable::kOneInt64;
  if (spec.type == ElementType::kFloat32) return KeyTable::kOneFloat;
  return KeyTable::kGeneral;
}

}  // namespace

KeyTable::KeyTable(const Schema& schema) {
  slots_.reserve(schema.size() + 2);
  for (int i = 0; i < 2; ++i) {  // kStart and kUnknown: no key matches them
    Slot none{};
    none.size = UINT32_MAX;
    none.feature = -1;
    none.shape = kGeneral;
    none.next = kUnknown;
    slots_.push_back(none);
  }
  size_t buckets = 16;
  while (buckets < 2 * schema.size()) buckets *= 2;
  buckets_.resize(buckets);
  for (size_t i = 0; i < schema.size(); ++i) {
    const FeatureSpec& spec = schema.features()[i];
    Add(reinterpret_cast<const uint8_t*>(spec.key.data()), spec.key.size(), static_cast<int32_t>(i), ShapeOf(spec));
  }
}

uint32_t KeyTable::Add(const uint8_t* key, size_t size, int32_t feature, EntryShape shape) {
  Slot slot{};
  std::memcpy(&slot.head, key, size < 8 ? size : 8);
  slot.head_mask = size >= 8 ? ~uint64_t{0} : (uint64_t{1} << 8 * size) - 1;
  if (size >= 8) slot.tail = LoadLE64(key + size - 8);
  slot.key = key;
  slot.size = static_cast<uint32_t>(size);
  slot.feature = feature;
  slot.next = kUnknown;
  slot.shape = kGeneral;
  const size_t entry_size = kShortField + size + kShortField;
  if (entry_size <= kMaxShortLength) {
    slot.entry_header = EntryHeader(static_cast<uint32_t>(size), 0);
    if (shape == kSkip || entry_size + kMostFeatureBytes <= kMaxShortLength) slot.shape = shape;
  }
  slots_.push_back(slot);
  const auto index = static_cast<uint32_t>(slots_.size() - 1);
  if (2 * slots_.size() > buckets_.size()) {
    Rehash();
  } else {
    size_t bucket = hash_(View(key, size)) & (buckets_.size() - 1);
    while (buckets_[bucket] != 0) bucket = (bucket + 1) & (buckets_.size() - 1);
    buckets_[bucket] = index;
  }
  return index;
}

void KeyTable::Rehash() {
  std::vector<uint32_t> buckets(buckets_.size() * 2);
  for (uint32_t i = kUnknown + 1; i < slots_.size(); ++i) {
    size_t bucket = hash_(View(slots_[i].key, slots_[i].size)) & (buckets.size() - 1);
    while (buckets[bucket] != 0) bucket = (bucket + 1) & (buckets.size() - 1);
    buckets[bucket] = i;
  }
  buckets_ = std::move(buckets);
}

uint32_t KeyTable::Find(const uint8_t* key, size_t size) {
  for (size_t bucket = hash_(View(key, size)) & (buckets_.size() - 1); buckets_[bucket] != 0;
       bucket = (bucket + 1) & (buckets_.size() - 1)) {
    if (Matches(slots_[buckets_[bucket]], key, size)) return buckets_[bucket];
  }
  if (learnt_.size() >= kMaxLearnt || learnt_bytes_ + size > kMaxLearntBytes) return kUnknown;
  learnt_bytes_ += size;
  learnt_.emplace_back(reinterpret_cast<const char*>(key), size);
  return Add(reinterpret_cast<const uint8_t*>(learnt_.back().data()), size, -1, kSkip);
}

}  // namespace tfr
