// Short-lived threads; see parallel.h.
//
// The protocol: `next` hands out numbers in ascending order, so whatever is lower than a number that failed was
// handed out before it and is finished by its own thread. `failed` and `error` are guarded by the mutex. All threads
// are joined before the call returns, so nothing of it outlives the caller's frame.

#include "index/parallel.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "io/source.h"

namespace tfr {
namespace {

constexpr std::chrono::milliseconds kInterruptInterval(50);

}  // namespace

Status ParallelFor(size_t count, size_t num_threads, const std::function<Status(size_t)>& work) {
  std::atomic<size_t> next{0};
  std::mutex mutex;
  size_t failed = count;
  Status error;

  auto run = [&](bool caller) {
    size_t i;
    auto asked = std::chrono::steady_clock::now();
    while ((i = next.fetch_add(1, std::memory_order_relaxed)) < count) {
      Status status = work(i);
      if (caller && status.ok() && std::chrono::steady_clock::now() - asked > kInterruptInterval) {
        status = CheckInterrupt();
        asked = std::chrono::steady_clock::now();
      }
      if (status.ok()) continue;
      next.store(count, std::memory_order_relaxed);
      std::lock_guard<std::mutex> lock(mutex);
      // Being interrupted comes before anything else.
      const bool first = error.code() != StatusCode::kCancelled && (i < failed || status.code() == StatusCode::kCancelled);
      if (first) {
        failed = i;
        error = std::move(status);
      }
      return;
    }
  };

  std::vector<std::thread> helpers;
  const size_t wanted = std::min(num_threads, count);
  for (size_t t = 1; t < wanted; ++t) {
    try {
      helpers.emplace_back(run, false);
    } catch (const std::system_error&) {
      break;  // no more threads to be had: those that are there do it
    }
  }
  run(true);
  for (std::thread& helper : helpers) helper.join();
  return error;
}

}  // namespace tfr
