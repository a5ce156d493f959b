// Asks for the bytes of objects ahead of the threads that read them, across files, in the order of need.
//
// The objects of a stream are opened here in the order of its epochs, long before there are lanes for them. As many of
// them as are interleaved get the same number of bytes ahead; those after them get the room that is left. The queue
// (io/fetch_queue.h) limits the total.
//
// The thread protocol. One mutex guards everything here. Continue may be called by any thread that holds none of the
// locks of files and queue, which are taken under this one, never the other way round.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "io/fetch_queue.h"
#include "io/remote_file.h"
#include "pipeline/input.h"
#include "pipeline/sequence.h"

namespace tfr {

class ReadAhead : public FetchListener {
 public:
  // Reads ahead the objects among `files`, in the order of their epochs, when the queue has room. Null without a queue,
  // which means without objects.
  static std::shared_ptr<ReadAhead> Start(const std::vector<InputFile>& files, const SequenceOptions& options,
                                          CompressionChoice compression, std::shared_ptr<FetchQueue> queue);
  ReadAhead(const std::vector<InputFile>& files, const SequenceOptions& options, CompressionChoice compression,
            std::shared_ptr<FetchQueue> queue);

  // The files from this place of this epoch on come next; those that a saved state names have been opened. Nothing is
  // requested before.
  void Begin(int64_t epoch, size_t turn);
  // Opens input `file` (an object), which is number `turn` in `epoch`'s order, to be read from `start`.
  std::shared_ptr<RemoteFile> Open(int64_t epoch, size_t turn, size_t file, Place start);
  // An object that is read for itself.
  static std::shared_ptr<RemoteFile> OpenAlone(const InputFile& file, const std::shared_ptr<FetchQueue>& queue);
  // Asks for as much as there is room for.
  void Continue() override;

 private:
  struct Entry {
    int64_t epoch;
    size_t turn;
    std::shared_ptr<RemoteFile> unopened;  // null once it was returned
    std::weak_ptr<RemoteFile> file;
  };
  struct Object {
    std::optional<RemoteObject> object;  // none: a file of the system's
    std::optional<FilePart> part;
  };
  std::shared_ptr<RemoteFile> Make(const Object& input, Place start) const;
  bool Extend();
  void Forget();
  bool AskOne();

  std::vector<Object> objects_;
  const size_t together_;  // how many are read at the same time
  const CompressionChoice compression_;
  const std::shared_ptr<FetchQueue> queue_;

  std::mutex mutex_;  // guards all below
  FileOrder order_;
  std::deque<Entry> entries_;  // by epoch and turn
  int64_t next_epoch_ = 0;     // of the next one to open
  size_t next_turn_ = 0;
  bool begun_ = false;
};

}  // namespace tfr
