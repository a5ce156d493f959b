// Work that one thread shares with others: listed tasks, which idle threads take.

#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>

namespace tfr {

// The thread protocol: every member is called with the scheduler's lock held, and left so; tasks run without it. The
// thread that shares works too, and stays until all tasks have ended; it waits only for those that running threads have
// taken.
class SharedWork {
 public:
  // True if there is a task to take.
  bool any() const { return !shared_.empty(); }
  // Runs all tasks. `wake` is called once they are listed. std::bad_alloc out of a task is thrown here when all of them
  // have ended.
  void Share(size_t tasks, const std::function<void(size_t)>& run, const std::function<void()>& wake,
             std::unique_lock<std::mutex>* lock);
  // Takes the next task; only if there is any.
  void TakeOne(std::unique_lock<std::mutex>* lock) { Take(shared_.front(), lock); }

 private:
  // On the stack of its thread.
  struct Shared {
    const std::function<void(size_t)>& run;
    const size_t tasks;
    size_t next = 0;     // to take
    size_t running = 0;  // taken and not ended
    bool out_of_memory = false;
  };
  void Take(Shared* shared, std::unique_lock<std::mutex>* lock);

  std::deque<Shared*> shared_;     // with tasks to take
  std::condition_variable ended_;  // the last task of a thread that shares has ended
};

}  // namespace tfr
