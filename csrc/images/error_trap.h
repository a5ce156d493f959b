// Errors of libjpeg and libpng, which leave a call by a jump.

#pragma once

#include <setjmp.h>

#include <cstddef>
#include <cstring>

namespace tfr {

class ErrorTrap {
 public:
  // Calls the library, and returns false if it failed. `calls` must create nothing that has a destructor.
  template <typename Calls>
  bool Run(const Calls& calls) {
    if (_setjmp(jump_) != 0) return false;  // which, unlike setjmp, saves no signal mask on any system
    calls();
    return true;
  }

  // For the library's error handler, inside of Run.
  [[noreturn]] void Fail(const char* message) {
    std::strncpy(message_, message, sizeof message_ - 1);
    _longjmp(jump_, 1);
  }

  // The last failure.
  const char* message() const { return message_; }

 private:
  jmp_buf jump_;
  char message_[256] = {};
};

}  // namespace tfr
