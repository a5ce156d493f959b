// Loops over rows as the compiler vectorises them for any processor; see row_ops.h.

#include "images/row_ops.h"

namespace tfr::internal {
namespace {

void Apply(Step::Kind kind, const float* operands, float* row, size_t count) { ApplyLoop(kind, operands, row, count); }

void Convert(const uint8_t* pixels, size_t count, float* row) { ConvertLoop(pixels, count, row); }

void Blend(const float* lower, const float* upper, float share, size_t count, float* out) {
  BlendLoop(lower, upper, share, count, out);
}

template <typename T>
void Sum(const uint8_t* const* rows, const float* weights, size_t num_rows, size_t count, float* out) {
  SumLoop<T>(rows, weights, num_rows, 0, count, out);
}

void Round(const float* row, size_t count, uint8_t* out) { RoundLoop(row, 0, count, out); }

}  // namespace

constexpr RowOps kPortableRows = {
    "portable", [] { return true; }, Apply, Convert, Blend, Sum<uint8_t>, Sum<float>, Round,
};

}  // namespace tfr::internal
