// Threads that help with one call after another; see parallel.h.
//
// Starting a thread for each call would cost as much as some 100 kB of work. Helpers wait for the next call instead,
// and end if none comes for a while. The thread protocol: `mutex_` guards everything in Helpers and in the jobs that
// it knows. A job lives on its caller's stack; its caller returns when no thread can find it any more and none works on
// it. Tasks are handed out by one counter. A forked process has none of these threads and starts a new set.

#include "base/parallel.h"

#if defined(__linux__)
#include <sched.h>
#endif

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/core_thread.h"
#include "base/interrupt.h"
#include "base/process.h"

namespace tfr {
namespace {

constexpr std::chrono::milliseconds kIdle{500};  // until a helper ends
constexpr std::chrono::milliseconds kInterruptInterval{50};

class Helpers {
 public:
  // Those of this process. Never destroyed: threads may still wait when the process ends.
  static Helpers& Get() {
    static std::atomic<Helpers*> current{nullptr};
    Helpers* helpers = current.load(std::memory_order_acquire);
    while (helpers == nullptr || helpers->generation_ != ForkGeneration()) {
      auto* fresh = new Helpers;
      if (current.compare_exchange_strong(helpers, fresh, std::memory_order_acq_rel)) return *fresh;
      delete fresh;
    }
    return *helpers;
  }

  // Calls work() on this thread and, as soon as they come, on up to `wanted` others; returns when all have returned.
  void Run(size_t wanted, const std::function<void()>& work) {
    Job job{&work, wanted};
    {
      std::lock_guard<std::mutex> lock(mutex_);
      jobs_.push_back(&job);
      open_ += wanted;
      while (idle_ + starting_ < open_ && Start()) {
      }
    }
    for (size_t i = 0; i < wanted; ++i) wake_.notify_one();
    work();
    std::unique_lock<std::mutex> lock(mutex_);
    if (job.wanted > 0) Close(&job);
    job.left.wait(lock, [&] { return job.active == 0; });
  }

 private:
  struct Job {
    const std::function<void()>* work;
    size_t wanted;      // helpers that may still come; 0: not in jobs_
    size_t active = 0;  // helpers that have come and not left yet
    std::condition_variable left = {};
  };

  bool Start() {
    try {
      StartCoreThread([this] { Help(); }).detach();
    } catch (const std::exception&) {  // std::system_error, std::bad_alloc
      return false;                    // no more threads can be started: those that exist do the work
    }
    ++starting_;
    return true;
  }

  void Close(Job* job) {
    open_ -= job->wanted;
    job->wanted = 0;
    jobs_.erase(std::find(jobs_.begin(), jobs_.end(), job));
  }

  void Help() {
    std::unique_lock<std::mutex> lock(mutex_);
    --starting_;
    while (true) {
      if (jobs_.empty()) {
        ++idle_;
        const bool called = wake_.wait_for(lock, kIdle, [&] { return !jobs_.empty(); });
        --idle_;
        if (!called) return;
      }
      Job* const job = jobs_.front();
      ++job->active;
      if (job->wanted == 1) {
        Close(job);
      } else {
        --job->wanted;
        --open_;
      }
      lock.unlock();
      (*job->work)();
      lock.lock();
      if (--job->active == 0) job->left.notify_one();  // with the lock held: without it, the job may no longer exist
    }
  }

  const uint64_t generation_ = ForkGeneration();
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Job*> jobs_;  // that want helpers, in the order in which they came
  size_t open_ = 0;         // helpers that the jobs want, together
  size_t idle_ = 0;
  size_t starting_ = 0;
};

}  // namespace

size_t ResolveThreads(size_t num_threads) {
  if (num_threads > 0) return num_threads;
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
#endif
  return std::max(1u, std::thread::hardware_concurrency());
}

void ParallelFor(size_t tasks, size_t num_threads, const std::function<void(size_t)>& run) {
  const size_t threads = std::min(std::max<size_t>(num_threads, 1), tasks);
  if (threads <= 1) {
    for (size_t task = 0; task < tasks; ++task) run(task);
    return;
  }
  std::atomic<size_t> next{0};
  std::atomic<bool> threw{false};
  std::exception_ptr thrown;  // set by the one that sets `threw`
  Helpers::Get().Run(threads - 1, [&] {
    try {
      for (size_t task; (task = next.fetch_add(1, std::memory_order_relaxed)) < tasks;) run(task);
    } catch (...) {
      next.store(tasks, std::memory_order_relaxed);
      if (!threw.exchange(true)) thrown = std::current_exception();
    }
  });
  if (thrown) std::rethrow_exception(thrown);
}

// Tasks are handed out in ascending order, so every task below one that failed has been handed out by then. `limit`
// only falls, to a task that failed: those below it still run, and the lowest error is found.
Status ParallelTry(size_t tasks, size_t num_threads, const std::function<Status(size_t)>& run) {
  std::atomic<size_t> limit{tasks};
  std::mutex mutex;  // guards `error` and the fall of `limit`
  Status error;
  const std::thread::id caller = std::this_thread::get_id();
  auto asked = std::chrono::steady_clock::now();  // the caller's own

  ParallelFor(tasks, num_threads, [&](size_t task) {
    if (task >= limit.load(std::memory_order_relaxed)) return;
    Status status = WithoutThrowing([&] { return run(task); });
    if (status.ok() && std::this_thread::get_id() == caller) {
      const auto now = std::chrono::steady_clock::now();
      if (now - asked > kInterruptInterval) {
        status = CheckInterrupt();
        asked = std::chrono::steady_clock::now();
      }
    }
    if (status.ok()) return;
    const bool cancelled = status.code() == StatusCode::kCancelled;
    std::lock_guard<std::mutex> lock(mutex);
    if (!cancelled && task >= limit.load(std::memory_order_relaxed)) return;
    limit.store(cancelled ? 0 : task, std::memory_order_relaxed);
    error = std::move(status);
  });
  return error;
}

}  // namespace tfr
