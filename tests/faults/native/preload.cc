// Makes the k-th call of chosen kinds fail, come back short or kill the process: preloaded by tests/faults/preload.py.
//
// A call counts if its kind is armed and, with the scope "ours", if the code that made it lies in a range that was
// added (the extension and its codecs). A call that fails is not made, except for close, which closes as the kernel
// does.

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
}

namespace {

enum Kind {
  kRead,
  kPread,
  kPreadv,
  kReadv,
  kWrite,
  kWritev,
  kPwrite,
  kOpen,
  kClose,
  kFstat,
  kStat,
  kRename,
  kUnlink,
  kFsync,
  kFtruncate,
  kMmap,
  kMalloc,
  kNew,
  kThread,
  kKinds
};

const char* const kNames[kKinds] = {"read",      "pread", "preadv", "readv", "write",  "writev", "pwrite",
                                    "open",      "close", "fstat",  "stat",  "rename", "unlink", "fsync",
                                    "ftruncate", "mmap",  "malloc", "new",   "thread"};

enum Mode { kFail, kFailFrom, kShort, kEnd, kKill };

struct Range {
  uintptr_t begin, end;
};

Range ranges[64];
int range_count = 0;
std::atomic<uint32_t> armed{0};  // a bit per kind
std::atomic<long> calls{0};
long at = 0;
int mode = kFail;
int error = 0;
bool everywhere = false;
int log_to = -1;

bool Ours(uintptr_t place) {
  return std::any_of(ranges, ranges + range_count, [&](Range r) { return place >= r.begin && place < r.end; });
}

_Unwind_Reason_Code LookAtFrame(_Unwind_Context* context, void* found) {
  if (!Ours(_Unwind_GetIP(context))) return _URC_NO_REASON;
  *static_cast<bool*>(found) = true;
  return _URC_END_OF_STACK;
}

// std::thread starts its threads in libstdc++: whose call it is shows further up the stack.
bool OursFurtherUp() {
  bool found = false;
  _Unwind_Backtrace(LookAtFrame, &found);
  return found;
}

void Log(Kind kind, const char* what) {
  char line[4200];
  const int size = snprintf(line, sizeof line, "%s %s\n", kNames[kind], what);
  syscall(SYS_write, log_to, line, static_cast<size_t>(std::min<int>(size, sizeof line)));
}

void LogDescriptor(Kind kind, int descriptor) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const long size = syscall(SYS_readlink, link, path, sizeof path - 1);
  path[size < 0 ? 0 : size] = 0;
  Log(kind, path);
}

// Whether this call is the one.
bool Hit(Kind kind, void* caller) {
  if (!(armed.load(std::memory_order_relaxed) >> kind & 1)) return false;
  if (!everywhere && !Ours(reinterpret_cast<uintptr_t>(caller)) && !(kind == kThread && OursFurtherUp())) return false;
  const long number = ++calls;
  const bool hit = number == at || (mode == kFailFrom && number > at);
  if (hit && mode == kKill) {
    syscall(SYS_kill, getpid(), SIGKILL);
    while (true) pause();
  }
  return hit;
}

bool Logged(Kind kind) { return log_to >= 0 && (armed.load(std::memory_order_relaxed) >> kind & 1); }

template <typename Function>
Function Next(Function, const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

// How many bytes a hit call transfers: -1 if it fails.
ssize_t HitSize(size_t size) {
  if (mode == kShort) return static_cast<ssize_t>(size > 1 ? size / 2 : size);
  if (mode == kEnd) return 0;
  errno = error;
  return -1;
}

}  // namespace

#define REAL(name) static const auto real = Next(&name, #name)
#define CALLER __builtin_return_address(0)
#define FAIL_IF_HIT(kind, result) \
  if (Hit(kind, CALLER)) {        \
    errno = error;                \
    return result;                \
  }

