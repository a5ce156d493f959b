// Keeps the host's hook; see interrupt.h.

#include "base/interrupt.h"

#include <atomic>

#include "base/from_the_start.h"

namespace tfr {
namespace {

std::atomic<InterruptHook> interrupt_hook{nullptr};
TFR_FROM_THE_START thread_local bool never_asks = false;
TFR_FROM_THE_START thread_local const std::atomic<bool>* stops_with = nullptr;

}  // namespace

void SetInterruptHook(InterruptHook hook) { interrupt_hook.store(hook, std::memory_order_relaxed); }

Status CheckInterrupt() {
  if (stops_with != nullptr && stops_with->load(std::memory_order_relaxed)) return Status::Cancelled();
  const InterruptHook hook = interrupt_hook.load(std::memory_order_relaxed);
  return hook == nullptr || never_asks ? Status() : hook();
}

void NeverAskOnThisThread() { never_asks = true; }

StopsWith::StopsWith(const std::atomic<bool>* stop) { stops_with = stop; }
StopsWith::~StopsWith() { stops_with = nullptr; }

}  // namespace tfr
