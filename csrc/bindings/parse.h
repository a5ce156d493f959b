// What other binding files need of the parser: a plan made in Python, and columns made Python.

#ifndef TFRECORD_FAST_BINDINGS_PARSE_H_
#define TFRECORD_FAST_BINDINGS_PARSE_H_

#include <pybind11/pybind11.h>

#include <functional>
#include <memory>

#include "parse/parse.h"
#include "pipeline/shard_stream.h"

namespace tfr {

// The plan behind a _core.ExamplePlan; it may be used without the GIL and outlives the Python object. Null if
// `object` is something else.
std::shared_ptr<ExamplePlan> UnwrapExamplePlan(pybind11::handle object);

// The columns as ExamplePlan.parse gives them (tfrecord_fast/examples/plans.py, _Columns.batch, makes the dict of results of
// them). Needs the GIL.
pybind11::list WrapColumns(const Schema& schema, const Columns& columns);

// From what a transform made to Python's columns, as the plan's own parse gives them. Needs the GIL.
using ColumnWrapper = std::function<pybind11::object(const void*)>;

// Parsing as the transform of a stream, by an ExamplePlan or a SequencePlan of Python's. `keeps_batch`: the stream
// delivers the batch too, for errors that are found when the columns are put together.
struct StreamParser {
  Transform transform;
  ColumnWrapper wrap;
};
StreamParser StreamParserOf(pybind11::handle plan, bool keeps_batch);

}  // namespace tfr

#endif  // TFRECORD_FAST_BINDINGS_PARSE_H_
