// The one place where the core asks its host whether to continue.

#pragma once

#include <atomic>

#include "base/status.h"

namespace tfr {

// Called when a blocking call was interrupted by a signal, and now and then during long work; a status that is not OK
// stops the work. Without a hook the core always continues.
using InterruptHook = Status (*)();
void SetInterruptHook(InterruptHook hook);
Status CheckInterrupt();

// From now on CheckInterrupt on this thread never asks.
void NeverAskOnThisThread();

// While this object lives, CheckInterrupt on this thread also stops once *stop is set: the setter may be joining us.
class StopsWith {
 public:
  explicit StopsWith(const std::atomic<bool>* stop);
  ~StopsWith();
  StopsWith(const StopsWith&) = delete;
  StopsWith& operator=(const StopsWith&) = delete;
};

}  // namespace tfr
