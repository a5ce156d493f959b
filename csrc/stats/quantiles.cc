// The levels of the sketch, and sorting by bytes; see quantiles.h.

#include "stats/quantiles.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace tfr {

void SortKeys(uint64_t* keys, uint64_t* scratch, size_t n) {
  constexpr size_t kFew = 64;
  constexpr size_t kBytes = 8;
  constexpr size_t kValues = 256;
  if (n <= kFew) {
    std::sort(keys, keys + n);
    return;
  }
  // Skips the bytes that are the same in all keys.
  uint64_t differ = 0;
  bool is_sorted = true;
  for (size_t i = 1; i < n; ++i) {
    differ |= keys[i] ^ keys[0];
    is_sorted &= keys[i - 1] <= keys[i];
  }
  if (is_sorted) return;
  uint64_t* from = keys;
  uint64_t* to = scratch;
  for (size_t byte = 0; byte < kBytes; ++byte) {
    const unsigned shift = 8 * static_cast<unsigned>(byte);
    if ((differ >> shift & 0xff) == 0) continue;
    std::array<uint32_t, kValues> places{};
    for (size_t i = 0; i < n; ++i) ++places[from[i] >> shift & 0xff];
    uint32_t sum = 0;
    for (uint32_t& place : places) {
      const uint32_t count = place;
      place = sum;
      sum += count;
    }
    for (size_t i = 0; i < n; ++i) to[places[from[i] >> shift & 0xff]++] = from[i];
    std::swap(from, to);
  }
  if (from != keys) std::memcpy(keys, from, n * sizeof *keys);
}

void Quantiles::AddWeighted(uint64_t key, uint64_t count) {
  for (size_t level = 0; count != 0; ++level, count >>= 1) {
    if ((count & 1) != 0) Put(level, key);
  }
}

void Quantiles::Merge(const Quantiles& other) {
  for (size_t level = 0; level < other.levels_.size(); ++level) {
    AddAt(level, other.levels_[level].data(), other.levels_[level].size());
  }
}

void Quantiles::AddAt(size_t level, const uint64_t* keys, size_t n) {
  while (n != 0) {
    if (level >= levels_.size()) Raise(level);
    // Up to the first one too many.
    const size_t some = std::min(n, most_ + 1 - kept_);
    levels_[level].insert(levels_[level].end(), keys, keys + some);
    kept_ += some;
    keys += some;
    n -= some;
    if (kept_ > most_) Compress();
  }
}

size_t Quantiles::Room(size_t level) const {
  constexpr double kShrink = 2.0 / 3;
  constexpr size_t kLeast = 16;
  const auto below = static_cast<double>(levels_.size() - 1 - level);
  return std::max(kLeast, static_cast<size_t>(static_cast<double>(size_) * std::pow(kShrink, below)));
}

void Quantiles::Raise(size_t level) {
  levels_.resize(level + 1);
  most_ = 0;
  for (size_t one = 0; one < levels_.size(); ++one) most_ += Room(one);
}

// Moves half of the lowest overfull level up. Since all levels together are full, at least one is overfull.
void Quantiles::Compress() {
  for (size_t level = 0; level < levels_.size() && kept_ > most_; ++level) {
    if (levels_[level].size() <= Room(level)) continue;
    if (level + 1 == levels_.size()) Raise(level + 1);
    std::vector<uint64_t>& from = levels_[level];
    std::vector<uint64_t>& to = levels_[level + 1];
    if (scratch_.size() < from.size()) scratch_.resize(from.size());
    SortKeys(from.data(), scratch_.data(), from.size());
    const size_t pairs = from.size() / 2;
    const size_t coin = Random() >> 31;
    for (size_t i = 0; i < pairs; ++i) to.push_back(from[2 * i + coin]);
    // One without a partner stays.
    if (from.size() % 2 != 0) from[0] = from.back();
    from.resize(from.size() % 2);
    kept_ -= pairs;
  }
}

std::vector<Quantiles::Point> Quantiles::Points() const {
  std::vector<Point> points;
  points.reserve(kept_);
  for (size_t level = 0; level < levels_.size(); ++level) {
    for (const uint64_t key : levels_[level]) points.push_back({key, uint64_t{1} << level});
  }
  std::sort(points.begin(), points.end(), [](const Point& a, const Point& b) { return a.key < b.key; });
  return points;
}

}  // namespace tfr
