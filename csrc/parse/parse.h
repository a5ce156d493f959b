// Batches of serialized Examples and SequenceExamples to columns.
//
// Semantics: tf.io.parse_example and tf.io.parse_sequence_example, except for what docs/differences.md lists. Nothing
// here needs Python, and every function may run on any thread.

#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "base/parallel.h"
#include "base/process.h"
#include "base/records.h"
#include "base/status.h"
#include "images/image_maker.h"
#include "parse/columns.h"
#include "parse/example_parser.h"
#include "parse/schema.h"
#include "parse/sequence_parser.h"

namespace tfr {

// The parsers of a schema, which have learnt the key order of its files: each is lent to one thread at a time, so that
// the next batch starts with what was learnt from the last one. So are the makers of images, which have memory. Safe
// from any thread, and in a forked process.
template <typename Parser>
class ParserPool {
 public:
  // Makes parsers from copies of `make_args`.
  template <typename... Args>
  explicit ParserPool(const Args&... make_args) : make_([=] { return std::make_unique<Parser>(make_args...); }) {}

  std::unique_ptr<Parser> Take() {
    {
      std::lock_guard<ForkSafeMutex> lock(mutex_);
      if (!idle_.empty()) {
        std::unique_ptr<Parser> parser = std::move(idle_.back());
        idle_.pop_back();
        return parser;
      }
    }
    return make_();
  }

  void GiveBack(std::unique_ptr<Parser> parser) {
    std::lock_guard<ForkSafeMutex> lock(mutex_);
    if (idle_.size() < kMaxIdle) idle_.push_back(std::move(parser));
  }

 private:
  static constexpr size_t kMaxIdle = 64;
  std::function<std::unique_ptr<Parser>()> make_;
  ForkSafeMutex mutex_;  // guards idle_
  std::vector<std::unique_ptr<Parser>> idle_;
};

// A plan for parsing Examples.
struct ExamplePlan {
  using Parsed = Columns;
  explicit ExamplePlan(SchemaPtr wanted) : schema(std::move(wanted)), parsers(schema), image_makers(schema->size()) {
    for (size_t f = 0; f < schema->size(); ++f) {
      if (const auto& image = schema->features()[f].image) {
        image_makers[f] = std::make_unique<ParserPool<ImageMaker>>(*image);
      }
    }
  }
  SchemaPtr schema;
  ParserPool<ExampleParser> parsers;
  std::vector<std::unique_ptr<ParserPool<ImageMaker>>> image_makers;  // by feature; null for those without images
  std::atomic<size_t> list_bytes{0};  // what all lists' values took per row in the last batch; a guess
};

// The columns of SequenceExamples: those of their contexts, and those of their feature lists.
struct SequenceColumns {
  Columns context, lists;
};

// A plan for parsing SequenceExamples: their context and their feature lists.
struct SequencePlan {
  using Parsed = SequenceColumns;
  SequencePlan(SchemaPtr of_context, SchemaPtr of_lists)
      : context(std::move(of_context)), lists(std::move(of_lists)), parsers(context, lists), longest(lists->size()) {}
  SchemaPtr context;
  SchemaPtr lists;
  ParserPool<SequenceParser> parsers;
  std::vector<std::atomic<size_t>> longest;  // by feature list: the steps of the last batch's longest row; a guess
};

// Fills *columns, one per feature of the schema. Uses up to `num_threads` threads (0: as many as there are cores), and
// fewer for a small batch; the result is the same with any number. The error of the earliest bad row wins.
Status ParseBatch(const RecordBatch& batch, ExamplePlan& plan, size_t num_threads, Columns* columns);
Status ParseBatch(const RecordBatch& batch, SequencePlan& plan, size_t num_threads, SequenceColumns* columns);

// Like the above; shares the batch with the crew if it is large enough to be worth it.
Status ParseBatch(const RecordBatch& batch, ExamplePlan& plan, Crew* crew, Columns* columns);
Status ParseBatch(const RecordBatch& batch, SequencePlan& plan, Crew* crew, SequenceColumns* columns);

inline size_t BytesHeld(const ExamplePlan& plan, const Columns& columns) { return BytesHeld(*plan.schema, columns); }
inline size_t BytesHeld(const SequencePlan& plan, const SequenceColumns& columns) {
  return BytesHeld(*plan.context, columns.context) + BytesHeld(*plan.lists, columns.lists);
}

}  // namespace tfr
