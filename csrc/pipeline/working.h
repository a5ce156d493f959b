// How many threads work at once: as many as there are processors for them, and more while reading makes them wait.
//
// Threads that share a processor take each other's caches, and what one of them holds (the cut, the unit that is next)
// waits until it runs again: 16 of them on two processors had half the speed of two. Threads that wait for a disk or a
// file server use no processor, so more of them help there. Which it is shows in the units: the time that their threads
// were asleep.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace tfr {

// The time that the calling thread has spent.
class ThreadTime {
 public:
  static ThreadTime Now();
  std::chrono::nanoseconds Since(const ThreadTime& begin) const { return at_ - begin.at_; }
  // The time of it that the thread was asleep: it did not work, and did not wait for a processor.
  std::chrono::nanoseconds AsleepSince(const ThreadTime& begin) const;

 private:
  std::chrono::nanoseconds at_{};
  std::chrono::nanoseconds worked_{};
  std::chrono::nanoseconds waited_{};  // for a processor that others had
};

// Guarded by the scheduler's lock.
class WorkingThreads {
 public:
  // At most `threads` of them; `processors` is how many may compute, 0 for no limit.
  WorkingThreads(size_t threads, size_t processors)
      : threads_(threads), fit_(processors == 0 || processors > threads ? threads : processors), allowed_(fit_) {}

  // True if the next unit must be timed, and then noted. A quarter of the units is enough; without a limit, none is.
  bool TimesNext() { return fit_ < threads_ && made_++ % 4 == 0; }
  // How many may work now; never less than one, if there are threads at all.
  size_t allowed() const { return allowed_; }
  // How many may work when none has to wait.
  size_t fit() const { return fit_; }

  bool MayJoin() const { return working_ < allowed_; }
  bool MayStay() const { return working_ <= allowed_; }
  void Join() { ++working_; }
  void Leave() { --working_; }
  // How many more may join.
  size_t room() const { return working_ < allowed_ ? allowed_ - working_ : 0; }

  // A unit was made in the time between.
  void Note(const ThreadTime& begin, const ThreadTime& end);

 private:
  // Older samples have lost half of their weight. Long against a unit, short against an epoch.
  static constexpr std::chrono::nanoseconds kMemory = std::chrono::milliseconds(20);

  const size_t threads_;
  const size_t fit_;
  size_t allowed_;
  size_t working_ = 0;
  size_t made_ = 0;  // units
  // Units took this long, the older ones weighing less; at first as if there had been some that were never asleep.
  std::chrono::nanoseconds recent_ = kMemory;
  std::chrono::nanoseconds asleep_{};  // of which their threads were asleep
};

}  // namespace tfr
