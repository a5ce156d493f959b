// Varint runs with NEON, over windows of 64 bytes: the method of bmi2.cc for values of up to 4 bytes. See varint.h.

#if defined(__aarch64__)

#include <arm_neon.h>

#include <bit>

#include "varint/backends.h"
#include "varint/blocks.h"

namespace tfr::internal {
namespace {

constexpr BlockShuffles kShuffles = MakeBlockShuffles([](int value) { return 4 * value; });

// Bit i: the top bit of p[i], for 64 bytes.
inline uint64_t TopBits64(const uint8_t* p) {
  const uint8x16_t weights = vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201));
  const auto weighed = [&](size_t at) {
    return vandq_u8(vreinterpretq_u8_s8(vshrq_n_s8(vreinterpretq_s8_u8(vld1q_u8(p + at)), 7)), weights);
  };
  const uint8x16_t low = vpaddq_u8(weighed(0), weighed(16));
  const uint8x16_t high = vpaddq_u8(weighed(32), weighed(48));
  const uint8x16_t sums = vpaddq_u8(low, high);
  return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(sums, sums)), 0);
}

inline void StoreWide(uint64_t* out, uint32x4_t values) {
  vst1q_u64(out, vmovl_u32(vget_low_u32(values)));
  vst1q_u64(out + 2, vmovl_high_u32(values));
}

inline void Widen64(const uint8_t* p, int64_t* out) {
  for (int i = 0; i < kWindow; i += 8) {
    const uint16x8_t values = vmovl_u8(vld1_u8(p + i));
    StoreWide(reinterpret_cast<uint64_t*>(out + i), vmovl_u16(vget_low_u16(values)));
    StoreWide(reinterpret_cast<uint64_t*>(out + i + 4), vmovl_high_u16(values));
  }
}

// Four values of up to 4 bytes, which `shuffle` takes from `bytes`.
inline uint32x4_t DecodeFour(uint8x16_t bytes, const uint8_t* shuffle) {
  const uint8x16_t x = vqtbl1q_u8(bytes, vld1q_u8(shuffle));
  const uint32x4_t ends = vreinterpretq_u32_u8(vorrq_u8(x, vdupq_n_u8(0x7f)));
  const uint8x16_t after = vreinterpretq_u8_u32(vaddq_u32(ends, vdupq_n_u32(1)));
  const uint16x8_t groups = vreinterpretq_u16_u8(vandq_u8(vbicq_u8(x, after), vdupq_n_u8(0x7f)));
  // Groups that are 8 bits apart come to be 7 apart, and pairs that are 16 apart, 14.
  const uint32x4_t pairs = vreinterpretq_u32_u16(vmlsq_n_u16(groups, vshrq_n_u16(groups, 8), (1 << 8) - (1 << 7)));
  return vmlsq_n_u32(pairs, vshrq_n_u32(pairs, 16), (1 << 16) - (1 << 14));
}

// See bmi2.cc.
inline int64_t* DecodeBlock(const uint8_t* p, uint64_t starts, int64_t* out) {
  const uint8x16_t bytes = vld1q_u8(p);
  StoreWide(reinterpret_cast<uint64_t*>(out), DecodeFour(bytes, kShuffles.of[starts]));
  StoreWide(reinterpret_cast<uint64_t*>(out + 4), DecodeFour(bytes, kShuffles.of[starts] + 16));
  return out + std::popcount(starts);
}

const uint8_t* Decode(const uint8_t* p, const uint8_t* end, int64_t* out, size_t capacity, size_t* count) {
  int64_t* o = out;
  int64_t* const limit = out + capacity;
  const uint8_t* start = p;  // of the next varint: at p, or after it
  while (end - p >= kReadable && limit - o >= kWindow) {
    const uint64_t more = TopBits64(p);
    if (more == 0) {
      Widen64(start, o);  // if the first starts after p, one too many, which does not count
      o += kWindow - (start - p);
      start = p += kWindow;
    } else if (Runs4(more) == 0) {
      const uint64_t starts = (~more << 1) | (start == p);
      for (ptrdiff_t k = 0; k < kStep; k += kBlock) o = DecodeBlock(p + k, starts >> k & 0xff, o);
      p += kStep;
      start = p + std::countr_zero(~more >> (kStep - 1));
    } else {  // a longer value: as many as a window may have are decoded word by word
      p = start = DecodePortably(start, end, o, kWindow, count);
      if (p == nullptr) return nullptr;
      o += *count;
    }
  }
  p = DecodePortably(start, end, o, static_cast<size_t>(limit - o), count);
  *count += static_cast<size_t>(o - out);
  return p;
}

size_t Count(const uint8_t* p, const uint8_t* end) { return kPortableVarint.count(p, end); }

size_t EncodedSize(const int64_t* values, size_t n) { return kPortableVarint.encoded_size(values, n); }

uint8_t* Encode(const int64_t* values, size_t n, uint8_t* out, const uint8_t* end) {
  return kPortableVarint.encode(values, n, out, end);
}

}  // namespace

const VarintOps kNeonVarint = {"neon", [] { return true; }, Decode, Count, EncodedSize, Encode};

}  // namespace tfr::internal

#endif  // defined(__aarch64__)
