// Varint runs with AVX-512 VBMI and VBMI2: 64 bytes at a time, 8 or 16 values per register. See varint.h.
//
// Decoding looks at windows of 64 bytes. A compress under the mask of first bytes finds the position of each value;
// a byte permute gathers each value's bytes into a lane of its own; arithmetic clears what follows its last byte;
// two multiply-adds join the 7-bit groups. A window takes the values that start in its first bytes, few enough that
// the last one's end is in sight too, and the next window starts after those bytes by a constant step, in the middle
// of a value or not. So no window waits for the lengths of the one before it: one bit, "a value starts here", and
// the count are all that passes on.
//
// Encoding is the reverse: a multishift deals the 7-bit groups to the bytes of a lane, a compress closes the gaps.

#if defined(__x86_64__)

// The compiler's own headers pass a register that is masked out whole (GCC bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

#include <immintrin.h>

#include "base/cpu.h"
#include "varint/backends.h"
#include "varint/x86.h"

namespace tfr::internal {
namespace {

#define TFR_VBMI_TARGET "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx512vbmi,avx512vbmi2,bmi,bmi2,popcnt"
#define TFR_VBMI __attribute__((target(TFR_VBMI_TARGET)))
#define TFR_VBMI_INLINE __attribute__((target(TFR_VBMI_TARGET), always_inline)) inline

constexpr ptrdiff_t kWindow = 64;
// How far a window may step so that a value that starts in the last byte stepped over still ends in the window.
constexpr unsigned kShortStep = kWindow - 4 + 1;  // values of up to 4 bytes
constexpr unsigned kLongStep = kWindow - 10 + 1;  // any value

// Byte j of group g is the number of the value to whose lane it belongs.
struct alignas(64) Spread {
  uint8_t of[8][64];
};

// One value per 64-bit lane, in order, 8 per group.
constexpr Spread kSpread64 = [] {
  Spread spread{};
  for (int g = 0; g < 8; ++g) {
    for (int j = 0; j < 64; ++j) spread.of[g][j] = static_cast<uint8_t>(8 * g + j / 8);
  }
  return spread;
}();

// One value per 32-bit lane, 16 per group: the first eight in the low halves of the 64-bit lanes, the others in the
// high halves, so that an AND and a shift widen them in order.
constexpr Spread kSpread32 = [] {
  Spread spread{};
  for (int g = 0; g < 4; ++g) {
    for (int j = 0; j < 64; ++j) spread.of[g][j] = static_cast<uint8_t>(16 * g + j / 8 + (j % 8 >= 4 ? 8 : 0));
  }
  return spread;
}();

constexpr Spread kCountUp = [] {
  Spread spread{};
  for (int j = 0; j < 64; ++j) spread.of[0][j] = static_cast<uint8_t>(j);
  return spread;
}();

TFR_VBMI_INLINE __m512i LoadTable(const uint8_t* table) { return _mm512_load_si512(table); }

// The n lowest bits, n up to 64.
TFR_VBMI_INLINE uint64_t LowBits(size_t n) { return _bzhi_u64(~uint64_t{0}, static_cast<unsigned>(n)); }

// Eight values to `out`; with kBounded only the first n.
template <bool kBounded>
TFR_VBMI_INLINE void Store8(int64_t* out, __m512i values, size_t n) {
  if constexpr (kBounded) {
    _mm512_mask_storeu_epi64(out, static_cast<__mmask8>(LowBits(n < 8 ? n : 8)), values);
  } else {
    _mm512_storeu_si512(out, values);
  }
}

// Joins pairs of 7-bit groups into 14 bits, and pairs of those into 28 bits per 32-bit lane.
TFR_VBMI_INLINE __m512i Join28(__m512i groups) {
  const __m512i pairs = _mm512_maddubs_epi16(_mm512_set1_epi16(static_cast<int16_t>(1 | 128 << 8)), groups);
  return _mm512_madd_epi16(pairs, _mm512_set1_epi32(1 | (1 << 14) << 16));
}

// Of each lane only the bytes up to its first one with a clear top bit, without top bits. `after` is x with all but the
// top bits set, plus 1 per lane: the carry clears the bytes that continue, and ends in the last one's top bit; what
// lies above keeps its ones.
TFR_VBMI_INLINE __m512i KeepGroups(__m512i x, __m512i after) {
  constexpr int kFirstNotSecondAndThird = 0x20;
  return _mm512_ternarylogic_epi64(x, after, _mm512_set1_epi8(0x7f), kFirstNotSecondAndThird);
}

// n values of at most 4 bytes that start at `positions` of `bytes`.
template <bool kBounded>
TFR_VBMI_INLINE void DecodeShort(__m512i bytes, __m512i positions, size_t n, int64_t* out) {
  const __m512i offsets = _mm512_set1_epi32(0x03020100);
  const __m512i low_halves = _mm512_set1_epi64(0xffffffff);
#pragma GCC unroll 4
  for (size_t g = 0; g < 4; ++g) {
    if (n <= 16 * g) break;
    const __m512i lanes = _mm512_permutexvar_epi8(LoadTable(kSpread32.of[g]), positions);
    const __m512i x = _mm512_permutexvar_epi8(_mm512_add_epi8(lanes, offsets), bytes);
    const __m512i ends = _mm512_or_si512(x, _mm512_set1_epi8(0x7f));
    const __m512i after = _mm512_add_epi32(ends, _mm512_set1_epi32(1));
    const __m512i values = Join28(KeepGroups(x, after));
    Store8<kBounded>(out + 16 * g, _mm512_and_si512(values, low_halves), n - 16 * g);
    if (!kBounded || n > 16 * g + 8) {
      Store8<kBounded>(out + 16 * g + 8, _mm512_srli_epi64(values, 32), n - 16 * g - 8);
    }
  }
}

// The same for values of any length; kTen: some may have more than 8 bytes.
template <bool kBounded, bool kTen>
TFR_VBMI_INLINE void DecodeLong(__m512i bytes, __m512i positions, size_t n, int64_t* out) {
  const __m512i offsets = _mm512_set1_epi64(0x0706050403020100);
  for (size_t g = 0; 8 * g < n; ++g) {
    const __m512i lanes = _mm512_permutexvar_epi8(LoadTable(kSpread64.of[g]), positions);
    const __m512i at = _mm512_add_epi8(lanes, offsets);
    const __m512i x = _mm512_permutexvar_epi8(at, bytes);
    const __m512i ends = _mm512_or_si512(x, _mm512_set1_epi8(0x7f));
    const __m512i after = _mm512_add_epi64(ends, _mm512_set1_epi64(1));
    const __m512i halves = Join28(KeepGroups(x, after));
    const __m512i low28 = _mm512_set1_epi64((1 << 28) - 1);
    constexpr int kSecondSelectsFirstOrThird = 0xe2;
    __m512i values = _mm512_ternarylogic_epi64(halves, low28, _mm512_srli_epi64(halves, 4), kSecondSelectsFirstOrThird);
    if constexpr (kTen) {
      // Bits 56 to 62 are the ninth byte's, if the eight before it all continue; bit 63 is the tenth's, if the ninth
      // continues too.
      const __mmask8 nine = _mm512_testn_epi64_mask(after, after);
      const __m512i y = _mm512_permutexvar_epi8(_mm512_add_epi8(at, _mm512_set1_epi8(8)), bytes);
      const __m512i ninth = _mm512_slli_epi64(y, 56);
      const __m512i tenth = _mm512_slli_epi64(y, 55);
      constexpr int kFirstAndSecondOrNotThird = 0xd0;
      const __m512i top =
          _mm512_ternarylogic_epi64(ninth, tenth, _mm512_set1_epi64(INT64_MIN), kFirstAndSecondOrNotThird);
      values = _mm512_mask_or_epi64(values, nine, values, top);
    }
    Store8<kBounded>(out + 8 * g, values, n - 8 * g);
  }
}

// Bit i: bytes i to i + 3, or 7, or 9, of the window all continue.
TFR_VBMI_INLINE uint64_t Runs4(uint64_t more) {
  const uint64_t two = more & (more >> 1);
  return two & (two >> 2);
}
TFR_VBMI_INLINE uint64_t Runs8(uint64_t runs4) { return runs4 & (runs4 >> 4); }
TFR_VBMI_INLINE uint64_t Runs10(uint64_t more, uint64_t runs8) { return runs8 & (more >> 8) & (more >> 9); }

// Decodes the n values that start where `starts` has bits, all of whose bytes are in the window; false if one has
// more than ten.
template <bool kBounded>
TFR_VBMI_INLINE bool DecodeWindow(__m512i bytes, uint64_t more, uint64_t starts, size_t n, int64_t* out) {
  const __m512i positions = _mm512_maskz_compress_epi8(starts, LoadTable(kCountUp.of[0]));
  const uint64_t runs4 = Runs4(more);
  if (runs4 == 0) {
    DecodeShort<kBounded>(bytes, positions, n, out);
    return true;
  }
  const uint64_t runs8 = Runs8(runs4);
  if (runs8 == 0) {
    DecodeLong<kBounded, false>(bytes, positions, n, out);
    return true;
  }
  if ((Runs10(more, runs8) & starts) != 0) return false;
  DecodeLong<kBounded, true>(bytes, positions, n, out);
  return true;
}

TFR_VBMI_INLINE void Widen64(const uint8_t* p, int64_t* out) {
  // In halves of a register, since a store that crosses a cache line costs two, and `out` is aligned to 8 at best.
  for (int i = 0; i < 64; i += 4) {
    const __m256i wide = _mm256_cvtepu8_epi64(_mm_cvtsi32_si128(static_cast<int>(LoadLE32(p + i))));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), wide);
  }
}

