// Where the records of a file are: their offsets and sizes, and how that is found out, written down and read again.
//
// The text form is that of tfrecord2idx, one line per record: "offset size\n", both decimal; the size includes the 16
// bytes of the frame (docs/format.md). The index of a compressed file has offsets of the uncompressed bytes, and
// checkpoints (seek/checkpoints.h); it has a form of its own, with a checksum.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/records.h"
#include "base/status.h"
#include "io/remote_file.h"
#include "seek/checkpoints.h"

namespace tfr {

class RecordIndex;
using RecordIndexPtr = std::shared_ptr<const RecordIndex>;

// Immutable. Record i is the frame [offsets[i], offsets[i] + sizes[i]) of the file; frames stand in ascending order
// and do not overlap, but there may be others between them: an index may leave records out.
class RecordIndex {
 public:
  // kInvalidArgument, naming the first record concerned, if no file can have these sizes or this order.
  static Status Make(std::vector<int64_t> offsets, std::vector<int64_t> sizes, RecordIndexPtr* index);

  size_t size() const { return offsets_.size(); }
  const std::vector<int64_t>& offsets() const { return offsets_; }
  const std::vector<int64_t>& sizes() const { return sizes_; }
  // Null if the file is not compressed.
  const CheckpointsPtr& checkpoints() const { return checkpoints_; }
  // Where the last frame ends: the file has at least this many bytes.
  int64_t end() const { return offsets_.empty() ? 0 : offsets_.back() + sizes_.back(); }

 private:
  friend class IndexBuilder;
  RecordIndex(std::vector<int64_t> offsets, std::vector<int64_t> sizes, CheckpointsPtr checkpoints)
      : offsets_(std::move(offsets)), sizes_(std::move(sizes)), checkpoints_(std::move(checkpoints)) {}

  std::vector<int64_t> offsets_;
  std::vector<int64_t> sizes_;
  CheckpointsPtr checkpoints_;
};

// Takes records one by one, in the order of the file.
class IndexBuilder {
 public:
  // Adds this frame, and returns ""; or describes what is wrong with it.
  std::string Add(int64_t offset, int64_t size);
  size_t size() const { return offsets_.size(); }
  RecordIndexPtr Finish(CheckpointsPtr checkpoints = nullptr);

 private:
  std::vector<int64_t> offsets_;
  std::vector<int64_t> sizes_;
  int64_t end_ = 0;
};

// Hops from header to header to the end of a file; their CRCs are checked. kDataLoss with offset and record index if
// the file is damaged or cut, or a header claims more than max_record_bytes (at most kMaxRecordBytes,
// framing/format.h); kInvalidArgument if it is not a regular file. A compressed file is decompressed once, with a
// checkpoint after every `spacing` bytes of output; with a spacing of 0 it is kInvalidArgument.
Status BuildIndex(const std::string& path, uint64_t max_record_bytes, int64_t spacing, RecordIndexPtr* index);

// Reads either form. kInvalidArgument, with the number of the first line that is wrong in a text.
Status LoadIndex(const std::string& path, RecordIndexPtr* index);

// Writes the index. The file appears under its name when it is complete.
Status SaveIndex(const RecordIndex& index, const std::string& path);

// One of many: built from the file, or the object, or loaded if there is an `index_path`.
struct IndexOrigin {
  std::string path;
  std::optional<std::string> index_path;
  std::optional<RemoteObject> object = std::nullopt;
};

// The same for an object. It is read whole, block after block, unless its records are very large.
Status BuildIndex(const IndexOrigin& origin, const std::shared_ptr<FetchQueue>& fetches, uint64_t max_record_bytes,
                  RecordIndexPtr* index);

// Reads either form from memory.
Status ParseIndex(Bytes bytes, RecordIndexPtr* index);

// The form of an index with checkpoints, which begins with kPackedMagic.
constexpr std::string_view kPackedMagic = "TFRINDEX";
Status PackIndex(const RecordIndex& index, std::string* bytes);
Status UnpackIndex(std::string_view bytes, RecordIndexPtr* index);

// All of them, on up to `num_threads` threads; the error is that of the first file that has one. max_record_bytes: as
// for BuildIndex.
// `fetches`: for objects; null if there are none. Without `inflate`, a compressed file is kInvalidArgument.
Status OpenIndexes(const std::vector<IndexOrigin>& origins, uint64_t max_record_bytes, size_t num_threads,
                   const std::shared_ptr<FetchQueue>& fetches, bool inflate, std::vector<RecordIndexPtr>* indexes);

}  // namespace tfr