extern "C" {

const char* fault_kind(int kind) { return kind < kKinds ? kNames[kind] : nullptr; }

void fault_add_range(uintptr_t begin, uintptr_t end) {
  if (range_count < 64) ranges[range_count++] = {begin, end};
}

// Call number `k` of the kinds in the mask is hit, from the next call on. k = 0: calls are counted only.
void fault_arm(uint32_t kinds, long k, int how, int number, int whole_process, int log_descriptor) {
  armed = 0;
  calls = 0;
  at = k;
  mode = how;
  error = number;
  everywhere = whole_process != 0;
  log_to = log_descriptor;
  armed = kinds;
}

// How many calls were counted since.
long fault_disarm() {
  armed = 0;
  log_to = -1;
  return calls;
}

#define TRANSFER(kind, name, parameters, arguments) \
  ssize_t name parameters {                         \
    REAL(name);                                     \
    if (Logged(kind)) LogDescriptor(kind, fd);      \
    if (Hit(kind, CALLER)) {                        \
      const ssize_t some = HitSize(size);           \
      if (some <= 0) return some;                   \
      size = static_cast<size_t>(some);             \
    }                                               \
    return real arguments;                          \
  }

TRANSFER(kRead, read, (int fd, void* data, size_t size), (fd, data, size))
TRANSFER(kPread, pread, (int fd, void* data, size_t size, off_t place), (fd, data, size, place))
TRANSFER(kPread, pread64, (int fd, void* data, size_t size, off64_t place), (fd, data, size, place))
TRANSFER(kWrite, write, (int fd, const void* data, size_t size), (fd, data, size))
TRANSFER(kPwrite, pwrite, (int fd, const void* data, size_t size, off_t place), (fd, data, size, place))
TRANSFER(kPwrite, pwrite64, (int fd, const void* data, size_t size, off64_t place), (fd, data, size, place))

// A short transfer of several parts ends in the middle of the last: what is left is more than whole parts.
#define TRANSFER_PARTS(kind, name, parameters, arguments, some_arguments)               \
  ssize_t name parameters {                                                             \
    REAL(name);                                                                         \
    if (Logged(kind)) LogDescriptor(kind, fd);                                          \
    if (!Hit(kind, CALLER)) return real arguments;                                      \
    size_t size = 0;                                                                    \
    for (int i = 0; i < count; ++i) size += parts[i].iov_len;                           \
    ssize_t left = HitSize(size);                                                       \
    if (left <= 0) return left;                                                         \
    iovec some[1024];                                                                   \
    int used = 0;                                                                       \
    for (; used < std::min(count, 1024) && left > 0; ++used) {                          \
      some[used] = {parts[used].iov_base, std::min<size_t>(parts[used].iov_len, left)}; \
      left -= static_cast<ssize_t>(some[used].iov_len);                                 \
    }                                                                                   \
    return real some_arguments;                                                         \
  }

TRANSFER_PARTS(kReadv, readv, (int fd, const iovec* parts, int count), (fd, parts, count), (fd, some, used))
TRANSFER_PARTS(kWritev, writev, (int fd, const iovec* parts, int count), (fd, parts, count), (fd, some, used))
TRANSFER_PARTS(kPreadv, preadv, (int fd, const iovec* parts, int count, off_t place), (fd, parts, count, place),
               (fd, some, used, place))
TRANSFER_PARTS(kPreadv, preadv64, (int fd, const iovec* parts, int count, off64_t place), (fd, parts, count, place),
               (fd, some, used, place))

#define OPEN(name)                                   \
  int name(const char* path, int flags, ...) {       \
    REAL(name);                                      \
    va_list list;                                    \
    va_start(list, flags);                           \
    const mode_t permissions = va_arg(list, mode_t); \
    va_end(list);                                    \
    if (Logged(kOpen)) Log(kOpen, path);             \
    FAIL_IF_HIT(kOpen, -1);                          \
    return real(path, flags, permissions);           \
  }

OPEN(open)
OPEN(open64)

int close(int fd) {
  REAL(close);
  const bool hit = Hit(kClose, CALLER);
  const int result = real(fd);
  if (hit) errno = error;
  return hit ? -1 : result;
}

int fstat(int fd, struct stat* info) {
  REAL(fstat);
  FAIL_IF_HIT(kFstat, -1);
  return real(fd, info);
}

int fstat64(int fd, struct stat64* info) {
  REAL(fstat64);
  FAIL_IF_HIT(kFstat, -1);
  return real(fd, info);
}

#define STAT(name, type)                          \
  int name(const char* path, struct type* info) { \
    REAL(name);                                   \
    FAIL_IF_HIT(kStat, -1);                       \
    return real(path, info);                      \
  }

STAT(stat, stat)
STAT(stat64, stat64)
STAT(lstat, stat)
STAT(lstat64, stat64)

int rename(const char* from, const char* to) {
  REAL(rename);
  FAIL_IF_HIT(kRename, -1);
  const int result = real(from, to);
  if (Logged(kRename) && result == 0) {
    char both[8200];
    snprintf(both, sizeof both, "%s %s", from, to);
    Log(kRename, both);
  }
  return result;
}

int unlink(const char* path) {
  REAL(unlink);
  FAIL_IF_HIT(kUnlink, -1);
  return real(path);
}

int fsync(int fd) {
  REAL(fsync);
  FAIL_IF_HIT(kFsync, -1);
  const int result = real(fd);
  if (Logged(kFsync) && result == 0) LogDescriptor(kFsync, fd);
  return result;
}

int fdatasync(int fd) {
  REAL(fdatasync);
  FAIL_IF_HIT(kFsync, -1);
  return real(fd);
}

#define TRUNCATE(name, type)     \
  int name(int fd, type size) {  \
    REAL(name);                  \
    FAIL_IF_HIT(kFtruncate, -1); \
    return real(fd, size);       \
  }

TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

#define MAP(name, type)                                                                   \
  void* name(void* address, size_t size, int protection, int flags, int fd, type place) { \
    REAL(name);                                                                           \
    FAIL_IF_HIT(kMmap, MAP_FAILED);                                                       \
    return real(address, size, protection, flags, fd, place);                             \
  }

MAP(mmap, off_t)
MAP(mmap64, off64_t)

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*), void* argument) {
  REAL(pthread_create);
  if (Hit(kThread, CALLER)) return EAGAIN;
  return real(thread, attributes, run, argument);
}

