// Tells a process from the one that it was forked from.

#pragma once

#include <atomic>
#include <cstdint>

namespace tfr {

// How many forks lie between the process that loaded the library and this one: the one way to notice a fork. Whatever
// was made in another generation has no threads here, and its locks may be held by a thread that does not exist.
uint64_t ForkGeneration();

// A lock held only briefly: a process that was forked while another thread held it finds it free, its data consistent.
// fork() waits for the holder, which therefore takes no other lock, calls no Python and waits for nothing.
class ForkSafeMutex {
 public:
  ForkSafeMutex();
  ~ForkSafeMutex();
  ForkSafeMutex(const ForkSafeMutex&) = delete;
  ForkSafeMutex& operator=(const ForkSafeMutex&) = delete;

  void lock() {
    while (taken_.test_and_set(std::memory_order_acquire)) taken_.wait(true, std::memory_order_relaxed);
  }
  void unlock() {
    taken_.clear(std::memory_order_release);
    taken_.notify_one();
  }

 private:
  friend class ForkSafeMutexes;
  std::atomic_flag taken_;
  ForkSafeMutex* previous_ = nullptr;  // the list of all, guarded by the list's lock
  ForkSafeMutex* next_ = nullptr;
};

}  // namespace tfr
