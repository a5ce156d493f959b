// Threads for the length of one call; see parallel.h. Tasks are handed out by one counter, and joining the threads
// is what makes their results visible: there is no lock.

#include "base/parallel.h"

#if defined(__linux__)
#include <sched.h>
#endif

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

namespace tfr {

size_t ResolveThreads(size_t num_threads) {
  if (num_threads > 0) return num_threads;
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
#endif
  return std::max(1u, std::thread::hardware_concurrency());
}

void ParallelFor(size_t tasks, size_t num_threads, const std::function<void(size_t)>& run) {
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t task; (task = next.fetch_add(1, std::memory_order_relaxed)) < tasks;) run(task);
  };
  std::vector<std::thread> threads;
  const size_t wanted = std::min(std::max<size_t>(num_threads, 1), tasks);
  for (size_t i = 1; i < wanted; ++i) {
    try {
      threads.emplace_back(work);
    } catch (const std::system_error&) {
      break;  // no more threads to be had: those that are there do the work
    }
  }
  work();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace tfr
