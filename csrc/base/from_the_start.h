// Thread-local memory that a thread has from its start: the first access to other such memory may allocate, and fail.

#pragma once

// musl has all of it from the start, and refuses a library that requests it.
#if defined(__GLIBC__)
#define TFR_FROM_THE_START [[gnu::tls_model("initial-exec")]]
#else
#define TFR_FROM_THE_START
#endif
