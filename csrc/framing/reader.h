// Reads one stream of frames in chunks: large reads into pooled buffers, records as views into them.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/buffer.h"
#include "base/records.h"
#include "base/status.h"
#include "framing/format.h"
#include "framing/search.h"
#include "io/source.h"

namespace tfr {

// A record's place in its stream.
struct Place {
  int64_t offset = 0;  // of its header, in uncompressed bytes
  int64_t index = 0;   // how many records come before it
};

// Records of one stream, in order, and the buffer they lie in.
struct Chunk {
  std::vector<Bytes> records;
  Owner buffer;
  size_t buffer_bytes = 0;          // how much memory it holds
  const uint8_t* origin = nullptr;  // where in the buffer the stream's byte `origin_offset` lies
  int64_t origin_offset = 0;
  Place end;                     // after everything that the chunk was cut from
  int64_t first_index = 0;       // of records[0]
  int64_t stride = 1;            // from one record's index to the next
  std::vector<int64_t> indices;  // of each record, if they are not evenly spaced; else empty

  // Place of records[i], or of the bytes after the chunk if i is records.size().
  Place PlaceOf(size_t i) const;

  // Keeps the records whose index leaves `remainder` when divided by `divisor`.
  void KeepEvery(int64_t divisor, int64_t remainder);
};

// A damaged stretch that was skipped.
struct Skipped {
  int64_t offset = 0;  // in uncompressed bytes
  int64_t bytes = 0;   // -1 if that can't be known
  std::string reason;
};

// The errors of framing, with the same words wherever they are found. `remaining` is -1 if it is not known.
Status BadHeader(int64_t offset, int64_t index);
Status BadData(int64_t offset, int64_t index, size_t size);
Status TooLarge(int64_t offset, int64_t index, uint64_t length, uint64_t most);
Status Truncated(int64_t offset, int64_t index, const uint8_t* rest, size_t size);

// Checks the data of a chunk's records. At the first damaged one it cuts the chunk short and returns the error; given
// a list to note them in, it takes the damaged ones out of the chunk instead.
Status VerifyChunk(Chunk* chunk, std::vector<Skipped>* skipped = nullptr);

class RecordReader {
 public:
  struct Options {
    size_t chunk_bytes = 512 << 10;
    uint64_t most = kMaxRecordBytes;               // of one record; a header that claims more is damage
    const std::atomic<bool>* cancelled = nullptr;  // ends Resume early: kCancelled
  };
  // `frames` yields uncompressed bytes, starting with the record whose place is `begin`. The pool must outlive the
  // reader.
  RecordReader(std::unique_ptr<Source> frames, BufferPool* pool, const Options& options, Place begin = {});

  // The next records, with headers checked and data not (VerifyChunk does that): *chunk gets at least one, or none at a
  // clean end, or none and a status that is not OK. After a clean end Next may be called again, since the file may have
  // grown. Errors carry offset and record index, not the path.
  Status Next(Chunk* chunk);

  // After Next gave no record and returned kDataLoss: skips the damage up to the next intact record, or to the end, and
  // notes what was lost. If the stream itself is broken, it is read on where that is possible (Source::SkipDamage).
  Status Resume(const std::string& reason, std::vector<Skipped>* skipped);

 private:
  Status Held(Chunk* chunk);
  Status CheckClaim() const;
  Status MakeRoom(uint64_t wanted);
  Status Grow(size_t capacity);
  Status NoRoom(size_t capacity) const;
  Status Fill(size_t* got);
  void Drop(size_t bytes);
  class Searched;

  std::unique_ptr<Source> frames_;
  BufferPool* pool_;
  Options options_;
  std::shared_ptr<Buffer> buffer_;
  bool shared_ = false;  // a chunk holds buffer_ too, or did
  size_t begin_ = 0;     // the part of buffer_ that is read but not passed on: [begin_, end_)
  size_t end_ = 0;
  Place place_;    // of begin_ in the stream
  Status failed_;  // the source's last status; the source is not read again
  RecordSearch search_;
};

}  // namespace tfr
