// Copies from a mapping whose file may have been cut; see mapped_file.h.
//
// A thread inside Copy has `landing` set. The handler runs on the thread whose access failed: with a landing it jumps
// there, out of nothing but a loop of memcpy; without one the fault is not Copy's.

#include "io/mapped_file.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>

#include <cstring>
#include <mutex>

#include "base/from_the_start.h"

namespace tfr {
namespace {

// In the memory that a thread has from the start: a signal handler must not be the first to ask for it.
TFR_FROM_THE_START thread_local sigjmp_buf* volatile landing = nullptr;

struct sigaction previous;

void OnBusError(int signal, siginfo_t* info, void* context) {
  if (landing != nullptr) siglongjmp(*landing, 1);
  if (previous.sa_flags & SA_SIGINFO) return previous.sa_sigaction(signal, info, context);
  if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) return previous.sa_handler(signal);
  // A bus error can't be ignored: with the default back in place, it now ends the process as it would have.
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

bool InstallHandler() {
  static const bool installed = [] {
    struct sigaction action = {};
    action.sa_sigaction = OnBusError;
    sigemptyset(&action.sa_mask);
    // NODEFER: the jump out of the handler leaves the mask as it is, and the next fault must come through.
    action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
    return ::sigaction(SIGBUS, nullptr, &previous) == 0 && ::sigaction(SIGBUS, &action, nullptr) == 0;
  }();
  return installed;
}

// Pieces lie anywhere, which no processor can guess: what the next ones need is brought into the cache.
inline void Prefetch(const uint8_t* from, const Piece& piece) {
  constexpr size_t kLine = 64;
  constexpr size_t kMostBytes = 1024;
  for (size_t at = 0; at < piece.size && at < kMostBytes; at += kLine) {
    __builtin_prefetch(from + piece.offset + at);
    __builtin_prefetch(piece.to + at, 1);
  }
}

// A function of its own, and a plain one, since a jump out of it must leave nothing to clean up.
__attribute__((noinline)) void CopyAll(const uint8_t* from, const Piece* pieces, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (i + 2 < count) Prefetch(from, pieces[i + 2]);
    std::memcpy(pieces[i].to, from + pieces[i].offset, pieces[i].size);
  }
}

}  // namespace

std::unique_ptr<const MappedFile> MappedFile::Map(const File& file) {
  int64_t size = 0;
  if (!file.Size(&size).ok() || size <= 0 || !InstallHandler()) return nullptr;
  void* data = ::mmap(nullptr, static_cast<size_t>(size), PROT_READ, MAP_SHARED, file.descriptor(), 0);
  if (data == MAP_FAILED) return nullptr;
  // A page that is not in memory is read alone, without its neighbours.
  (void)::madvise(data, static_cast<size_t>(size), MADV_RANDOM);
  return std::unique_ptr<const MappedFile>(new MappedFile(static_cast<const uint8_t*>(data), size));
}

MappedFile::~MappedFile() { ::munmap(const_cast<uint8_t*>(data_), static_cast<size_t>(size_)); }

bool MappedFile::Copy(const Piece* pieces, size_t count) const {
  sigjmp_buf here;
  if (sigsetjmp(here, 0) != 0) {
    landing = nullptr;
    return false;
  }
  landing = &here;
  CopyAll(data_, pieces, count);
  landing = nullptr;
  return true;
}

}  // namespace tfr
