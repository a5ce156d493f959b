// Mean and variance of numbers that come in blocks: each block's own in two passes, joined as T. Chan, G. Golub and
// R. LeVeque do ("Updating formulae and a pairwise algorithm for computing sample variances", 1979), so that neither a
// large mean nor many blocks cost digits.

#pragma once

#include <cstddef>
#include <cstdint>

namespace tfr {

constexpr size_t kBlock = 1024;  // the most numbers in a block

struct Moments {
  uint64_t count = 0;
  long double mean = 0;
  long double squares = 0;  // the sum of the squared differences from the mean

  void Merge(const Moments& other);
};

// Moments of a block of at most kBlock finite numbers. The same on every processor.
struct BlockFigures {
  double least, most;
  size_t zeros;
  Moments moments;
};

// `n` is not 0.
BlockFigures FiguresOf(const float* values, size_t n);

struct IntBlockFigures {
  int64_t least, most;
  size_t zeros;
  Moments moments;
};

IntBlockFigures FiguresOf(const int64_t* values, size_t n);

// True if all are finite.
bool AllFinite(const float* values, size_t n);

}  // namespace tfr
