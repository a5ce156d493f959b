// The input of a stream: its files, and how to read them.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/status.h"
#include "framing/format.h"
#include "framing/open.h"
#include "framing/reader.h"
#include "io/remote_file.h"
#include "io/source.h"
#include "seek/checkpoints.h"

namespace tfr {

// A part of a file: the records that begin in [begin.offset, end), in uncompressed bytes. Both lie between records.
struct FilePart {
  Place begin;
  int64_t end = 0;
  CheckpointsPtr checkpoints = nullptr;  // of a compressed file
};

// Size and time of a file when it was listed, to notice a change.
struct FileStamp {
  int64_t bytes = 0;
  int64_t modified = 0;  // nanoseconds since 1970
};

struct InputFile {
  std::shared_ptr<const std::string> path;  // named in errors; opened if `open` is empty
  // For inputs that are not files: called, and its source read, on the consumer's thread only.
  std::function<Status(std::unique_ptr<Source>*)> open;
  // For what is read through the stream's queue of fetches.
  std::optional<RemoteObject> object;
  // Only this is read.
  std::optional<FilePart> part;
  // The file has to be this one still when it is opened.
  std::optional<FileStamp> stamp;

  // The first record that is read, of those from `start` on.
  Place First(Place start) const { return part && start.offset < part->begin.offset ? part->begin : start; }
};

// Handling of damage in a file. Errors of the system (kIoError) are always raised.
enum class OnCorrupt : uint8_t {
  kRaise,
  kSkip,      // drop what is damaged and continue with the next intact record
  kSkipFile,  // drop the rest of the file
};

struct LaneOptions {
  CompressionChoice compression;
  bool verify_data = true;
  uint64_t max_record_bytes = kMaxRecordBytes;  // a header that claims more is damage
  OnCorrupt on_corrupt = OnCorrupt::kRaise;
  size_t chunk_bytes = 512 << 10;
  bool keep_checkpoints = false;  // there are fewer files than threads, which read a compressed file faster next time
  // Only every `keep_divisor`-th record of a file is handed on, and only its data is checked: those whose index plus
  // the file's number leave `keep_remainder`. The number is added so that parts of many small files come out even.
  int64_t keep_divisor = 1;
  int64_t keep_remainder = 0;
};

}  // namespace tfr
