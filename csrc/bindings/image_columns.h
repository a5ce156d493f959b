// Columns of images, from Python's arguments to Python's arrays.

#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <vector>

#include "images/image_spec.h"
#include "parse/columns.h"
#include "parse/image_columns.h"
#include "pipeline/sequence.h"

namespace tfr {

void BindImageSpec(pybind11::module_& m);

// An array [rows, height, width, channels], or a list of arrays if images have their own sizes.
pybind11::object WrapImages(const ImageSpec& spec, const Column& column, size_t rows);

// How a reader reports the record: its place, the bytes of its frame, and the reason.
Sequence::SkippedIn SkippedOf(const LostImage& image);
// The same as tuples (path, offset, bytes, reason), appended to a list.
void AppendLost(const std::vector<LostImage>& images, const pybind11::object& list);

}  // namespace tfr
