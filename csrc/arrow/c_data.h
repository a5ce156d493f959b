// The structures of the Arrow C data and C stream interfaces, exactly as these define them:
// https://arrow.apache.org/docs/format/CDataInterface.html and …/CStreamInterface.html.

#pragma once

#include <cstdint>

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema** children;
  struct ArrowSchema* dictionary;
  void (*release)(struct ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  struct ArrowArray** children;
  struct ArrowArray* dictionary;
  void (*release)(struct ArrowArray*);
  void* private_data;
};

struct ArrowStream {
  int (*get_schema)(struct ArrowStream*, struct ArrowSchema* out);
  int (*get_next)(struct ArrowStream*, struct ArrowArray* out);
  const char* (*get_last_error)(struct ArrowStream*);
  void (*release)(struct ArrowStream*);
  void* private_data;
};