// The rest, where windows can't be used: one value at a time. Adds to *count.
const uint8_t* DecodeRest(const uint8_t* p, const uint8_t* end, int64_t* out, size_t room, size_t* count) {
  size_t n = 0;
  for (; p < end && n < room; ++n) {
    uint64_t value;
    p = DecodeVarint(p, end, &value);
    if (p == nullptr) return nullptr;
    out[n] = static_cast<int64_t>(value);
  }
  *count += n;
  return p;
}

TFR_VBMI const uint8_t* Decode(const uint8_t* p, const uint8_t* end, int64_t* out, size_t capacity, size_t* count) {
  size_t done = 0;
  uint64_t fresh = 1;  // whether a varint starts at p; else the last window's last one continues there
  *count = 0;
  while (end - p > kWindow) {
    const __m512i bytes = _mm512_loadu_si512(p);
    const uint64_t more = _mm512_movepi8_mask(bytes);
    const bool roomy = capacity - done >= kWindow;
    if (more == 0 && roomy) {
      Widen64(p + (1 - fresh), out + done);  // with fresh 0 one too many, which does not count
      done += 63 + fresh;
      p += kWindow;
      fresh = 1;
      continue;
    }
    const unsigned step = Runs4(more) == 0 ? kShortStep : kLongStep;
    const uint64_t starts = ((~more << 1) | fresh) & LowBits(step);
    const size_t n = static_cast<size_t>(_mm_popcnt_u64(starts));
    if (roomy) {
      if (!DecodeWindow<false>(bytes, more, starts, n, out + done)) return nullptr;
    } else if (n <= capacity - done) {
      if (!DecodeWindow<true>(bytes, more, starts, n, out + done)) return nullptr;
    } else {
      *count = done;
      return DecodeRest(p + _tzcnt_u64(starts), end, out + done, capacity - done, count);
    }
    done += n;
    p += step;
    fresh = (~more >> (step - 1)) & 1;
  }
  const __mmask64 left = LowBits(static_cast<size_t>(end - p));
  const __m512i bytes = _mm512_maskz_loadu_epi8(left, p);
  const uint64_t more = _mm512_movepi8_mask(bytes);
  const uint64_t starts = ((~more << 1) | fresh) & left;
  const size_t n = static_cast<size_t>(_mm_popcnt_u64(starts));
  const bool cut = p < end && end[-1] >= 0x80;
  if (cut || n > capacity - done) {
    *count = done;
    return DecodeRest(p + _tzcnt_u64(starts), end, out + done, capacity - done, count);
  }
  *count = done + n;
  return DecodeWindow<true>(bytes, more, starts, n, out + done) ? end : nullptr;
}

