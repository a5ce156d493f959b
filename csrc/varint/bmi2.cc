// Varint runs with BMI2 and AVX2, over windows of 64 bytes. See varint.h.
//
// Values of up to 4 bytes are decoded eight bytes at a time: a shuffle, chosen by the bytes in which values start,
// gathers each value's bytes into a lane of its own; arithmetic clears what follows its last byte; two multiply-adds
// join the 7-bit groups. Windows and their blocks are at constant distances, so that none waits for the one before it.
//
// A window with a longer value takes one pext per value. The chain from one value to the next is only "clear the lowest
// bit of the mask of ends"; loads, pext and stores overlap. Where pext is microcode (Zen 1 and 2), the backend "avx2"
// is the same with shifts and masks in its place.

#if defined(__x86_64__)

#include <immintrin.h>

#include <bit>

#include "base/cpu.h"
#include "base/endian.h"
#include "varint/backends.h"
#include "varint/blocks.h"
#include "varint/x86.h"

namespace tfr::internal {
namespace {

#define TFR_BMI2 __attribute__((target("avx2,bmi,bmi2,popcnt")))
#define TFR_BMI2_INLINE __attribute__((target("avx2,bmi,bmi2,popcnt"), always_inline)) inline

// At the end of a run, fewer bytes or values than these are decoded sooner one by one.
constexpr size_t kManyBytes = 4 * kBlock;
constexpr ptrdiff_t kManyValues = 2 * kBlock;

// The first four values go to the low halves of the 64-bit lanes, the others to the high halves: an AND and a shift
// widen them in order.
constexpr BlockShuffles kShuffles =
    MakeBlockShuffles([](int value) { return value < 4 ? 8 * value : 8 * (value - 4) + 4; });

TFR_BMI2_INLINE __m256i Load256(const uint8_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }

// Bit i: the top bit of p[i], for 64 bytes.
TFR_BMI2_INLINE uint64_t TopBits64(const uint8_t* p) {
  const uint32_t low = static_cast<uint32_t>(_mm256_movemask_epi8(Load256(p)));
  const uint32_t high = static_cast<uint32_t>(_mm256_movemask_epi8(Load256(p + 32)));
  return low | static_cast<uint64_t>(high) << 32;
}

// The eight 7-bit groups of a word; the top bits of its bytes do not matter.
template <bool kPext>
TFR_BMI2_INLINE uint64_t GroupsOf(uint64_t word) {
  if constexpr (kPext) return _pext_u64(word, ~kTopBits);
  return JoinGroups(word & ~kTopBits);
}

// The groups of a varint of `size` bytes, 0 to 8, in the low bytes of `word`; what lies above does not matter.
template <bool kPext>
TFR_BMI2_INLINE int64_t ExtractGroups(uint64_t word, size_t size) {
  return static_cast<int64_t>(GroupsOf<kPext>(_bzhi_u64(word, static_cast<unsigned>(8 * size))));
}

// The `size` bytes at p, 1 to 8, in a word, zeros above. Reads no others.
TFR_BMI2_INLINE uint64_t LoadUpTo8(const uint8_t* p, size_t size) {
  if (size >= 4) return LoadLE32(p) | static_cast<uint64_t>(LoadLE32(p + size - 4)) << (8 * (size - 4));
  const size_t middle = size / 2;  // of one byte all three are the same, of two the last two
  return p[0] | static_cast<uint64_t>(p[middle]) << (8 * middle) |
         static_cast<uint64_t>(p[size - 1]) << (8 * (size - 1));
}

// DecodeVarintRun for 1 to 8 bytes.
template <bool kPext>
TFR_BMI2_INLINE const uint8_t* DecodeUpTo8(const uint8_t* p, const uint8_t* end, int64_t* out, size_t capacity,
                                           size_t* count) {
  const size_t size = static_cast<size_t>(end - p);
  const uint64_t word = LoadUpTo8(p, size);
  uint64_t ends = _bzhi_u64(~word & kTopBits, static_cast<unsigned>(8 * size));
  const size_t found = static_cast<size_t>(_mm_popcnt_u64(ends));
  const size_t n = found < capacity ? found : capacity;
  size_t start = 0;  // bit where the next varint starts
  for (size_t i = 0; i < n; ++i) {
    const size_t after = static_cast<size_t>(_tzcnt_u64(ends)) + 1;
    ends = _blsr_u64(ends);
    out[i] = ExtractGroups<kPext>(word >> start, (after - start) / 8);
    start = after;
  }
  *count = n;
  if (n < capacity && start < 8 * size) return nullptr;  // cut
  return p + start / 8;
}

// Any varint at p, of which 16 bytes can be read.
template <bool kPext>
TFR_BMI2_INLINE const uint8_t* DecodeAny(const uint8_t* p, int64_t* out) {
  const uint64_t x = LoadLE64(p);
  const uint64_t ends = ~x & kTopBits;
  if (ends != 0) {
    *out = static_cast<int64_t>(GroupsOf<kPext>(x & _blsmsk_u64(ends)));
    return p + _tzcnt_u64(ends) / 8 + 1;
  }
  const uint64_t value = GroupsOf<kPext>(x) | static_cast<uint64_t>(p[8] & 0x7f) << 56;
  const bool tenth = p[8] >= 0x80;
  if (tenth && p[9] >= 0x80) return nullptr;
  *out = static_cast<int64_t>(tenth ? value | static_cast<uint64_t>(p[9]) << 63 : value);
  return p + 9 + tenth;
}

TFR_BMI2_INLINE void Widen64(const uint8_t* p, int64_t* out) {
  for (int i = 0; i < 64; i += 4) {
    const __m256i wide = _mm256_cvtepu8_epi64(_mm_cvtsi32_si128(static_cast<int>(LoadLE32(p + i))));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), wide);
  }
}

