// Runs numbered tasks on a few threads, which are kept for the next call, and waits for them.

#pragma once

#include <cstddef>
#include <functional>

#include "base/status.h"

namespace tfr {

// 0 means as many as this process may run on; at least 1.
size_t ResolveThreads(size_t num_threads);

// Calls run(0) … run(tasks - 1), each once, on at most `num_threads` threads, the caller's among them. Tasks are taken
// in ascending order; which thread takes which is open. Returns when all have ended. If `run` throws, on whatever
// thread, no new task is started, and the first exception is thrown here.
void ParallelFor(size_t tasks, size_t num_threads, const std::function<void(size_t)>& run);

// The same for tasks that can fail; std::bad_alloc is kOutOfMemory here. After a failure no new task is started, and
// the error of the lowest task that has one is returned, whatever the timing. Between two tasks the calling thread asks
// now and then whether to continue (CheckInterrupt); an interrupt comes before any other error.
Status ParallelTry(size_t tasks, size_t num_threads, const std::function<Status(size_t)>& run);

// Threads that a piece of work may be shared with.
class Crew {
 public:
  virtual ~Crew() = default;
  // How many there are, the caller's among them.
  virtual size_t size() const = 0;
  // Runs the tasks like ParallelFor (std::bad_alloc included), on the members that are free.
  virtual void Share(size_t tasks, const std::function<void(size_t)>& run) = 0;
};

// Threads for the length of one call.
class OwnThreads : public Crew {
 public:
  explicit OwnThreads(size_t num_threads) : size_(ResolveThreads(num_threads)) {}
  size_t size() const override { return size_; }
  void Share(size_t tasks, const std::function<void(size_t)>& run) override { ParallelFor(tasks, size_, run); }

 private:
  const size_t size_;
};

}  // namespace tfr
