// Handing ranges to fetchers, and bytes back; see fetch_queue.h.

#include "io/fetch_queue.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string>
#include <utility>

#include "base/interrupt.h"

namespace tfr {
namespace {

constexpr auto kInterruptInterval = std::chrono::milliseconds(50);

Status QueueIsClosed() { return Status::Closed("reading from the store has ended"); }

}  // namespace

void FetchQueue::Tell(std::weak_ptr<FetchListener> listener) {
  std::lock_guard<std::mutex> lock(mutex_);
  listener_ = std::move(listener);
}

void FetchQueue::TellListener() {
  std::shared_ptr<FetchListener> listener;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (closed_) return;
    listener = listener_.lock();
  }
  if (listener) listener->Continue();
}

FetchPtr FetchQueue::Ask(uint32_t object, int64_t begin, int64_t end, bool opens) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto fetch = std::make_shared<Fetch>(next_number_++, object, begin, end, opens);
  fetch->held = static_cast<size_t>(end - begin);
  held_ += fetch->held;
  if (closed_) {
    fetch->state = Fetch::State::kFailed;
    fetch->status = QueueIsClosed();
    return fetch;
  }
  queue_.push_back(fetch);
  wanted_.notify_one();
  return fetch;
}

void FetchQueue::Reserve(Fetch* fetch) {
  std::lock_guard<std::mutex> lock(mutex_);
  ++fetch->users;
}

Status FetchQueue::Hold(Fetch* fetch) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (fetch->state == Fetch::State::kWanted && !fetch->urgent) {
    fetch->urgent = true;
    const auto place =
        std::find_if(queue_.begin(), queue_.end(), [&](const FetchPtr& one) { return one.get() == fetch; });
    const auto first = std::find_if(queue_.begin(), place, [&](const FetchPtr& one) { return !one->urgent; });
    if (place != queue_.end()) std::rotate(first, place, place + 1);
  }
  while (fetch->state < Fetch::State::kDone) {
    if (done_.wait_for(lock, kInterruptInterval) == std::cv_status::no_timeout) continue;
    lock.unlock();
    Status interrupted = CheckInterrupt();
    lock.lock();
    if (interrupted.ok()) continue;
    Leave(fetch);
    return interrupted;
  }
  Status status = fetch->status;
  if (!status.ok()) Leave(fetch);
  return status;
}

void FetchQueue::LetGo(Fetch* fetch) {
  std::lock_guard<std::mutex> lock(mutex_);
  Leave(fetch);
}

void FetchQueue::Leave(Fetch* fetch) {
  --fetch->users;
  if (fetch->dropped) Release(fetch);
}

bool FetchQueue::Succeeded(const Fetch& fetch) const {
  std::lock_guard<std::mutex> lock(mutex_);
  return fetch.state == Fetch::State::kDone;
}

// Frees what a dropped fetch holds, unless it is in use or on its way: then that is done later.
void FetchQueue::Release(Fetch* fetch) {
  if (fetch->users > 0 || fetch->state == Fetch::State::kTaken) return;
  if (fetch->state == Fetch::State::kWanted) {
    std::erase_if(queue_, [&](const FetchPtr& one) { return one.get() == fetch; });
  }
  held_ -= fetch->held;
  fetch->held = 0;
  if (!fetch->owner) return;
  garbage_.push_back(std::move(fetch->owner));
  fetch->owner = nullptr;
  wanted_.notify_one();
}

void FetchQueue::Drop(const FetchPtr& fetch) {
  std::lock_guard<std::mutex> lock(mutex_);
  fetch->dropped = true;
  Release(fetch.get());
}

bool FetchQueue::HasRoom(size_t bytes) const {
  std::lock_guard<std::mutex> lock(mutex_);
  return !closed_ && (held_ == 0 || held_ + bytes <= options_.bytes);
}

void FetchQueue::Close() {
  std::lock_guard<std::mutex> lock(mutex_);
  closed_ = true;
  for (const FetchPtr& fetch : queue_) {
    fetch->state = Fetch::State::kFailed;
    fetch->status = QueueIsClosed();
  }
  queue_.clear();
  // Those that are on their way are not waited for; when they come, they are dropped.
  for (const auto& [number, fetch] : taken_) {
    fetch->state = Fetch::State::kFailed;
    fetch->status = QueueIsClosed();
  }
  taken_.clear();
  wanted_.notify_all();
  done_.notify_all();
}

FetchQueue::Taken FetchQueue::Take() {
  Taken taken;
  std::unique_lock<std::mutex> lock(mutex_);
  ++idle_;
  wanted_.wait(lock, [this] { return closed_ || !queue_.empty() || !garbage_.empty(); });
  --idle_;
  taken.garbage.swap(garbage_);
  taken.closed = closed_;
  if (queue_.empty()) return taken;
  taken.fetch = std::move(queue_.front());
  queue_.pop_front();
  taken.fetch->state = Fetch::State::kTaken;
  taken_.emplace(taken.fetch->number, taken.fetch);
  taken.more = !queue_.empty() && idle_ == 0;
  return taken;
}

FetchPtr FetchQueue::TakeBack(uint64_t number) {
  const auto found = taken_.find(number);
  if (found == taken_.end()) return nullptr;
  FetchPtr fetch = std::move(found->second);
  taken_.erase(found);
  return fetch;
}

void FetchQueue::Deliver(uint64_t number, Bytes bytes, Owner owner, int64_t object_size) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const FetchPtr fetch = TakeBack(number);
    if (!fetch) return;  // closed meanwhile
    const int64_t end = fetch->opens ? std::min(object_size, fetch->end) : fetch->end;
    if (static_cast<int64_t>(bytes.size) == end - fetch->begin) {
      fetch->bytes = bytes;
      fetch->owner = std::move(owner);
      fetch->object_size = object_size;
      fetch->state = Fetch::State::kDone;
      held_ -= fetch->held;
      fetch->held = bytes.size;
      held_ += fetch->held;
    } else {
      fetch->status = Status::OsError(EIO, "the store returned " + std::to_string(bytes.size) + " bytes, but " +
                                               std::to_string(end - fetch->begin) + " were requested");
      fetch->state = Fetch::State::kFailed;
    }
    if (fetch->dropped) Release(fetch.get());
    done_.notify_all();
  }
  TellListener();
}

void FetchQueue::Fail(uint64_t number, Status status) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const FetchPtr fetch = TakeBack(number);
    if (!fetch) return;
    fetch->status = std::move(status);
    fetch->state = Fetch::State::kFailed;
    if (fetch->dropped) Release(fetch.get());
    done_.notify_all();
  }
  TellListener();
}

}  // namespace tfr
