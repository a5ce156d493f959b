// The record stream as Python sees it: options and state from Python values, and the lock for several threads.

#ifndef TFRECORD_FAST_BINDINGS_STREAM_H_
#define TFRECORD_FAST_BINDINGS_STREAM_H_

#include <pybind11/pybind11.h>

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/process.h"
#include "bindings/parse.h"
#include "bindings/parse_ahead.h"
#include "pipeline/shard_stream.h"

namespace tfr {

// A stream that several Python threads may ask in turn. All is called with the GIL; the lock is only taken without.
class SharedStream {
 public:
  SharedStream(std::vector<InputFile> files, const StreamOptions& options, const StreamState& state, ColumnWrapper wrap,
               std::shared_ptr<ParseAhead> ahead)
      : wrap_(std::move(wrap)), ahead_(std::move(ahead)), stream_(std::move(files), options, state) {}

  // False with a Python error set.
  bool Next(Delivered* delivered);
  // Makes Python columns of what the stream's plan made of a batch; null where the stream has no plan.
  const ColumnWrapper& wrap() const { return wrap_; }
  // Where the stream has no plan.
  const std::shared_ptr<ParseAhead>& ahead() const { return ahead_; }
  // What the caller of Next got last, the state behind it and what was skipped before it, are read together.
  StreamState State();
  std::vector<Sequence::SkippedIn> TakeSkipped();

 private:
  const ColumnWrapper wrap_;
  const std::shared_ptr<ParseAhead> ahead_;
  std::unique_lock<std::mutex> Lock();
  std::mutex mutex_;
  const uint64_t generation_ = ForkGeneration();
  ShardStream stream_;
};

// Joining the stream's threads must not hold up others who want the GIL: it is let go meanwhile.
// `parser` may be empty: then batches are parsed ahead by what the consumer parses them by.
std::shared_ptr<SharedStream> NewStream(std::vector<InputFile> files, StreamOptions options, const StreamState& state,
                                        StreamParser parser);

// Whether every element is a str of ASCII that names one file as it stands: no pattern, no URL.
bool ArePlainPaths(const pybind11::list& files);
// A file is a plain path, or (name as bytes, None), which is opened too, or (name as bytes, opener); see OpenerOfPython.
std::vector<InputFile> FilesOf(const pybind11::sequence& files);
// By the names of StreamOptions and what it holds; what is not given keeps its default.
StreamOptions OptionsOf(const pybind11::dict& values);

// As a dict of ints and lists, ready for JSON, and back.
pybind11::dict StateToPython(const StreamState& state);
StreamState StateOfPython(const pybind11::dict& values);

}  // namespace tfr

#endif  // TFRECORD_FAST_BINDINGS_STREAM_H_
