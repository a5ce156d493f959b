// Letting go of the GIL and taking it again, also while the interpreter ends.
//
// Up to CPython 3.13, a thread that wants the GIL while the interpreter ends is unwound by pthread_exit, through frames
// which can't be unwound: destructors, and whatever holds Python objects without the GIL. Such a thread stops here
// instead, for good, as CPython 3.14 does it: the process ends without it.

#pragma once

#include <Python.h>
#include <cxxabi.h>

#include <exception>

#include "base/core_thread.h"

namespace tfr {

// The exception by which pthread_exit unwinds a thread. libc++ does not name it, and its handlers never catch it.
#if defined(__GLIBCXX__)
using ForcedUnwind = abi::__forced_unwind;
#else
class ForcedUnwind {};
#endif

// Never returns, and holds no lock of Python's.
[[noreturn]] void StopThisThread() noexcept;

// True once the interpreter ends or has ended: remaining Python objects are left alone.
bool InterpreterEnds() noexcept;

// Returns call(), which must call Python only and make no C++ object: Python may end this thread, without destructors.
template <typename Call>
auto CallPython(Call call) noexcept {
  try {
    return call();
  } catch (...) {  // Python's functions throw nothing: this is pthread_exit
    StopThisThread();
  }
}

// Releases the GIL while it lives. The code that runs meanwhile may throw, even with no memory left.
class GilReleased {
 public:
  GilReleased() noexcept : state_(PyEval_SaveThread()) { (void)PrepareToThrow(); }
  ~GilReleased() {
    CallPython([this] {
      PyEval_RestoreThread(state_);
      return 0;
    });
  }
  GilReleased(const GilReleased&) = delete;
  GilReleased& operator=(const GilReleased&) = delete;

 private:
  PyThreadState* state_;
};

// Holds the GIL for as long as it lives, in any thread, whether or not the thread holds it already.
class GilHeld {
 public:
  GilHeld() noexcept : state_(CallPython([] { return PyGILState_Ensure(); })) {}
  ~GilHeld() { PyGILState_Release(state_); }
  GilHeld(const GilHeld&) = delete;
  GilHeld& operator=(const GilHeld&) = delete;

 private:
  PyGILState_STATE state_;
};

// Drops Python objects, from any thread. While the interpreter ends they are left as they are.
template <typename Release>
void DropWithGil(Release release) {
  if (InterpreterEnds()) return;
  GilHeld gil;
  release();
}

}  // namespace tfr
