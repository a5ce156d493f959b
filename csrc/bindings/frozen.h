// Bytes that no one can write to while several passes over them are made: parsing counts before it fills, and framing
// takes a check sum before it copies.

#ifndef TFRECORD_FAST_BINDINGS_FROZEN_H_
#define TFRECORD_FAST_BINDINGS_FROZEN_H_

#include <pybind11/pybind11.h>

#include "base/records.h"

namespace tfr {

// *bytes are those of a Python object, which *owner keeps. They become those of a copy, unless they are a bytes
// object's, a str's or our own, in place or through a memoryview. Being read-only is not enough, since what a view may
// not write, others may.
void Freeze(pybind11::handle object, Bytes* bytes, Owner* owner);

}  // namespace tfr

#endif  // TFRECORD_FAST_BINDINGS_FROZEN_H_
