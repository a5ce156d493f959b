// Chooses the backend of loops over rows at run time; see resize.h and row_ops.h.

#include "images/row_ops.h"

#include <atomic>
#include <cstdlib>
#include <cstring>

namespace tfr {
namespace internal {
namespace {

// Fastest first.
const RowOps* const kAll[] = {
#if defined(__x86_64__)
    &kAvx2Rows,
#endif
    &kPortableRows,
};

// Null until the first use. The choice is the same for every thread, so a race stores the same pointer twice.
std::atomic<const RowOps*> chosen{nullptr};

const RowOps* Find(const char* name) {
  for (const RowOps* backend : kAll) {
    if (backend->supported() && (name == nullptr || std::strcmp(backend->name, name) == 0)) return backend;
  }
  return nullptr;
}

const RowOps& Choose() {
  const char* forced = std::getenv("TFRECORD_FAST_RESIZE");
  const RowOps* backend = forced != nullptr ? Find(forced) : nullptr;
  if (backend == nullptr) backend = Find(nullptr);
  const RowOps* none = nullptr;
  return chosen.compare_exchange_strong(none, backend, std::memory_order_relaxed) ? *backend : *none;
}

}  // namespace

const RowOps& Rows() {
  const RowOps* backend = chosen.load(std::memory_order_relaxed);
  return backend != nullptr ? *backend : Choose();
}

}  // namespace internal

std::vector<const char*> ResizeBackends() {
  std::vector<const char*> names;
  for (const internal::RowOps* backend : internal::kAll) {
    if (backend->supported()) names.push_back(backend->name);
  }
  return names;
}

const char* ResizeBackend() { return internal::Rows().name; }

bool SetResizeBackend(const char* name) {
  const internal::RowOps* backend = name != nullptr ? internal::Find(name) : nullptr;
  if (backend != nullptr) internal::chosen.store(backend, std::memory_order_relaxed);
  return backend != nullptr;
}

}  // namespace tfr
