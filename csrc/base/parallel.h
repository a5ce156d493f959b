// Runs numbered tasks on a few threads, which are kept for the next call, and waits for them.

#ifndef TFRECORD_FAST_BASE_PARALLEL_H_
#define TFRECORD_FAST_BASE_PARALLEL_H_

#include <cstddef>
#include <functional>

namespace tfr {

// 0 stands for as many as this process may run on; at least 1.
size_t ResolveThreads(size_t num_threads);

// Calls run(0) … run(tasks - 1), each once, on at most `num_threads` threads, the caller's among them. Tasks are taken
// in ascending order; which thread takes which is left open. Returns when all have ended. `run` must not throw.
void ParallelFor(size_t tasks, size_t num_threads, const std::function<void(size_t)>& run);

}  // namespace tfr

#endif  // TFRECORD_FAST_BASE_PARALLEL_H_