TFR_VBMI size_t Count(const uint8_t* p, const uint8_t* end) {
  size_t more = 0;
  const size_t size = static_cast<size_t>(end - p);
  for (; end - p >= kWindow; p += kWindow) {
    more += static_cast<size_t>(_mm_popcnt_u64(_mm512_movepi8_mask(_mm512_loadu_si512(p))));
  }
  const __m512i rest = _mm512_maskz_loadu_epi8(LowBits(static_cast<size_t>(end - p)), p);
  return size - more - static_cast<size_t>(_mm_popcnt_u64(_mm512_movepi8_mask(rest)));
}

// ceil(bits / 7), 1 for 0; see VarintSize.
TFR_VBMI_INLINE __m512i Sizes(__m512i values) {
  const __m512i bits =
      _mm512_sub_epi64(_mm512_set1_epi64(64), _mm512_lzcnt_epi64(_mm512_or_si512(values, _mm512_set1_epi64(1))));
  const __m512i times9 = _mm512_add_epi64(_mm512_slli_epi64(bits, 3), bits);
  return _mm512_srli_epi64(_mm512_add_epi64(times9, _mm512_set1_epi64(64)), 6);
}

TFR_VBMI size_t EncodedSize(const int64_t* values, size_t n) {
  __m512i sums = _mm512_setzero_si512();
  size_t i = 0;
  for (; n - i >= 8; i += 8) sums = _mm512_add_epi64(sums, Sizes(_mm512_loadu_si512(values + i)));
  const __mmask8 left = static_cast<__mmask8>(LowBits(n - i));
  sums = _mm512_mask_add_epi64(sums, left, sums, Sizes(_mm512_maskz_loadu_epi64(left, values + i)));
  return static_cast<size_t>(_mm512_reduce_add_epi64(sums));
}

