// Compares the functions of csrc/stats that have vectors with those that do not, on numbers and strings of a seed.
// Its own processor: main() says what it can do.

#include <algorithm>
#include <bit>
#include <cstdio>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "base/cpu.h"
#include "stats/block_hashes.h"
#include "stats/counts.h"
#include "stats/distinct.h"
#include "stats/hash.h"
#include "stats/moments.h"

namespace tfr {
namespace {

CpuFeatures shown;

// As block_hashes.h says it, one value at a time.
template <typename Value>
bool AreRight(const std::vector<Value>& values, const std::vector<uint64_t>& filter, const BlockHashes& made) {
  size_t kept = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const uint64_t hash = HashNumber(BitsOfValue(values[i]));
    if (made.registers[i] != Distinct::RegisterOf(hash) || made.ranks[i] != Distinct::RankOf(hash)) return false;
    if (!Counts::MayKeep(filter.data(), hash)) continue;
    if (kept >= made.num_kept || made.kept[kept++] != i) return false;
  }
  return kept == made.num_kept;
}

template <typename Value, typename Draw>
bool HashesAgree(std::mt19937_64& random, Draw draw) {
  std::vector<uint64_t> filter(Counts::kFilterWords);
  for (uint64_t& word : filter) word = random() & random();
  for (size_t n = 0; n <= kBlock; n += n < 40 ? 1 : 123) {
    std::vector<Value> values(n);
    for (Value& value : values) value = draw();
    BlockHashes made;
    HashBlock(values.data(), n, filter.data(), &made);
    if (!AreRight(values, filter, made)) {
      std::printf("hashes of %zu values of %zu bytes differ\n", n, sizeof(Value));
      return false;
    }
  }
  return true;
}

template <typename Figures>
bool AreSame(const Figures& a, const Figures& b) {
  return a.least == b.least && a.most == b.most && a.zeros == b.zeros && a.moments.count == b.moments.count &&
         a.moments.mean == b.moments.mean && a.moments.squares == b.moments.squares;
}

template <typename Value, typename Draw>
bool FiguresAgree(const std::vector<CpuFeatures>& processors, Draw draw) {
  for (size_t n = 1; n <= kBlock; n += n < 40 ? 1 : 77) {
    std::vector<Value> values(n);
    for (Value& value : values) value = draw();
    shown = {};
    const auto expected = FiguresOf(values.data(), n);
    for (const CpuFeatures& one : processors) {
      shown = one;
      if (!AreSame(FiguresOf(values.data(), n), expected)) {
        std::printf("figures of %zu values of %zu bytes differ\n", n, sizeof(Value));
        return false;
      }
    }
  }
  return true;
}

// Each byte and the size count: no two of many strings that are alike share a hash.
bool HashesDiffer(std::mt19937_64& random) {
  std::vector<uint64_t> hashes;
  for (size_t size = 0; size <= 300; ++size) {
    std::string text(size, '\0');
    const auto add = [&] { hashes.push_back(HashBytes({reinterpret_cast<const uint8_t*>(text.data()), size})); };
    add();
    for (size_t i = 0; i < size; ++i) {
      text[i] = 1;
      add();
      text[i] = '\0';
    }
  }
  // Words in another order, over more stripes than have keys of their own.
  std::string text(2048, '\0');
  for (size_t i = 0; i < text.size() / 8; ++i) text[8 * i] = static_cast<char>(i);
  for (size_t i = 0; i < 256; ++i) {
    for (size_t k = 0; k < i; ++k) {
      std::swap(text[8 * i], text[8 * k]);
      hashes.push_back(HashBytes({reinterpret_cast<const uint8_t*>(text.data()), text.size()}));
      std::swap(text[8 * i], text[8 * k]);
    }
  }
  // Single bits of words at equal distances, as of numbers of which only the signs or the lowest bits differ.
  for (const size_t distance : {1, 2, 4, 8, 16}) {
    for (const int bit : {0, 31, 32, 63}) {
      std::vector<uint64_t> words(64 * distance, 0x3f8000003f800000);
      for (size_t i = 0; i < 100'000; ++i) {
        const uint64_t pattern = random();
        for (size_t at = 0; at < 64; ++at) words[at * distance] = 0x3f8000003f800000 ^ (pattern >> at & 1) << bit;
        hashes.push_back(HashBytes({reinterpret_cast<const uint8_t*>(words.data()), words.size() * sizeof words[0]}));
      }
    }
  }
  const size_t all = hashes.size();
  std::sort(hashes.begin(), hashes.end());
  const auto different = static_cast<size_t>(std::unique(hashes.begin(), hashes.end()) - hashes.begin());
  if (different != all) std::printf("%zu of %zu hashes are the same\n", all - different, all);
  return different == all;
}

}  // namespace

const CpuFeatures& Cpu() { return shown; }

}  // namespace tfr

int main(int argc, char** argv) {
  using tfr::CpuFeatures;
  std::mt19937_64 random(argc > 1 ? std::stoull(argv[1]) : 1);
  std::vector<CpuFeatures> processors(1);
#if defined(__x86_64__)
  CpuFeatures cpu;
  cpu.avx2 = __builtin_cpu_supports("avx2");
  if (cpu.avx2) processors.push_back(cpu);
  cpu.avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (cpu.avx512) processors.push_back(cpu);
  cpu.avx512_vbmi = cpu.avx512 && __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512vbmi");
  if (cpu.avx512_vbmi) processors.push_back(cpu);
#endif
  const auto integer = [&] { return static_cast<int64_t>(random() >> random() % 64); };
  const auto number = [&]() -> float {
    switch (random() % 8) {
      case 0:
        return 0.0f;
      case 1:
        return -0.0f;
      case 2:
        return std::numeric_limits<float>::infinity();
      case 3:
        return std::numeric_limits<float>::quiet_NaN();
      default:
        return std::bit_cast<float>(static_cast<uint32_t>(random() & 0xbfffffff));
    }
  };
  const auto finite = [&]() -> float { return static_cast<float>(integer()) / 1000.0f; };
  bool same = tfr::FiguresAgree<int64_t>(processors, integer) && tfr::FiguresAgree<float>(processors, finite);
  for (const CpuFeatures& one : processors) {
    tfr::shown = one;
    same = tfr::HashesAgree<int64_t>(random, integer) && tfr::HashesAgree<float>(random, number) && same;
  }
  same = tfr::HashesDiffer(random) && same;
  std::printf("%zu processors, %s\n", processors.size(), same ? "the same" : "different");
  return same ? 0 : 1;
}
