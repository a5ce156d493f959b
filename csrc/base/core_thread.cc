// Sets memory aside and gives it back where it is needed; see core_thread.h.

#include "base/core_thread.h"

#include <sys/mman.h>

#include <exception>
#include <new>
#include <utility>

#include "base/interrupt.h"

namespace tfr {
namespace {

// In the memory that a thread has from the start.
[[gnu::tls_model("initial-exec")]] thread_local bool prepared = false;

constexpr size_t kReserved = 128 << 10;       // for what a thread needs at once
constexpr size_t kPlenty = size_t{16} << 30;  // more than other threads take before a new one has begun

void* Map(size_t bytes) { return ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }

}  // namespace

void PrepareToThrow() noexcept {
  if (prepared) return;
  prepared = true;
  (void)std::uncaught_exceptions();  // whose count lies in that memory
}

namespace internal {

Beginning::Beginning() : pages_(Map(kReserved)) {
  if (pages_ == MAP_FAILED) throw std::bad_alloc();
  void* plenty = Map(kPlenty);
  if (plenty != MAP_FAILED) {
    ::munmap(plenty, kPlenty);
    return;
  }
  try {
    begun_ = std::make_shared<std::atomic<bool>>(false);
  } catch (...) {
    GiveBack();
    throw;
  }
}

Beginning::Beginning(Beginning&& other) noexcept
    : pages_(std::exchange(other.pages_, MAP_FAILED)), begun_(std::move(other.begun_)) {}

void Beginning::GiveBack() noexcept {
  if (pages_ != MAP_FAILED) ::munmap(std::exchange(pages_, MAP_FAILED), kReserved);
}

void Beginning::Begin() noexcept {
  NeverAskOnThisThread();
  GiveBack();
  PrepareToThrow();
  if (begun_ == nullptr) return;
  begun_->store(true);
  begun_->notify_all();
}

}  // namespace internal
}  // namespace tfr
