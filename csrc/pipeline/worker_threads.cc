// Starting threads, as far as the system allows; see worker_threads.h.

#include "pipeline/worker_threads.h"

#include <new>
#include <system_error>

#include "base/core_thread.h"

namespace tfr {

void WorkerThreads::Start(size_t wanted, const std::function<void()>& work) {
  try {
    threads_.reserve(wanted);
    while (threads_.size() < wanted) threads_.push_back(StartCoreThread(work));
  } catch (const std::system_error&) {
    no_more_ = true;
  } catch (const std::bad_alloc&) {
    no_more_ = true;
  }
}

void WorkerThreads::Join() {
  for (std::thread& thread : threads_) thread.join();
}

}  // namespace tfr