// Memory comes from the C library by names of its own, as dlsym allocates, too.

void* malloc(size_t size) {
  FAIL_IF_HIT(kMalloc, nullptr);
  return __libc_malloc(size);
}

void* calloc(size_t count, size_t size) {
  FAIL_IF_HIT(kMalloc, nullptr);
  return __libc_calloc(count, size);
}

void* realloc(void* data, size_t size) {
  FAIL_IF_HIT(kMalloc, nullptr);
  return __libc_realloc(data, size);
}

void* memalign(size_t alignment, size_t size) {
  FAIL_IF_HIT(kMalloc, nullptr);
  return __libc_memalign(alignment, size);
}

void* aligned_alloc(size_t alignment, size_t size) {
  FAIL_IF_HIT(kMalloc, nullptr);
  return __libc_memalign(alignment, size);
}

int posix_memalign(void** data, size_t alignment, size_t size) {
  if (Hit(kMalloc, CALLER)) return ENOMEM;
  *data = __libc_memalign(alignment, size);
  return *data == nullptr ? ENOMEM : 0;
}

}  // extern "C"

#define NEW_OR_THROW(size, allocated)            \
  if (Hit(kNew, CALLER)) throw std::bad_alloc(); \
  void* const data = allocated;                  \
  if (data == nullptr) throw std::bad_alloc();   \
  return data;

void* operator new(size_t size) { NEW_OR_THROW(size, __libc_malloc(size ? size : 1)) }
void* operator new[](size_t size) { NEW_OR_THROW(size, __libc_malloc(size ? size : 1)) }
void* operator new(size_t size, std::align_val_t to) {
  NEW_OR_THROW(size, __libc_memalign(static_cast<size_t>(to), size ? size : 1))
}
void* operator new[](size_t size, std::align_val_t to) {
  NEW_OR_THROW(size, __libc_memalign(static_cast<size_t>(to), size ? size : 1))
}
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return Hit(kNew, CALLER) ? nullptr : __libc_malloc(size ? size : 1);
}
void* operator new[](size_t size, const std::nothrow_t&) noexcept {
  return Hit(kNew, CALLER) ? nullptr : __libc_malloc(size ? size : 1);
}
void operator delete(void* data) noexcept { std::free(data); }
void operator delete[](void* data) noexcept { std::free(data); }
void operator delete(void* data, size_t) noexcept { std::free(data); }
void operator delete[](void* data, size_t) noexcept { std::free(data); }
void operator delete(void* data, std::align_val_t) noexcept { std::free(data); }
void operator delete[](void* data, std::align_val_t) noexcept { std::free(data); }
void operator delete(void* data, size_t, std::align_val_t) noexcept { std::free(data); }
void operator delete[](void* data, size_t, std::align_val_t) noexcept { std::free(data); }