// Eight values, or those that `wanted` has bits for and zeros, as they are now: the register is what all steps work on,
// and not loaded again.
TFR_VBMI_INLINE __m512i ReadOnce8(const int64_t* values, __mmask8 wanted) {
  __m512i read = _mm512_maskz_loadu_epi64(wanted, values);
  asm volatile("" : "+v"(read));
  return read;
}

// Up to eight values below 2^56; `bytes` has the bits of those wanted, eight per value. Null if they do not fit.
TFR_VBMI_INLINE uint8_t* Encode8(__m512i values, uint64_t bytes, uint8_t* out, const uint8_t* end) {
  const __m512i number = _mm512_set1_epi64(0x0706050403020100);  // of a byte in its lane
  const __m512i shifts = _mm512_set1_epi64(0x312a231c150e0700);  // 7 times that
  const __m512i groups = _mm512_and_si512(_mm512_multishift_epi64_epi8(shifts, values), _mm512_set1_epi8(0x7f));
  // The number of each lane's last byte, in all its bytes: bit_width(groups | 1) - 1 over 8.
  const __m512i zeros = _mm512_lzcnt_epi64(_mm512_or_si512(groups, _mm512_set1_epi64(1)));
  const __m512i last = _mm512_sub_epi64(_mm512_set1_epi64(7), _mm512_srli_epi64(zeros, 3));
  const __m512i spread = _mm512_set4_epi32(0x08080808, 0x08080808, 0x00000000, 0x00000000);
  const __m512i lasts = _mm512_shuffle_epi8(last, spread);
  const __mmask64 more = _mm512_cmplt_epu8_mask(number, lasts);
  const uint64_t kept = _mm512_cmple_epu8_mask(number, lasts) & bytes;
  const __m512i marked = _mm512_mask_add_epi8(groups, more, groups, _mm512_set1_epi8(static_cast<char>(0x80)));
  const size_t size = static_cast<size_t>(_mm_popcnt_u64(kept));
  if (size > static_cast<size_t>(end - out)) [[unlikely]]
    return nullptr;
  _mm512_mask_storeu_epi8(out, LowBits(size), _mm512_maskz_compress_epi8(kept, marked));
  return out + size;
}

// Sixteen values.
TFR_VBMI_INLINE uint8_t* Encode16(const int64_t* values, uint8_t* out, const uint8_t* end) {
  const __m512i first = ReadOnce8(values, 0xff);
  const __m512i second = ReadOnce8(values + 8, 0xff);
  const __m512i any = _mm512_or_si512(first, second);
  if (_mm512_test_epi64_mask(any, _mm512_set1_epi64(~int64_t{0x7f})) == 0) {
    if (end - out < 16) [[unlikely]]
      return nullptr;
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out),
                     _mm_unpacklo_epi64(_mm512_cvtepi64_epi8(first), _mm512_cvtepi64_epi8(second)));
    return out + 16;
  }
  if (_mm512_test_epi64_mask(any, _mm512_set1_epi64(INT64_MIN >> 7)) == 0) {
    out = Encode8(first, ~uint64_t{0}, out, end);
    return out != nullptr ? Encode8(second, ~uint64_t{0}, out, end) : nullptr;
  }
  if (static_cast<size_t>(end - out) < 16 * kMaxVarintSize) return EncodeOneByOne(values, 16, out, end);
  for (size_t i = 0; i < 16; ++i) out = EncodeLoosely(ReadOnce(values + i), out);
  return out;
}

TFR_VBMI uint8_t* Encode(const int64_t* values, size_t n, uint8_t* out, const uint8_t* end) {
  size_t i = 0;
  for (; n - i >= 16 && out != nullptr; i += 16) out = Encode16(values + i, out, end);
  while (i < n && out != nullptr) {
    const size_t some = n - i < 8 ? n - i : 8;
    const __m512i rest = ReadOnce8(values + i, static_cast<__mmask8>(LowBits(some)));
    if (_mm512_test_epi64_mask(rest, _mm512_set1_epi64(INT64_MIN >> 7)) == 0) {
      out = Encode8(rest, LowBits(8 * some), out, end);
    } else {
      out = EncodeOneByOne(values + i, some, out, end);
    }
    i += some;
  }
  return out;
}

}  // namespace

const VarintOps kAvx512VbmiVarint = {"avx512_vbmi", [] { return Cpu().avx512_vbmi; }, Decode, Count, EncodedSize,
                                     Encode};

}  // namespace tfr::internal

#endif  // defined(__x86_64__)
