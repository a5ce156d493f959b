// Listing and taking tasks; see shared_work.h.

#include "pipeline/shared_work.h"

#include <algorithm>
#include <new>

namespace tfr {

void SharedWork::Share(size_t tasks, const std::function<void(size_t)>& run, const std::function<void()>& wake,
                       std::unique_lock<std::mutex>* lock) {
  Shared shared = {run, tasks};
  shared_.push_back(&shared);
  wake();
  while (shared.next < shared.tasks) Take(&shared, lock);
  ended_.wait(*lock, [&] { return shared.running == 0; });
  if (shared.out_of_memory) throw std::bad_alloc();
}

// `shared` may be gone afterwards.
void SharedWork::Take(Shared* shared, std::unique_lock<std::mutex>* lock) {
  const size_t task = shared->next++;
  ++shared->running;
  if (shared->next == shared->tasks) shared_.erase(std::find(shared_.begin(), shared_.end(), shared));
  lock->unlock();
  bool out_of_memory = false;
  try {
    shared->run(task);
  } catch (const std::bad_alloc&) {
    out_of_memory = true;
  }
  lock->lock();
  shared->out_of_memory |= out_of_memory;
  if (--shared->running == 0 && shared->next == shared->tasks) ended_.notify_all();
}

}  // namespace tfr
