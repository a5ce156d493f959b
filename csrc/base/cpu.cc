// Run-time CPU detection; see cpu.h.

#include "base/cpu.h"

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

namespace tfr {
namespace {

CpuFeatures Detect() {
  CpuFeatures cpu;
#if defined(__x86_64__)
  __builtin_cpu_init();
  cpu.sse42 = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
  cpu.pclmul = cpu.sse42 && __builtin_cpu_supports("pclmul");
  cpu.avx2 = __builtin_cpu_supports("avx2");
  cpu.bmi2 = __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
  cpu.fast_pext = cpu.bmi2 && !__builtin_cpu_is("znver1") && !__builtin_cpu_is("znver2");
  cpu.avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  cpu.avx512_vbmi = cpu.avx512 && cpu.bmi2 && __builtin_cpu_supports("avx512cd") &&
                    __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2");
  cpu.vpclmulqdq = cpu.avx512 && cpu.pclmul && __builtin_cpu_supports("vpclmulqdq");
#elif defined(__aarch64__) && defined(__linux__)
  constexpr unsigned long kPmull = 1 << 4;  // HWCAP_PMULL and HWCAP_CRC32, whose header musl lacks
  constexpr unsigned long kCrc32 = 1 << 7;
  cpu.arm_crc = (getauxval(AT_HWCAP) & kCrc32) != 0;
  cpu.arm_pmull = (getauxval(AT_HWCAP) & kPmull) != 0;
#elif defined(__aarch64__) && defined(__APPLE__)
  cpu.arm_crc = cpu.arm_pmull = true;  // every Apple arm64 processor has them
#endif
  return cpu;
}

}  // namespace

const CpuFeatures& Cpu() {
  static const CpuFeatures cpu = Detect();
  return cpu;
}

}  // namespace tfr
