// The objects that one request for records reads: their ranges, close ones together, fetched side by side.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "index/open_files.h"
#include "index/take_plan.h"
#include "io/remote_file.h"

namespace tfr {

// Which files are objects, and where their bytes come from. The sizes of all are known.
struct RemoteObjects {
  std::vector<std::optional<RemoteObject>> objects;  // one for each file, or none at all
  std::shared_ptr<FetchQueue> fetches;               // null without objects

  bool has(size_t file) const { return file < objects.size() && objects[file].has_value(); }
  // The object, of which these ranges will be read.
  std::shared_ptr<RemoteFile> Open(size_t file, std::vector<ByteRange> ranges) const;
};

// Any number of threads may call.
class RemoteTake {
 public:
  // Requests nothing if the plan has no objects.
  RemoteTake(const TakePlan& plan, const RemoteObjects& objects);

  // Null if it is not an object.
  std::shared_ptr<const OpenFile> file(size_t number) const;
  // Asks for as much as there is room for.
  void Continue();
  // Nothing of the block's frames is read again, nor what lies between them and the next ones.
  void Done(size_t block);

 private:
  const TakePlan& plan_;
  std::map<size_t, std::shared_ptr<RemoteFile>> files_;
  std::map<size_t, std::shared_ptr<const OpenFile>> opened_;
  std::shared_ptr<FetchQueue> fetches_;
  std::mutex mutex_;  // lets one thread ask at a time
};

}  // namespace tfr
