// What other binding files need of the parser: a plan made in Python, and columns made Python.

#ifndef TFRECORD_FAST_BINDINGS_PARSE_H_
#define TFRECORD_FAST_BINDINGS_PARSE_H_

#include <pybind11/pybind11.h>

#include <memory>

#include "parse/parse.h"

namespace tfr {

// The plan behind a _core.ExamplePlan; it may be used without the GIL and outlives the Python object. Null if
// `object` is something else.
std::shared_ptr<ExamplePlan> UnwrapExamplePlan(pybind11::handle object);

// The columns as ExamplePlan.parse gives them (tfrecord_fast/_plans.py, _Columns.batch, makes the dict of results of
// them). Needs the GIL.
pybind11::list WrapColumns(const Schema& schema, const Columns& columns);

}  // namespace tfr

#endif  // TFRECORD_FAST_BINDINGS_PARSE_H_
