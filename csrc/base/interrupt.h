// The one place where the core asks its host whether to go on.

#ifndef TFRECORD_FAST_BASE_INTERRUPT_H_
#define TFRECORD_FAST_BASE_INTERRUPT_H_

#include "base/status.h"

namespace tfr {

// Called when a blocking call was interrupted by a signal, and now and then during long work; a status that is not OK
// gives the work up. Without a hook the core always goes on.
using InterruptHook = Status (*)();
void SetInterruptHook(InterruptHook hook);
Status CheckInterrupt();

}  // namespace tfr

#endif  // TFRECORD_FAST_BASE_INTERRUPT_H_
