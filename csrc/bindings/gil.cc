// Stops threads that come back to an interpreter which ends; see gil.h.

#include "bindings/gil.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

namespace tfr {

void StopThisThread() noexcept {
  // A signal that is meant for the process should go to a thread that runs.
  sigset_t all;
  (void)sigfillset(&all);  // unqualified: a macro on macOS
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
  while (true) ::pause();
}

bool InterpreterEnds() noexcept {
#if PY_VERSION_HEX >= 0x030d0000
  return !Py_IsInitialized() || Py_IsFinalizing();
#else
  return !Py_IsInitialized() || _Py_IsFinalizing();
#endif
}

}  // namespace tfr
