// Tells a process from the one that it was forked from.

#ifndef TFRECORD_FAST_BASE_PROCESS_H_
#define TFRECORD_FAST_BASE_PROCESS_H_

#include <cstdint>

namespace tfr {

// How many forks lie between the process that loaded the library and this one. Costs a load, unlike getpid(). What
// was made in another generation has no threads here, and its locks may be held by nobody.
uint64_t ForkGeneration();

}  // namespace tfr

#endif  // TFRECORD_FAST_BASE_PROCESS_H_
