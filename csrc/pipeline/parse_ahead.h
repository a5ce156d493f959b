// Parsing ahead: a stream learns from its consumer which plan parses its batches, and parses the next ones on its own
// threads. The consumer finds its columns ready, and never sees columns that it does not ask for.

#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>

#include "base/process.h"
#include "pipeline/shard_stream.h"

namespace tfr {

// One per stream. A plan is known by its address. Columns that were parsed ahead hold their plan, so that no other plan
// can get that address meanwhile.
class ParseAhead {
 public:
  // Called when a batch that had not been parsed ahead was parsed by `plan`.
  void Learn(std::shared_ptr<const void> plan, Transform parser) {
    std::lock_guard<ForkSafeMutex> lock(mutex_);
    if (plan_ != nullptr && unused_ <= kPatience) return;
    plan_.swap(plan);
    parser_.swap(parser);  // the old ones go with the arguments, after the lock
    unused_ = 0;
  }

  // Called when the plan of a batch that was parsed ahead takes its columns.
  void Used() {
    std::lock_guard<ForkSafeMutex> lock(mutex_);
    unused_ = 0;
  }

  bool Wanted() const {
    std::lock_guard<ForkSafeMutex> lock(mutex_);
    return plan_ != nullptr && unused_ <= kPatience;
  }

  struct Result {
    std::shared_ptr<const void> plan;
    std::shared_ptr<void> columns;
  };

  // A stream's transform: the batch stays, with a Result next to it. A record that does not fit is an error only if and
  // when the consumer parses the batch.
  Status Run(const RecordBatch& batch, Crew* crew, Transformed* made) {
    made->keeps_batch = true;
    std::shared_ptr<const void> plan;
    Transform parser;
    {
      std::lock_guard<ForkSafeMutex> lock(mutex_);
      if (plan_ == nullptr) return {};
      plan = plan_;
      parser = parser_;
      ++unused_;
    }
    Transformed columns;
    if (!parser(batch, crew, &columns).ok()) return {};
    made->bytes = columns.bytes;
    made->value = std::make_shared<Result>(Result{std::move(plan), std::move(columns.value)});
    return {};
  }

 private:
  // How many batches are parsed in vain before the plan is given up: more than a stream makes ahead.
  static constexpr size_t kPatience = 32;

  mutable ForkSafeMutex mutex_;  // guards all below
  std::shared_ptr<const void> plan_;
  Transform parser_;
  size_t unused_ = 0;  // batches parsed since one was of use
};

// A batch from a stream carries its stream's ParseAhead, and its columns if they were parsed ahead.
struct ParsedAhead {
  std::shared_ptr<ParseAhead> ahead;
  std::shared_ptr<ParseAhead::Result> result;

  // Gives the columns away, once, if they are `plan`'s; else null.
  std::shared_ptr<void> Take(const void* plan) {
    if (!result || result->plan.get() != plan) return nullptr;
    ahead->Used();
    return std::exchange(result, nullptr)->columns;
  }
};

}  // namespace tfr