// Writes the values of up to 4 bytes that start where `starts` has bits, eight at most. Reads 16 bytes at p, writes
// eight values, the last of them garbage perhaps, and returns the place after the last value.
TFR_BMI2_INLINE int64_t* DecodeBlock(const uint8_t* p, uint64_t starts, int64_t* out) {
  const __m256i bytes = _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  const __m256i shuffle = _mm256_load_si256(reinterpret_cast<const __m256i*>(kShuffles.of[starts]));
  const __m256i x = _mm256_shuffle_epi8(bytes, shuffle);
  // The carry clears the bytes that continue and ends in the top bit of the value's last one; what lies above keeps its
  // ones.
  const __m256i ends = _mm256_or_si256(x, _mm256_set1_epi8(0x7f));
  const __m256i after = _mm256_add_epi32(ends, _mm256_set1_epi32(1));
  const __m256i groups = _mm256_and_si256(_mm256_andnot_si256(after, x), _mm256_set1_epi8(0x7f));
  const __m256i pairs = _mm256_maddubs_epi16(_mm256_set1_epi16(static_cast<int16_t>(1 | 128 << 8)), groups);
  const __m256i values = _mm256_madd_epi16(pairs, _mm256_set1_epi32(1 | (1 << 14) << 16));
  const __m256i low = _mm256_and_si256(values, _mm256_set1_epi64x(0xffffffff));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), low);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 4), _mm256_srli_epi64(values, 32));
  return out + _mm_popcnt_u64(starts);
}

// Writes the values of up to 8 bytes that end where `ends` has bits; the first starts at `start`. Writes in
// eights: what lies after the last end is garbage, which its reads, at most kReadable from p, and its writes allow for.
template <bool kPext>
TFR_BMI2_INLINE const uint8_t* ExtractWindow(const uint8_t* p, uint64_t ends, const uint8_t* start, int64_t* out) {
  const unsigned n = static_cast<unsigned>(_mm_popcnt_u64(ends));
  const uint8_t* const next = p + std::bit_width(ends);
  for (unsigned i = 0; i < n; i += 8) {
    for (unsigned j = 0; j < 8; ++j) {
      const uint8_t* const after = p + _tzcnt_u64(ends) + 1;
      ends = _blsr_u64(ends);
      out[i + j] = ExtractGroups<kPext>(LoadLE64(start), static_cast<size_t>(after - start));
      start = after;
    }
  }
  return next;
}

