// glibc's header with int64_t as on macOS, a type other than ssize_t's; see .ci/clang.

#pragma once

typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
