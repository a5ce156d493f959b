// Loops over rows of pixels: the shape of a backend, and the loops that compilers vectorise.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "images/resize.h"

namespace tfr::internal {

// All loops compute each value in the same order, without contraction, so all backends return the same values.
struct RowOps {
  const char* name;
  bool (*supported)();
  // row[i] = row[i] · operands[i], in which · is the step's arithmetic.
  void (*apply)(Step::Kind kind, const float* operands, float* row, size_t count);
  void (*convert)(const uint8_t* pixels, size_t count, float* row);
  // out[i] = lower[i] + (upper[i] - lower[i]) * share
  void (*blend)(const float* lower, const float* upper, float share, size_t count, float* out);
  // out[i] = rows[0][i] * weights[0] + rows[1][i] * weights[1] + …; 0 without rows.
  void (*sum_bytes)(const uint8_t* const* rows, const float* weights, size_t num_rows, size_t count, float* out);
  void (*sum_floats)(const uint8_t* const* rows, const float* weights, size_t num_rows, size_t count, float* out);
  // Rounds to the nearest, ties to even, and clips to 0 … 255; NaN is 0.
  void (*round)(const float* row, size_t count, uint8_t* out);
};

extern const RowOps kPortableRows;
#if defined(__x86_64__)
extern const RowOps kAvx2Rows;
#endif

// The backend in use.
const RowOps& Rows();

#define TFR_LOOP inline __attribute__((always_inline))

TFR_LOOP void ApplyLoop(Step::Kind kind, const float* operands, float* row, size_t count) {
  switch (kind) {
    case Step::Kind::kMultiply:
      for (size_t i = 0; i < count; ++i) row[i] *= operands[i];
      break;
    case Step::Kind::kDivide:
      for (size_t i = 0; i < count; ++i) row[i] /= operands[i];
      break;
    case Step::Kind::kAdd:
      for (size_t i = 0; i < count; ++i) row[i] += operands[i];
      break;
    case Step::Kind::kSubtract:
      for (size_t i = 0; i < count; ++i) row[i] -= operands[i];
      break;
  }
}

TFR_LOOP void ConvertLoop(const uint8_t* pixels, size_t count, float* row) {
  for (size_t i = 0; i < count; ++i) row[i] = static_cast<float>(pixels[i]);
}

TFR_LOOP void BlendLoop(const float* lower, const float* upper, float share, size_t count, float* out) {
  for (size_t i = 0; i < count; ++i) out[i] = lower[i] + (upper[i] - lower[i]) * share;
}

inline float LoadPixel(const uint8_t* row, size_t i, uint8_t) { return static_cast<float>(row[i]); }

inline float LoadPixel(const uint8_t* row, size_t i, float) {
  float value;
  std::memcpy(&value, row + i * sizeof value, sizeof value);
  return value;
}

// Sums the values [begin, end) of rows of T.
template <typename T>
TFR_LOOP void SumLoop(const uint8_t* const* rows, const float* weights, size_t num_rows, size_t begin, size_t end,
                      float* out) {
  if (num_rows == 0) {
    for (size_t i = begin; i < end; ++i) out[i] = 0;
    return;
  }
  for (size_t i = begin; i < end; ++i) out[i] = LoadPixel(rows[0], i, T()) * weights[0];
  for (size_t k = 1; k < num_rows; ++k) {
    for (size_t i = begin; i < end; ++i) out[i] += LoadPixel(rows[k], i, T()) * weights[k];
  }
}

TFR_LOOP uint8_t RoundPixel(float value) {
  constexpr float kWhole = 8388608;  // from which on floats are whole numbers
  const float positive = value > 0 ? value : 0;
  const float clipped = positive < 255 ? positive : 255;
  return static_cast<uint8_t>(static_cast<int32_t>((clipped + kWhole) - kWhole));
}

TFR_LOOP void RoundLoop(const float* row, size_t begin, size_t end, uint8_t* out) {
  for (size_t i = begin; i < end; ++i) out[i] = RoundPixel(row[i]);
}

}  // namespace tfr::internal
