// Chooses the CRC32C backend at run time; see crc32c.h.

#include "crc32c/crc32c.h"

#include <cstdlib>
#include <string_view>
#include <vector>

#include "base/cpu.h"
#include "crc32c/backends.h"

namespace tfr::crc32c {
namespace {

// Fastest first; whether pmull is faster than armv8 is not measured.
constexpr Backend kAll[] = {
#if defined(__x86_64__)
    {"vpclmul", internal::ExtendVpclmul, [] { return Cpu().vpclmulqdq; }},
    {"pclmul", internal::ExtendPclmul, [] { return Cpu().pclmul; }},
    {"sse42", internal::ExtendSse42, [] { return Cpu().sse42; }},
#elif defined(__aarch64__)
    {"armv8", internal::ExtendArm, [] { return Cpu().arm_crc; }},
    {"pmull", internal::ExtendPmull, [] { return Cpu().arm_crc && Cpu().arm_pmull; }},
#endif
    {"portable", internal::ExtendPortable, [] { return true; }},
};

const std::vector<Backend>& Supported() {
  static const std::vector<Backend> supported = [] {
    std::vector<Backend> found;
    for (const Backend& backend : kAll) {
      if (backend.supported()) found.push_back(backend);
    }
    return found;
  }();
  return supported;
}

// `extend` points here until the first call, which chooses a backend.
uint32_t ChooseAndExtend(uint32_t crc, const uint8_t* data, size_t size) {
  const char* forced = std::getenv("TFRECORD_FAST_CRC32C");
  if (forced == nullptr || !SetBackend(forced)) SetBackend(Supported().front().name);
  return Extend(crc, data, size);
}

}  // namespace

namespace internal {
std::atomic<ExtendFunction> extend{ChooseAndExtend};
}

std::span<const Backend> Backends() { return Supported(); }

const char* BackendName() {
  if (internal::extend.load(std::memory_order_relaxed) == ChooseAndExtend) Extend(0, nullptr, 0);
  for (const Backend& backend : Supported()) {
    if (backend.extend == internal::extend.load(std::memory_order_relaxed)) return backend.name;
  }
  return "unknown";
}

bool SetBackend(std::string_view name) {
  for (const Backend& backend : Supported()) {
    if (name == backend.name) {
      internal::extend.store(backend.extend, std::memory_order_relaxed);
      return true;
    }
  }
  return false;
}

}  // namespace tfr::crc32c
