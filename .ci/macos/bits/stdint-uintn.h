// glibc's header with uint64_t as on macOS, a type other than size_t; see .ci/clang.

#pragma once

typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
