// Reads one stream of frames in chunks: large reads into pooled buffers, records as views into them.

#ifndef TFRECORD_FAST_FRAMING_READER_H_
#define TFRECORD_FAST_FRAMING_READER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/buffer.h"
#include "base/records.h"
#include "base/status.h"
#include "io/source.h"

namespace tfr {

// A run of records that follow each other in one stream, and the buffer they lie in.
struct Chunk {
  std::vector<Bytes> records;
  Owner buffer;
  size_t buffer_bytes = 0;   // what it holds of memory
  int64_t first_index = 0;   // index in its stream of records[0]
  int64_t first_offset = 0;  // uncompressed offset of the header of records[0]

  int64_t OffsetOf(size_t i) const;  // of the header of records[i]; i may be records.size()
};

// The errors of framing, worded alike wherever they are found. `remaining` is -1 where it is not known.
Status BadHeader(int64_t offset, int64_t index);
Status BadData(int64_t offset, int64_t index, size_t size);
Status TooLarge(int64_t offset, int64_t index, uint64_t length);
Status Truncated(int64_t offset, int64_t index, const uint8_t* rest, size_t size);

// Checks the data of a chunk's records. At the first that is damaged it cuts the chunk short and returns the error.
Status VerifyChunk(Chunk* chunk);

class RecordReader {
 public:
  struct Options {
    bool verify_data = true;  // headers are always checked
    size_t chunk_bytes = 512 << 10;
  };
  // `frames` gives uncompressed bytes. The pool must outlive the reader.
  RecordReader(std::unique_ptr<Source> frames, BufferPool* pool, const Options& options);

  // The next records: *chunk gets at least one, or none at the clean end, which may be asked for again (a file
  // that grew goes on). A status that is not OK may come with records that precede the damage. Errors carry
  // offset and record index, not the path.
  Status Next(Chunk* chunk);

 private:
  Status MakeRoom();
  Status Fill(size_t* got);

  std::unique_ptr<Source> frames_;
  BufferPool* pool_;
  Options options_;
  std::shared_ptr<Buffer> buffer_;
  size_t begin_ = 0;  // the part of buffer_ that is read but not handed on: [begin_, end_)
  size_t end_ = 0;
  int64_t offset_ = 0;  // of begin_ in the stream
  int64_t index_ = 0;   // of the record that starts there
  Status failed_;       // what the source said last; it is not asked again
};

}  // namespace tfr

#endif  // TFRECORD_FAST_FRAMING_READER_H_
