// Sets memory aside and gives it back where it is needed; see core_thread.h.

#include "base/core_thread.h"

#include <cxxabi.h>
#include <sys/mman.h>

#include <cstdlib>
#include <new>
#include <utility>

#include "base/from_the_start.h"
#include "base/interrupt.h"

#if defined(_LIBCPP_VERSION)  // its header leaves it out
namespace __cxxabiv1 {
struct __cxa_eh_globals;
extern "C" __cxa_eh_globals* __cxa_get_globals();
}  // namespace __cxxabiv1
#endif

namespace tfr {
namespace {

TFR_FROM_THE_START thread_local bool prepared = false;

constexpr size_t kReserved = 128 << 10;  // for what a thread needs at once

// Puts blocks of the sizes that the C library may ask for into this thread's cache, from which it then takes them.
bool FillCache() noexcept {
  constexpr size_t kLargest = 512;
  constexpr size_t kStep = 16;
  void* blocks[kLargest / kStep];
  size_t count = 0;
  for (size_t size = kStep; size <= kLargest; size += kStep) {
    blocks[count] = std::malloc(size - sizeof(size_t));
    asm volatile("" : "+r"(blocks[count]));  // the compiler may leave out what is only freed
    if (blocks[count] == nullptr) break;
    ++count;
  }
  const bool all = count == kLargest / kStep;
  while (count > 0) std::free(blocks[--count]);
  return all;
}

}  // namespace

bool PrepareToThrow() noexcept {
  if (prepared) return true;
  if (!FillCache()) return false;
  prepared = true;
  const void* globals = abi::__cxa_get_globals();
  asm volatile("" : : "r"(globals));  // __cxa_get_globals is declared pure: an unused call would be removed
  return true;
}

namespace internal {

Beginning::Beginning() : pages_(::mmap(nullptr, kReserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
  if (pages_ == MAP_FAILED) throw std::bad_alloc();
  try {
    told_ = std::make_shared<std::atomic<int>>(kNotYet);
  } catch (...) {
    GiveBack();
    throw;
  }
}

Beginning::Beginning(Beginning&& other) noexcept
    : pages_(std::exchange(other.pages_, MAP_FAILED)), told_(std::move(other.told_)) {}

void Beginning::GiveBack() noexcept {
  if (pages_ != MAP_FAILED) ::munmap(std::exchange(pages_, MAP_FAILED), kReserved);
}

bool Beginning::Begin() noexcept {
  NeverAskOnThisThread();
  GiveBack();
  const bool begun = PrepareToThrow();
  told_->store(begun ? kBegun : kFailed);
  told_->notify_all();
  return begun;
}

}  // namespace internal
}  // namespace tfr
