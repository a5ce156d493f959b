// Taking the entries of a script with AVX2 and BMI2; see key_script.h. Where pext is microcode (Zen 1 and 2), shifts
// and masks are in its place.

#if defined(__x86_64__)

#include <immintrin.h>

#include <cstring>

#include "base/cpu.h"
#include "base/endian.h"
#include "parse/key_script.h"
#include "varint/varint.h"

namespace tfr::internal {
namespace {

#define TFR_SCRIPT_TARGET __attribute__((target("avx2,bmi,bmi2")))

using Step = KeyScript::Step;

constexpr uint64_t kTopBits = 0x8080808080808080;
constexpr size_t kCacheLine = 64;
// The bytes that a step may read: the window and, after it, the eight bytes of a value's load.
constexpr size_t kReadAhead = KeyScript::kWindow + 8;
constexpr size_t kTail = 64;  // a whole number of vectors, and more than kReadAhead
static_assert(kTail >= kReadAhead);

TFR_SCRIPT_TARGET inline __m256i Load(const uint8_t* p) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}

// If the entry at `p` is the step's, puts its value into `row` and returns the cursor after it; else null. kReadAhead
// bytes are readable at p. `kFetch`: has the column's next line brought into the cache. `kPext`: pext is fast.
template <bool kFetch, bool kPext>
TFR_SCRIPT_TARGET __attribute__((always_inline)) inline const uint8_t* TakeStep(const Step& step, const uint8_t* p,
                                                                                size_t row) {
  const uint8_t* const value = p + step.n_at + 1;
  const uint64_t n = value[-1];
  const __m256i grown = _mm256_and_si256(_mm256_set1_epi8(static_cast<char>(n)), Load(step.grows));
  const __m256i expected = _mm256_add_epi8(Load(step.base), grown);
  if (!_mm256_testz_si256(_mm256_xor_si256(Load(p), expected), Load(step.mask))) return nullptr;
  if (step.shape == KeyTable::kOneInt64) {
    const uint64_t word = LoadLE64(value);
    const uint64_t ends = ~word & kTopBits;
    // One varint of n bytes, at most eight: with none that ends there, the count is 64.
    if (_tzcnt_u64(ends) != 8 * n - 1) return nullptr;
    uint8_t* const out = step.out + row * step.row_bytes;
    if constexpr (kFetch) __builtin_prefetch(out + kCacheLine, 1);
    const uint64_t varint = word & _blsmsk_u64(ends);
    StoreLE64(out, kPext ? _pext_u64(varint, ~kTopBits) : JoinGroups(varint & ~kTopBits));
  } else if (step.shape == KeyTable::kOneFloat) {
    uint8_t* const out = step.out + row * step.row_bytes;
    if constexpr (kFetch) __builtin_prefetch(out + kCacheLine, 1);
    StoreLE32(out, LoadLE32(value));
  } else if (n > step.most) {
    return nullptr;
  }
  return value + n;
}

template <bool kFetch, bool kPext>
TFR_SCRIPT_TARGET const uint8_t* TakeSteps(const Step** at, const uint8_t* begin, const uint8_t* p, const uint8_t* end,
                                           const uint8_t* readable_end, size_t row) {
  const Step* step = *at;
  // At the end of a map the loads may look at what follows it; the entry has to end with the map.
  while (p < end && static_cast<size_t>(readable_end - p) >= kReadAhead) {
    const uint8_t* const after = TakeStep<kFetch, kPext>(*step, p, row);
    if (after == nullptr || after > end) {
      *at = step;
      return p;
    }
    p = after;
    ++step;
  }
  // The rest is taken from a copy that has room after it.
  if (p < end && step->shape != KeyTable::kGeneral) {
    alignas(32) uint8_t copy[kTail + kReadAhead + 8];
    const auto rest = static_cast<size_t>(end - p);
    const uint8_t* q;
    if (static_cast<size_t>(end - begin) >= kTail) {
      _mm256_store_si256(reinterpret_cast<__m256i*>(copy), Load(end - 64));
      _mm256_store_si256(reinterpret_cast<__m256i*>(copy + 32), Load(end - 32));
      q = copy + kTail - rest;
    } else {
      std::memcpy(copy + kTail - rest, p, rest);
      q = copy + kTail - rest;
    }
    std::memset(copy + kTail, 0, sizeof copy - kTail);
    while (q < copy + kTail) {
      const uint8_t* const after = TakeStep<kFetch, kPext>(*step, q, row);
      if (after == nullptr || after > copy + kTail) break;
      q = after;
      ++step;
    }
    p = end - (copy + kTail - q);
  }
  *at = step;
  return p;
}

}  // namespace

bool ScriptAvx2Supported() { return Cpu().avx2 && Cpu().bmi2; }

const uint8_t* TakeScriptAvx2(const Step** at, bool fetch, bool pext, const uint8_t* begin, const uint8_t* p,
                              const uint8_t* end, const uint8_t* readable_end, size_t row) {
  if (pext) {
    return fetch ? TakeSteps<true, true>(at, begin, p, end, readable_end, row)
                 : TakeSteps<false, true>(at, begin, p, end, readable_end, row);
  }
  return fetch ? TakeSteps<true, false>(at, begin, p, end, readable_end, row)
               : TakeSteps<false, false>(at, begin, p, end, readable_end, row);
}

}  // namespace tfr::internal

#endif  // defined(__x86_64__)
