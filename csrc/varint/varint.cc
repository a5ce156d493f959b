// Chooses the varint backend at run time, and decodes what is too short for any; see varint.h.

#include "varint/varint.h"

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "varint/backends.h"

namespace tfr {
namespace internal {
namespace {

// Fastest first.
const VarintOps* const kAll[] = {
#if defined(__x86_64__)
    &kAvx512VbmiVarint,
    &kBmi2Varint,
    &kAvx2Varint,
#elif defined(__aarch64__)
    &kNeonVarint,
#endif
    &kPortableVarint,
};

// Null until the first use. The choice is the same for every thread, so a race stores the same pointer twice.
std::atomic<const VarintOps*> chosen{nullptr};

const VarintOps* Find(const char* name) {
  for (const VarintOps* backend : kAll) {
    if (backend->supported() && (name == nullptr || std::strcmp(backend->name, name) == 0)) return backend;
  }
  return nullptr;
}

const VarintOps& Choose() {
  const char* forced = std::getenv("TFRECORD_FAST_VARINT");
  const VarintOps* backend = forced != nullptr ? Find(forced) : nullptr;
  if (backend == nullptr) backend = Find(nullptr);
  const VarintOps* none = nullptr;
  return chosen.compare_exchange_strong(none, backend, std::memory_order_relaxed) ? *backend : *none;
}

inline const VarintOps& Ops() {
  const VarintOps* backend = chosen.load(std::memory_order_relaxed);
  return backend != nullptr ? *backend : Choose();
}

}  // namespace

const uint8_t* DecodeLongVarint(const uint8_t* p, const uint8_t* end, uint64_t* value) {
  uint64_t result = 0;
  for (unsigned shift = 0; shift < 7 * kMaxVarintSize; shift += 7) {
    if (p >= end) return nullptr;
    const uint8_t byte = *p++;
    result |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) {
      *value = result;
      return p;
    }
  }
  return nullptr;
}

const uint8_t* DecodeLongRun(const uint8_t* p, const uint8_t* end, int64_t* out, size_t capacity, size_t* count) {
  return Ops().decode(p, end, out, capacity, count);
}

size_t CountLongRun(const uint8_t* p, const uint8_t* end) { return Ops().count(p, end); }

}  // namespace internal

size_t EncodedVarintsSize(const int64_t* values, size_t n) { return internal::Ops().encoded_size(values, n); }

uint8_t* EncodeVarints(const int64_t* values, size_t n, uint8_t* out, const uint8_t* end) {
  return internal::Ops().encode(values, n, out, end);
}

std::vector<const char*> VarintBackends() {
  std::vector<const char*> names;
  for (const internal::VarintOps* backend : internal::kAll) {
    if (backend->supported()) names.push_back(backend->name);
  }
  return names;
}

const char* VarintBackend() { return internal::Ops().name; }

bool SetVarintBackend(const char* name) {
  const internal::VarintOps* backend = name != nullptr ? internal::Find(name) : nullptr;
  if (backend != nullptr) internal::chosen.store(backend, std::memory_order_relaxed);
  return backend != nullptr;
}

}  // namespace tfr
