// The record stream as Python sees it: options and state from Python values, and the lock for several threads.

#pragma once

#include <pybind11/pybind11.h>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "bindings/call_lock.h"
#include "bindings/python_io.h"
#include "pipeline/parse_ahead.h"
#include "pipeline/shard_stream.h"

namespace tfr {

// Files, and what they hold of Python's.
struct PythonFiles {
  std::vector<InputFile> files;
  std::shared_ptr<PythonReferences> references = std::make_shared<PythonReferences>();
};

// Wraps a transform's output as Python columns, of the same types as `plan.parse`. Needs the GIL.
using ColumnWrapper = std::function<pybind11::object(const void*)>;

// Parsing as the transform of a stream, by `plan`, a _core.ExamplePlan or a _core.SequencePlan. `keeps_batch`: the
// stream delivers the batch too, for errors that are found when results are made from the columns. `seed` is for the
// crops of images.
struct StreamParser {
  Transform transform;
  ColumnWrapper wrap;
};
StreamParser StreamParserOf(pybind11::handle plan, bool keeps_batch, uint64_t seed);

// A stream that several Python threads may ask in turn. All is called with the GIL; the lock is only taken without.
class SharedStream {
 public:
  SharedStream(PythonFiles files, const StreamOptions& options, const StreamState& state, ColumnWrapper wrap,
               std::shared_ptr<ParseAhead> ahead)
      : wrap_(std::move(wrap)),
        ahead_(std::move(ahead)),
        references_(std::move(files.references)),
        stream_(std::move(files.files), options, state) {}

  // An error is also set in Python. A file object that calls this while it is read by it gets an error, not a deadlock.
  // kFailed: another call may still get a batch.
  enum class Next : uint8_t { kDelivered, kEnd, kFailed, kFailedAtEnd };
  Next TakeNext(Delivered* delivered);
  // The Python objects that the stream holds.
  PythonReferences& references() const { return *references_; }
  // True if the stream may be destroyed while the interpreter ends: nothing that it reads is Python's.
  bool native() const { return references_->empty(); }
  // Makes Python columns of what the stream's plan made of a batch; null if the stream has no plan.
  const ColumnWrapper& wrap() const { return wrap_; }
  // Null if the stream has a plan.
  const std::shared_ptr<ParseAhead>& ahead() const { return ahead_; }
  // The state after the batch that Next gave last, and what was skipped before that batch.
  StreamState State();
  std::vector<Sequence::SkippedIn> TakeSkipped();

 private:
  const ColumnWrapper wrap_;
  const std::shared_ptr<ParseAhead> ahead_;
  const std::shared_ptr<PythonReferences> references_;
  CallLock lock_{"the reader", CallLock::AfterFork::kUsable};
  ShardStream stream_;
};

// When the stream is destroyed, its threads are joined without the GIL, which others may want meanwhile. If `parser` is
// empty, batches are parsed ahead in the way in which the consumer parses them.
std::shared_ptr<SharedStream> NewStream(PythonFiles files, StreamOptions options, const StreamState& state,
                                        StreamParser parser);

// True if every element is a str of ASCII that names one file as it is: no pattern, no URL.
bool ArePlainPaths(const pybind11::list& files);
// A file is a plain path, or an object with `name`, in bytes, `opener` and `object` (CoreFile in
// tfrecord_fast/files/streams/core_files.py). Without either, the file of that name is opened. `opener` is an argument
// of OpenerOfPython; `object` has `number` and `size`: which of the queue's objects it is, and its bytes, or None.
PythonFiles FilesOf(const pybind11::sequence& files);
// Takes the field names of StreamOptions and its members; a missing option keeps its default.
StreamOptions OptionsOf(const pybind11::dict& values);

// Converts to a dict of ints and lists, ready for JSON, and back.
pybind11::dict StateToPython(const StreamState& state);
StreamState StateOfPython(const pybind11::dict& values);

}  // namespace tfr
