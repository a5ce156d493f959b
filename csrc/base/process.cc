// Counts forks, and holds the short-lived locks across them; see process.h.

#include "base/process.h"

#include <pthread.h>

#include <mutex>

namespace tfr {

// All ForkSafeMutexes. Never destroyed: buffers may be given back while the process ends.
class ForkSafeMutexes {
 public:
  static ForkSafeMutexes& All() {
    static auto* all = new ForkSafeMutexes;
    return *all;
  }

  uint64_t generation() const { return generation_.load(std::memory_order_relaxed); }

  void Add(ForkSafeMutex* mutex) {
    std::lock_guard<std::mutex> lock(list_);
    mutex->next_ = first_;
    if (first_ != nullptr) first_->previous_ = mutex;
    first_ = mutex;
  }

  void Remove(ForkSafeMutex* mutex) {
    std::lock_guard<std::mutex> lock(list_);
    if (mutex->next_ != nullptr) mutex->next_->previous_ = mutex->previous_;
    (mutex->previous_ != nullptr ? mutex->previous_->next_ : first_) = mutex->next_;
  }

 private:
  ForkSafeMutexes() {
    ::pthread_atfork([] { All().LockAll(); }, [] { All().UnlockAll(); },
                     [] {
                       All().generation_.fetch_add(1, std::memory_order_relaxed);
                       All().UnlockAll();
                     });
  }

  void LockAll() {
    list_.lock();
    for (ForkSafeMutex* mutex = first_; mutex != nullptr; mutex = mutex->next_) mutex->lock();
  }

  void UnlockAll() {
    for (ForkSafeMutex* mutex = first_; mutex != nullptr; mutex = mutex->next_) mutex->unlock();
    list_.unlock();
  }

  std::atomic<uint64_t> generation_{0};
  std::mutex list_;
  ForkSafeMutex* first_ = nullptr;
};

uint64_t ForkGeneration() { return ForkSafeMutexes::All().generation(); }

ForkSafeMutex::ForkSafeMutex() { ForkSafeMutexes::All().Add(this); }
ForkSafeMutex::~ForkSafeMutex() { ForkSafeMutexes::All().Remove(this); }

}  // namespace tfr
