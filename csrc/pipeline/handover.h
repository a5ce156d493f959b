// A value that is handed from unit to unit of a file, in their order: what one has found out and the next one needs.

#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace tfr {

// The thread protocol: the unit whose turn it is has the value, alone, from when it sees it until it passes one on. The
// mutex guards all members and is never held together with another lock. The value is small and copied.
template <typename Value>
class Handover {
 public:
  // The value that unit 0 gets.
  explicit Handover(Value first) : value_(first) {}

  // True if the value of `unit` is here already.
  bool Peek(size_t unit, Value* value) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (stopped_ || unit_ != unit) return false;
    *value = value_;
    return true;
  }

  // Waits until it is here. False: stopped, there is nothing for this unit.
  bool Await(size_t unit, Value* value) {
    std::unique_lock<std::mutex> lock(mutex_);
    moved_.wait(lock, [&] { return stopped_ || unit > last_ || unit_ == unit; });
    if (stopped_ || unit > last_) return false;
    *value = value_;
    return true;
  }

  // Hands `value` to the next unit. Called by the unit whose turn it is.
  void Pass(Value value) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      ++unit_;
      value_ = value;
    }
    moved_.notify_all();
  }

  // No unit after this one gets anything; those before it still do.
  void StopAfter(size_t unit) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      last_ = std::min(last_, unit);
    }
    moved_.notify_all();
  }

  // Ends all waits: no unit gets a value from now on.
  void Stop() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      stopped_ = true;
    }
    moved_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable moved_;
  size_t unit_ = 0;         // whose turn it is
  size_t last_ = SIZE_MAX;  // that gets the value
  Value value_;
  bool stopped_ = false;
};

}  // namespace tfr
