// The one place where the core asks its host whether to continue.

#ifndef TFRECORD_FAST_BASE_INTERRUPT_H_
#define TFRECORD_FAST_BASE_INTERRUPT_H_

#include "base/status.h"

namespace tfr {

// Called when a blocking call was interrupted by a signal, and now and then during long work; a status that is not OK
// stops the work. Without a hook the core always continues.
using InterruptHook = Status (*)();
void SetInterruptHook(InterruptHook hook);
Status CheckInterrupt();

// Called first by each thread of the core's own. From now on CheckInterrupt on this thread never asks, since the host
// does not know it: whoever waits for its work stops it. And the C++ library makes what the thread needs to throw: if
// that came as late as the first std::bad_alloc, there would be no memory for it, and the C library would end the
// process.
void BeginCoreThread();

}  // namespace tfr

#endif  // TFRECORD_FAST_BASE_INTERRUPT_H_
