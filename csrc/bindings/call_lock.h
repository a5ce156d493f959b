// The lock of a core object that several Python threads may use, also after a fork. It is taken without the GIL, since
// its holder may need the GIL for a file object.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "base/process.h"
#include "base/status.h"
#include "bindings/gil.h"

namespace tfr {

class CallLock {
 public:
  // In a forked process, an object that has buffered bytes of the other process must not be used.
  enum class AfterFork : uint8_t { kUsable, kUnusable };

  // `name` is for messages: "the writer".
  CallLock(const char* name, AfterFork after_fork) : name_(name), after_fork_(after_fork) {}

  bool forked() const { return generation_ != ForkGeneration(); }

  // Waits for other threads; at the end of the interpreter only for a moment, since they may never return.
  enum class Patience : uint8_t { kEndless, kShort };

  class Held {
   public:
    explicit Held(CallLock* lock) : lock_(lock) {}
    ~Held() {
      if (held_) lock_->holder_.store({}, std::memory_order_relaxed);
    }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

    // Fails, instead of waiting for ever, in a file object that the locked object itself calls, and in a forked process
    // for a thread that does not exist there.
    Status Lock(Patience patience = Patience::kEndless) {
      const std::string name = lock_->name_;
      if (lock_->forked() && lock_->after_fork_ == AfterFork::kUnusable) {
        return Status::Closed(name + " belongs to the process that this one was forked from");
      }
      if (lock_->holder_.load(std::memory_order_relaxed) == std::this_thread::get_id()) {
        return Status::Closed(name + " is in use: its file object calls it again");
      }
      held_ = std::unique_lock<std::mutex>(lock_->mutex_, std::defer_lock);
      if (lock_->forked()) {
        if (!held_.try_lock()) {
          return Status::Closed(name + " was in use by another thread when this process was forked");
        }
      } else if (patience == Patience::kEndless) {
        held_.lock();
      } else {
        for (int i = 0; !held_.try_lock(); ++i) {
          if (i == 100) return Status::Closed(name + " is in use by another thread");
          std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
      }
      lock_->holder_.store(std::this_thread::get_id(), std::memory_order_relaxed);
      return {};
    }

   private:
    CallLock* const lock_;
    std::unique_lock<std::mutex> held_;
  };

  // With the GIL, for work that calls no Python: without a lock if another thread has it, or after a fork.
  std::unique_lock<std::mutex> TryLock() {
    return forked() ? std::unique_lock<std::mutex>() : std::unique_lock<std::mutex>(mutex_, std::try_to_lock);
  }

  // Runs `work` with the lock and without the GIL.
  template <typename Work>
  Status Run(Work work, Patience patience = Patience::kEndless) {
    GilReleased no_gil;
    Held held(this);
    TFR_RETURN_IF_ERROR(held.Lock(patience));
    return work();
  }

 private:
  const char* const name_;
  const AfterFork after_fork_;
  const uint64_t generation_ = ForkGeneration();
  std::mutex mutex_;
  std::atomic<std::thread::id> holder_ = {};  // while it may call Python
};

}  // namespace tfr
