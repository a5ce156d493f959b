// Time of the threads; see working.h.

#include "pipeline/working.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace tfr {
namespace {

using std::chrono::nanoseconds;

nanoseconds OfClock(clockid_t clock) {
  timespec time = {};
  (void)clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + nanoseconds(time.tv_nsec);
}

// How long this thread has waited for a processor; 0 where the system does not say.
nanoseconds WaitedForProcessor() {
  char text[96];
  const int file = ::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  const ssize_t size = ::read(file, text, sizeof(text) - 1);
  ::close(file);
  if (size <= 0) return {};
  text[size] = 0;
  long long waited = 0;  // NOLINT(google-runtime-int): scanf's
  return std::sscanf(text, "%*s %lld", &waited) == 1 ? nanoseconds(waited) : nanoseconds();
}

}  // namespace

ThreadTime ThreadTime::Now() {
  ThreadTime now;
  now.waited_ = WaitedForProcessor();
  now.worked_ = OfClock(CLOCK_THREAD_CPUTIME_ID);
  now.at_ = OfClock(CLOCK_MONOTONIC);
  return now;
}

nanoseconds ThreadTime::AsleepSince(const ThreadTime& begin) const {
  return std::max(Since(begin) - (worked_ - begin.worked_) - (waited_ - begin.waited_), nanoseconds(0));
}

void WorkingThreads::Note(const ThreadTime& begin, const ThreadTime& end) {
  while (recent_ > kMemory) {
    recent_ /= 2;
    asleep_ /= 2;
  }
  recent_ += end.Since(begin);
  asleep_ += std::min(end.AsleepSince(begin), end.Since(begin));
  const auto awake = std::max<int64_t>((recent_ - asleep_).count(), 1);
  // Enough threads that, on average, each processor has one awake.
  const auto wanted = static_cast<size_t>(recent_.count() / awake) * fit_;
  allowed_ = std::clamp(wanted, fit_, threads_);
}

}  // namespace tfr
