// <signal.h> with the functions that macOS defines as macros; see .ci/clang.

#pragma once

#include_next <signal.h>

#define sigaddset(set, signal) ((sigaddset)(set, signal))
#define sigdelset(set, signal) ((sigdelset)(set, signal))
#define sigemptyset(set) ((sigemptyset)(set))
#define sigfillset(set) ((sigfillset)(set))
#define sigismember(set, signal) ((sigismember)(set, signal))
