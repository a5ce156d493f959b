// State for parsing one Example after another, each alone.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "parse/example_parser.h"
#include "parse/schema.h"

namespace tfr {

// Values of fixed features are in `targets`, those of lists in `parser`.
struct SingleExample {
  explicit SingleExample(const SchemaPtr& schema);
  SingleExample(const SingleExample&) = delete;
  SingleExample& operator=(const SingleExample&) = delete;

  ExampleParser parser;
  std::vector<ColumnTarget> targets;

 private:
  std::vector<uint64_t> fixed_;
  std::vector<int64_t> ends_;
};

}  // namespace tfr
