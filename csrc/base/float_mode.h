// A thread of the host may treat subnormal numbers as zeros, which would make zeros of them in sums and comparisons.

#pragma once

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include <cstdint>

namespace tfr {

// While it lives, this thread calculates with subnormal numbers. What is calculated has to be in a function that is not
// inlined where this is: compilers move arithmetic past it.
class SubnormalNumbers {
 public:
  SubnormalNumbers() : before_(Get()) {
    if ((before_ & kAsZeros) != 0) Set(before_ & ~kAsZeros);
  }
  ~SubnormalNumbers() {
    if ((before_ & kAsZeros) != 0) Set(before_);
  }
  SubnormalNumbers(const SubnormalNumbers&) = delete;
  SubnormalNumbers& operator=(const SubnormalNumbers&) = delete;

 private:
#if defined(__x86_64__)
  using Mode = uint32_t;
  static constexpr Mode kAsZeros = 0x8040;  // MXCSR's bits FTZ and DAZ
  static Mode Get() { return _mm_getcsr(); }
  static void Set(Mode mode) { _mm_setcsr(mode); }
#elif defined(__aarch64__)
  using Mode = uint64_t;
  static constexpr Mode kAsZeros = uint64_t{1} << 24;  // FPCR's bit FZ
  static Mode Get() {
    Mode mode;
    asm volatile("mrs %0, fpcr" : "=r"(mode));
    return mode;
  }
  static void Set(Mode mode) { asm volatile("msr fpcr, %0" : : "r"(mode)); }
#else
  using Mode = uint32_t;
  static constexpr Mode kAsZeros = 0;
  static Mode Get() { return 0; }
  static void Set(Mode) {}
#endif

  const Mode before_;
};

}  // namespace tfr
