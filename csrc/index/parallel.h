// Work on several threads that live no longer than the call.

#ifndef TFRECORD_FAST_INDEX_PARALLEL_H_
#define TFRECORD_FAST_INDEX_PARALLEL_H_

#include <cstddef>
#include <functional>

#include "base/status.h"

namespace tfr {

// Calls work(i) for every i of [0, count), each once, from this thread and at most `num_threads - 1` others. After a
// failure nothing new is begun; the error of the lowest i that has one is returned, whatever the timing. Between two
// pieces of work this thread asks now and then whether to go on (CheckInterrupt). `work` must not throw.
Status ParallelFor(size_t count, size_t num_threads, const std::function<Status(size_t)>& work);

}  // namespace tfr

#endif  // TFRECORD_FAST_INDEX_PARALLEL_H_
