// Memory of columns of the layout kFixed, and of groups of them.

#pragma once

#include <vector>

#include "base/status.h"
#include "parse/columns.h"
#include "parse/row_writer.h"
#include "parse/schema.h"

namespace tfr {

// Makes the schema's fixed arrays, for the rows of `columns`, and points the features' targets to their places in them.
Status AllocateFixed(const Schema& schema, Columns* columns, std::vector<ColumnTarget>* targets);

// Points the targets of an array's features to their places in it; it begins at `data`.
void PointTo(const FixedArray& array, uint8_t* data, ColumnTarget* targets);

}  // namespace tfr
