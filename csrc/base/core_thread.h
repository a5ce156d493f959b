// Threads of the core's own, which can throw from their first moment.
//
// The C++ library keeps what a thread needs to throw in memory that the thread gets at its first throw. If the first
// one is std::bad_alloc, there may be no memory for it, and the C library ends the process. So a thread gets it first
// of all, out of blocks in its own allocator cache, which no other thread can take.

#pragma once

#include <atomic>
#include <memory>
#include <new>
#include <thread>
#include <utility>

namespace tfr {

// Allocates what this thread needs to throw, unless it has it already. False if memory is exhausted.
bool PrepareToThrow() noexcept;

namespace internal {

// Address space that nothing else takes until the new thread gives it back, since the thread may have to get pages of
// its own from the system for each of the few small things that it needs. Other threads can still be first to take
// them, so the starter of the thread waits until it has its memory, or failed.
class Beginning {
 public:
  Beginning();
  Beginning(Beginning&& other) noexcept;
  Beginning& operator=(Beginning&&) = delete;
  ~Beginning() { GiveBack(); }

  enum State : int { kNotYet, kBegun, kFailed };
  using Told = std::shared_ptr<std::atomic<int>>;  // a State

  // The first step of the thread. False: it can't begin, and ends.
  bool Begin() noexcept;

  Told told() const { return told_; }

 private:
  void GiveBack() noexcept;

  void* pages_;
  Told told_;
};

}  // namespace internal

// Runs `work` on a new thread. It can throw from the start, for which memory is set aside here, and CheckInterrupt
// never calls the host on it: the host does not know the thread, and the thread that waits for its work stops it.
// Throws std::system_error or std::bad_alloc if the thread cannot be started.
template <typename Work>
std::thread StartCoreThread(Work work) {
  internal::Beginning beginning;
  const internal::Beginning::Told told = beginning.told();
  std::thread thread([work = std::move(work), beginning = std::move(beginning)]() mutable {
    if (beginning.Begin()) work();
  });
  told->wait(internal::Beginning::kNotYet);
  if (*told == internal::Beginning::kBegun) return thread;
  thread.join();
  throw std::bad_alloc();
}

}  // namespace tfr
