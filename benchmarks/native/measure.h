// Shared by the micro-benchmarks of this folder: rounds, and the lines that they print (benchmarks/native/__main__.py).
//
// Each program is called with ROUNDS and MILLISECONDS, some with a FILE after them. A round repeats the work for at
// least that many milliseconds. A line of output is a row, its fields separated by tabs:
//
//   row      CASE  HOW  UNIT  FIGURE FIGURE ...     one figure per round, more is better
//   lacking  HOW   WHY                              what this processor can't run
//
// A wrong answer ends the program with status 1 before anything is timed.

#ifndef TFRECORD_FAST_BENCHMARKS_NATIVE_MEASURE_H_
#define TFRECORD_FAST_BENCHMARKS_NATIVE_MEASURE_H_

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/status.h"

namespace measure {

inline int rounds = 7;
inline double round_seconds = 0.02;

// Takes the first two arguments; the rest belong to the program.
inline std::vector<std::string> Arguments(int argc, char** argv, int others) {
  if (argc != 3 + others) {
    std::fprintf(stderr, "usage: %s ROUNDS MILLISECONDS%s\n", argv[0], others > 0 ? " FILE" : "");
    std::exit(2);
  }
  rounds = std::atoi(argv[1]);
  round_seconds = std::atof(argv[2]) / 1e3;
  return {argv + 3, argv + argc};
}

inline void Require(bool right, const std::string& what) {
  if (right) return;
  std::fprintf(stderr, "wrong answer: %s\n", what.c_str());
  std::exit(1);
}

inline void Require(const tfr::Status& status, const std::string& what) {
  Require(status.ok(), what + ": " + (status.ok() ? "" : status.ToString()));
}

inline void Lacking(const std::string& how, const std::string& why) {
  std::printf("lacking\t%s\t%s\n", how.c_str(), why.c_str());
}

// Times `work`, which does `amount` of units, say 1e-9 × bytes for GB/s, and prints the row.
template <typename Work>
void Row(const std::string& name, const std::string& how, const char* unit, double amount, Work work) {
  std::printf("row\t%s\t%s\t%s\t", name.c_str(), how.c_str(), unit);
  for (int round = 0; round < rounds; ++round) {
    double spent = 0;
    int64_t times = 0;
    for (int64_t more = 1; spent < round_seconds || times == 0; more *= 2) {
      const auto start = std::chrono::steady_clock::now();
      for (int64_t i = 0; i < more; ++i) work();
      spent += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      times += more;
    }
    std::printf(round == 0 ? "%.6g" : " %.6g", static_cast<double>(times) * amount / spent);
  }
  std::printf("\n");
  std::fflush(stdout);
}

inline std::vector<uint8_t> ReadFile(const std::string& path) {
  std::vector<uint8_t> data;
  FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) std::exit((std::perror(path.c_str()), 1));
  uint8_t block[1 << 16];
  for (size_t n; (n = std::fread(block, 1, sizeof block, file)) > 0;) data.insert(data.end(), block, block + n);
  std::fclose(file);
  return data;
}

// Keeps the compiler from dropping what makes this value.
template <typename T>
inline void Keep(const T& value) {
  asm volatile("" : : "g"(value) : "memory");
}

}  // namespace measure

#endif  // TFRECORD_FAST_BENCHMARKS_NATIVE_MEASURE_H_
