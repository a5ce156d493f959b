// Parsing inside a stream, for the bindings of streams.

#pragma once

#include <pybind11/pybind11.h>

#include <functional>
#include <memory>

#include "parse/parse.h"
#include "pipeline/shard_stream.h"

namespace tfr {

// Wraps a transform's output as Python columns, of the same types as `plan.parse`. Needs the GIL.
using ColumnWrapper = std::function<pybind11::object(const void*)>;

// Parsing as the transform of a stream, by `plan`, a _core.ExamplePlan or a _core.SequencePlan. `keeps_batch`: the
// stream delivers the batch too, for errors that are found when results are made from the columns.
struct StreamParser {
  Transform transform;
  ColumnWrapper wrap;
};
StreamParser StreamParserOf(pybind11::handle plan, bool keeps_batch);

}  // namespace tfr