// True if a varint that ends or continues in the window may have more than 8 bytes; its first starts `lag` before.
TFR_BMI2_INLINE bool HasLong(uint64_t more, uint64_t runs4, ptrdiff_t lag) {
  return (runs4 & (runs4 >> 4)) != 0 || static_cast<ptrdiff_t>(_tzcnt_u64(~more)) + lag >= 8;
}

TFR_BMI2_INLINE uint64_t TopBits16(const uint8_t* p) {
  return static_cast<uint64_t>(_mm_movemask_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
}

TFR_BMI2_INLINE uint64_t TopBits8(const uint8_t* p) {
  return static_cast<uint64_t>(_mm_movemask_epi8(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
}

// The top bits of `size` bytes, 8 to 64, at p, by two loads that may overlap. Reads no others.
TFR_BMI2_INLINE uint64_t TopBits(const uint8_t* p, size_t size) {
  if (size >= 32) {
    const uint32_t low = static_cast<uint32_t>(_mm256_movemask_epi8(Load256(p)));
    const uint32_t high = static_cast<uint32_t>(_mm256_movemask_epi8(Load256(p + size - 32)));
    return low | static_cast<uint64_t>(high) << (size - 32);
  }
  if (size >= 16) return TopBits16(p) | TopBits16(p + size - 16) << (size - 16);
  return TopBits8(p) | TopBits8(p + size - 8) << (size - 8);
}

// Decodes values of up to 4 bytes from a window of 16 bytes or more, whose top bits are `more`, up to its last block.
TFR_BMI2_INLINE void DecodeBlocks(const uint8_t** p, size_t size, uint64_t more, int64_t** out, int64_t* limit) {
  const uint64_t starts = (~more << 1) | 1;
  size_t k = 0;
  do {
    *out = DecodeBlock(*p + k, starts >> k & 0xff, *out);
    k += kBlock;
  } while (size - k >= 2 * kBlock && limit - *out >= kBlock);
  *p += k + _tzcnt_u64(~more >> (k - 1));
}

// The last bytes of a run, or of the room: as Decode, but with every load and store within bounds. Values from `out`
// to `o` are there already.
template <bool kPext>
TFR_BMI2_INLINE const uint8_t* DecodeTail(const uint8_t* p, const uint8_t* end, int64_t* out, int64_t* o,
                                          int64_t* limit, size_t* count) {
  while (end - p >= 8 && o < limit) {
    const size_t size = end - p < kWindow ? static_cast<size_t>(end - p) : kWindow;
    const uint64_t more = TopBits(p, size);
    const uint64_t runs4 = Runs4(more);
    if (HasLong(more, runs4, 0)) {
      const uint8_t* const window_end = p + size;
      while (p < window_end && o < limit) {
        p = end - p >= 16 ? DecodeAny<kPext>(p, o) : DecodeVarint(p, end, reinterpret_cast<uint64_t*>(o));
        if (p == nullptr) return nullptr;
        ++o;
      }
      continue;
    }
    uint64_t ends = _bzhi_u64(~more, static_cast<unsigned>(size));
    const ptrdiff_t found = _mm_popcnt_u64(ends);
    const ptrdiff_t n = found < limit - o ? found : limit - o;
    if (more == 0) {
      for (ptrdiff_t i = 0; i < n; ++i) *o++ = *p++;
      continue;
    }
    if (runs4 == 0 && size >= kManyBytes && limit - o >= kManyValues) {
      DecodeBlocks(&p, size, more, &o, limit);
      continue;
    }
    const uint8_t* const window = p;
    for (ptrdiff_t i = 0; i < n; ++i) {
      const uint8_t* const after = window + _tzcnt_u64(ends) + 1;
      ends = _blsr_u64(ends);
      const uint8_t* const from = p < end - 8 ? p : end - 8;
      o[i] = ExtractGroups<kPext>(LoadLE64(from) >> (8 * (p - from)), static_cast<size_t>(after - p));
      p = after;
    }
    o += n;
  }
  *count = static_cast<size_t>(o - out);
  if (p == end || o == limit) return p;
  size_t last;
  p = DecodeUpTo8<kPext>(p, end, o, static_cast<size_t>(limit - o), &last);
  *count += last;
  return p;
}

template <bool kPext>
TFR_BMI2 const uint8_t* Decode(const uint8_t* p, const uint8_t* end, int64_t* out, size_t capacity, size_t* count) {
  int64_t* o = out;
  int64_t* const limit = out + capacity;
  const uint8_t* start = p;  // of the next varint: at p, or after it, or before it if the last window's end cut one
  while (end - p >= kReadable && limit - o >= kWindow) {
    const uint64_t more = TopBits64(p);
    const uint64_t runs4 = Runs4(more);
    if (runs4 != 0) {
      if (!HasLong(more, runs4, p - start)) {
        const uint64_t ends = start > p ? _blsr_u64(~more) : ~more;
        start = ExtractWindow<kPext>(p, ends, start, o);
        o += _mm_popcnt_u64(ends);
        p += kWindow;
      } else {
        const uint8_t* const window_end = p + kWindow;
        while (start < window_end && o < limit) {
          start = DecodeAny<kPext>(start, o++);
          if (start == nullptr) return nullptr;
        }
        p = start;
      }
    } else if (start < p) {
      p = start;
    } else if (more == 0) {
      Widen64(start, o);  // if the first starts after p, one too many, which does not count
      o += kWindow - (start - p);
      start = p += kWindow;
    } else {
      const uint64_t starts = (~more << 1) | (start == p);
      for (ptrdiff_t k = 0; k < kStep; k += kBlock) o = DecodeBlock(p + k, starts >> k & 0xff, o);
      p += kStep;
      start = p + _tzcnt_u64(~more >> (kStep - 1));
    }
  }
  return DecodeTail<kPext>(start, end, out, o, limit, count);
}

TFR_BMI2 size_t Count(const uint8_t* p, const uint8_t* end) {
  size_t count = 0;
  for (; end - p >= 64; p += 64) count += static_cast<size_t>(_mm_popcnt_u64(~TopBits64(p)));
  for (; end - p >= 8; p += 8) count += static_cast<size_t>(_mm_popcnt_u64(~LoadLE64(p) & kTopBits));
  for (; p < end; ++p) count += *p < 0x80;
  return count;
}

TFR_BMI2 size_t EncodedSize(const int64_t* values, size_t n) {
  size_t size = 0;
  for (size_t i = 0; i < n; ++i) size += VarintSize(static_cast<uint64_t>(values[i]));
  return size;
}

TFR_BMI2 uint8_t* Encode(const int64_t* values, size_t n, uint8_t* out, const uint8_t* end) {
  return EncodeOneByOne(values, n, out, end);
}

// Without pext, short runs are decoded sooner word by word. Not with TFR_BMI2: it jumps to one or the other.
const uint8_t* DecodeWithoutPext(const uint8_t* p, const uint8_t* end, int64_t* out, size_t capacity, size_t* count) {
  constexpr ptrdiff_t kShort = 32;
  if (end - p < kShort) return DecodePortably(p, end, out, capacity, count);
  return Decode<false>(p, end, out, capacity, count);
}

// pdep is microcode where pext is.
uint8_t* EncodeWithoutPdep(const int64_t* values, size_t n, uint8_t* out, const uint8_t* end) {
  return kPortableVarint.encode(values, n, out, end);
}

}  // namespace

const VarintOps kBmi2Varint = {"bmi2", [] { return Cpu().fast_pext && Cpu().avx2; }, Decode<true>, Count, EncodedSize,
                               Encode};
const VarintOps kAvx2Varint = {
    "avx2", [] { return Cpu().bmi2 && Cpu().avx2; }, DecodeWithoutPext, Count, EncodedSize, EncodeWithoutPdep};

}  // namespace tfr::internal

#endif  // defined(__x86_64__)
