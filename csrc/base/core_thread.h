// Threads of the core's own, which can throw from their first moment.
//
// The C++ library keeps what a thread needs to throw in memory that the thread gets at its first throw. If the first
// one is std::bad_alloc, there may be no memory for it, and the C library ends the process.

#ifndef TFRECORD_FAST_BASE_CORE_THREAD_H_
#define TFRECORD_FAST_BASE_CORE_THREAD_H_

#include <atomic>
#include <memory>
#include <thread>
#include <utility>

namespace tfr {

// Gets this thread what it needs to throw, unless it has it already.
void PrepareToThrow() noexcept;

namespace internal {

// Address space that nothing else takes until the new thread gives it back, since the thread may have to get pages of
// its own from the system for each of the few small things that it needs. If little is left, whoever starts the thread
// waits until it has them: threads that run already could take them first.
class Beginning {
 public:
  Beginning();
  Beginning(Beginning&& other) noexcept;
  Beginning& operator=(Beginning&&) = delete;
  ~Beginning() { GiveBack(); }

  // What the thread does first.
  void Begin() noexcept;

  // Null unless somebody has to wait for it.
  std::shared_ptr<std::atomic<bool>> begun() const { return begun_; }

 private:
  void GiveBack() noexcept;

  void* pages_;
  std::shared_ptr<std::atomic<bool>> begun_;
};

}  // namespace internal

// Runs `work` on a new thread. It can throw from the start, for which memory is set aside here, and CheckInterrupt
// never asks on it: the host does not know it, and whoever waits for its work stops it. Throws std::system_error or
// std::bad_alloc if there can be no such thread.
template <typename Work>
std::thread StartCoreThread(Work work) {
  internal::Beginning beginning;
  const std::shared_ptr<std::atomic<bool>> begun = beginning.begun();
  std::thread thread([work = std::move(work), beginning = std::move(beginning)]() mutable {
    beginning.Begin();
    work();
  });
  if (begun != nullptr) begun->wait(false);
  return thread;
}

}  // namespace tfr

#endif  // TFRECORD_FAST_BASE_CORE_THREAD_H_
