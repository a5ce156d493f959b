// Runs of steps of a feature list that all look the same, as they do in nearly every list.
//
// A step in its usual form is a FeatureHeader (wire/example.h) and values. If the number of values is fixed, all bytes
// before floats are the same in every step, and so is the distance to the next; for one int64 per step this holds as
// long as the varints take the same number of bytes.
//
// Each function takes steps from `p` on as long as they are of the usual form, and returns the cursor after the last
// one taken; *taken grows by their number. The rest must be decoded step by step. It reads nothing outside
// [p - kBeforeSteps, end): a list has its own tag and length before it.

#pragma once

#include <cstddef>
#include <cstdint>

namespace tfr {

constexpr size_t kBeforeSteps = 2;

// The header of a step with that many floats.
class FloatStep {
 public:
  explicit FloatStep(size_t floats);

  // Copies the values of at most `room` steps to `out`, end to end, and writes nothing after them.
  const uint8_t* Take(const uint8_t* p, const uint8_t* end, uint8_t* out, size_t room, size_t* taken) const;

 private:
  template <size_t kBytes>
  const uint8_t* TakeSmall(const uint8_t* p, const uint8_t* end, uint8_t* out, size_t room, size_t* taken) const;

  uint64_t head_[2] = {};  // the first bytes of the header, and the others
  uint64_t mask_[2] = {};
  size_t header_size_ = 0;  // 0: too long to be compared as two words
  size_t value_bytes_;
};

// Steps of `values` int64 each; at most `room` of them.
const uint8_t* TakeInt64Steps(size_t values, const uint8_t* p, const uint8_t* end, int64_t* out, size_t room,
                              size_t* taken);

}  // namespace tfr
