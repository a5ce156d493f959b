// Preloaded: the FSTAT_FAILS-th fstat of a file of FSTAT_SIZE bytes fails with EIO (tests/faults/test_failing_fstat.py).

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>

static _Atomic long calls;

static int fails(const struct stat* info) {
  const char* size = getenv("FSTAT_SIZE");
  if (size == NULL || info->st_size != atol(size)) return 0;
  return ++calls == atol(getenv("FSTAT_FAILS"));
}

int fstat(int descriptor, struct stat* info) {
  int (*real)(int, struct stat*) = (int (*)(int, struct stat*))dlsym(RTLD_NEXT, "fstat");
  if (real(descriptor, info) != 0) return -1;
  if (!fails(info)) return 0;
  errno = EIO;
  return -1;
}
