// Which instruction sets the processor and the operating system support, determined once.

#pragma once

namespace tfr {

struct CpuFeatures {
  bool sse42 = false;   // and POPCNT
  bool pclmul = false;  // carry-less multiply, 128-bit
  bool avx2 = false;
  bool bmi2 = false;         // BMI1, BMI2 and POPCNT
  bool fast_pext = false;    // BMI2 with pext and pdep in hardware, not in microcode (Zen 1 and 2)
  bool avx512 = false;       // F, BW, DQ and VL, with the registers saved by the system
  bool avx512_vbmi = false;  // VBMI, VBMI2 and CD on top of avx512, and bmi2
  bool vpclmulqdq = false;   // 512-bit carry-less multiply on top of avx512
  bool arm_crc = false;      // ARMv8 CRC32 instructions
  bool arm_pmull = false;    // ARMv8 carry-less multiply
};

const CpuFeatures& Cpu();

}  // namespace tfr
