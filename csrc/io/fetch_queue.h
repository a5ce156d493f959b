// Ranges of objects that threads of the core want, and that threads of the host fetch.
//
// The thread protocol. One mutex guards everything here, the members of every Fetch too. Threads of the core ask for
// ranges, wait for those that they need, and drop them; fetchers take the first that is wanted, and deliver its bytes
// or an error. Nothing is called under the mutex. The host's objects that a fetch holds are freed by a fetcher, since
// only the host's threads may be able to. After Close nothing is fetched: waiters get an error, and fetchers exit.
//
// A forked process has no fetchers, and leaves the memory of the parent's queues alone.

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "base/process.h"
#include "base/records.h"
#include "base/status.h"

namespace tfr {

// The bytes [begin, end) of an object, on their way. Only the queue looks into it, except for what stands first.
struct Fetch {
  Fetch(uint64_t number, uint32_t object, int64_t begin, int64_t end, bool opens)
      : number(number), object(object), begin(begin), end(end), opens(opens) {}

  const uint64_t number;
  const uint32_t object;
  const int64_t begin;
  const int64_t end;
  // True if the fetch also finds out the object's size: then the bytes may be fewer.
  const bool opens;

  // Valid, and unchanged, while it is held in place (Hold).
  Bytes bytes = {nullptr, 0};
  int64_t object_size = -1;

  enum class State : uint8_t { kWanted, kTaken, kDone, kFailed };
  State state = State::kWanted;
  bool urgent = false;  // a thread waits for it
  bool dropped = false;
  int users = 0;    // threads that wait for the bytes, or look at them
  size_t held = 0;  // bytes of memory that it counts for
  Owner owner;
  Status status;
};
using FetchPtr = std::shared_ptr<Fetch>;

// Told when there is room for more, or more is known: from any thread, without any lock.
class FetchListener {
 public:
  virtual ~FetchListener() = default;
  virtual void Continue() = 0;
};

class FetchQueue {
 public:
  struct Options {
    size_t bytes = size_t{64} << 20;       // requested ahead, at most
    size_t block_bytes = size_t{4} << 20;  // the usual size of a range
    size_t requests = 16;                  // at a time
  };
  explicit FetchQueue(const Options& options) : options_(options) {}
  FetchQueue(const FetchQueue&) = delete;
  FetchQueue& operator=(const FetchQueue&) = delete;

  const Options& options() const { return options_; }
  void Tell(std::weak_ptr<FetchListener> listener);

  // For threads of the core.
  FetchPtr Ask(uint32_t object, int64_t begin, int64_t end, bool opens = false);
  // From now on it stays even if it is dropped. Hold must follow.
  void Reserve(Fetch* fetch);
  // Waits until a reserved fetch is done; until then it precedes all fetches without a waiter. OK: its bytes stay where
  // they are until LetGo, which must follow. Otherwise the status is that of the fetch, kClosed after Close, or that of
  // CheckInterrupt.
  Status Hold(Fetch* fetch);
  void LetGo(Fetch* fetch);
  // True if it is done, and its bytes are here.
  bool Succeeded(const Fetch& fetch) const;
  // Gives up a fetch: its memory is freed once it is not held.
  void Drop(const FetchPtr& fetch);
  // True if that many more bytes may be requested ahead.
  bool HasRoom(size_t bytes) const;
  void TellListener();  // that there is room
  void Close();

  // For fetchers. Waits until a range is wanted, there is something to free, or all is over.
  struct Taken {
    FetchPtr fetch;              // null: nothing to fetch
    std::vector<Owner> garbage;  // freed by the thread that takes it
    bool more = false;           // another range is wanted, and no fetcher is free
    bool closed = false;
  };
  Taken Take();
  // Delivers the bytes of a range that was taken; none may be missing. `object_size`: of the whole object, if
  // that was requested.
  void Deliver(uint64_t number, Bytes bytes, Owner owner, int64_t object_size);
  void Fail(uint64_t number, Status status);

  bool InOwnProcess() const { return generation_ == ForkGeneration(); }

 private:
  FetchPtr TakeBack(uint64_t number);
  void Release(Fetch* fetch);
  void Leave(Fetch* fetch);

  const Options options_;
  const uint64_t generation_ = ForkGeneration();

  mutable std::mutex mutex_;
  std::condition_variable wanted_;  // for fetchers
  std::condition_variable done_;    // for threads of the core
  std::deque<FetchPtr> queue_;      // wanted, the most urgent first
  std::map<uint64_t, FetchPtr> taken_;
  std::vector<Owner> garbage_;
  std::weak_ptr<FetchListener> listener_;
  uint64_t next_number_ = 0;
  size_t held_ = 0;  // bytes requested, on their way or here
  size_t idle_ = 0;  // fetchers
  bool closed_ = false;
};

}  // namespace tfr
