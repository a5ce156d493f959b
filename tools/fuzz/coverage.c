// Counts which code ran, for builds with -fsanitize-coverage=trace-pc; tools/fuzz/fuzz.py looks at it.
//
// gcc -O2 -shared -fPIC tools/fuzz/coverage.c -o coverage.so, and to be loaded before the runtimes of the sanitizers,
// which bring an empty function of this name.

#include <stdint.h>

enum { kPlaces = 1 << 16 };

uint8_t covered[kPlaces];

void __sanitizer_cov_trace_pc(void) {
  const uintptr_t at = (uintptr_t)__builtin_return_address(0);
  uint8_t* const place = &covered[(at ^ at >> 16) % kPlaces];
  if (*place < 255) ++*place;
}
