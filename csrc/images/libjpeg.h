// libjpeg, which needs other headers first, and its errors.

#pragma once

// clang-format off
#include <cstddef>
#include <cstdio>
#include <jpeglib.h>
// clang-format on

#include "images/error_trap.h"

namespace tfr {

// Makes *errors send errors to a trap, and drop warnings. To be set before the struct is created.
template <typename Struct>
void SetTrap(Struct* info, jpeg_error_mgr* errors, ErrorTrap* trap) {
  info->err = jpeg_std_error(errors);
  info->client_data = trap;
  errors->error_exit = [](j_common_ptr common) {
    char message[JMSG_LENGTH_MAX];
    common->err->format_message(common, message);
    static_cast<ErrorTrap*>(common->client_data)->Fail(message);
  };
  errors->emit_message = [](j_common_ptr, int) {};
  errors->output_message = [](j_common_ptr) {};
}

}  // namespace tfr
