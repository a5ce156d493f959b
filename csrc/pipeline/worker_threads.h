// The threads of a stream, besides the caller's: as many as are wanted, or as the system allows.

#pragma once

#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

namespace tfr {

// One thread at a time may call.
class WorkerThreads {
 public:
  bool empty() const { return threads_.empty(); }
  // True if there are fewer than `wanted`, and more can be had as far as is known.
  bool AreFewerThan(size_t wanted) const { return threads_.size() < wanted && !no_more_; }
  // Starts threads until there are `wanted`, each of which runs `work`. Returns silently when the system
  // refuses a thread: later calls start none.
  void Start(size_t wanted, const std::function<void()>& work);
  void Join();

 private:
  std::vector<std::thread> threads_;
  bool no_more_ = false;  // can be had
};

}  // namespace tfr
