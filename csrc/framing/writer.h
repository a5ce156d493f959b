// Writes records as frames into a sink.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/records.h"
#include "base/status.h"
#include "framing/format.h"
#include "io/sink.h"

namespace tfr {

// Holds frames back until a buffer is full. After a failure every later call returns the same failure: what
// the file holds by then is not known. Not safe to use from several threads at the same time.
class RecordWriter {
 public:
  explicit RecordWriter(std::unique_ptr<Sink> sink, size_t buffer_bytes = 512 << 10);

  Status Write(const Bytes* records, size_t count);
  // `frames` holds `count` records with their headers and footers.
  Status WriteFrames(Bytes frames, size_t count);
  // True if a record of this size would go to the buffer only: writing it costs a copy and a CRC, no I/O.
  bool FitsBuffer(size_t size) const { return size + kFrameBytes <= buffer_.size() - used_ && size < kLargeRecord; }
  // When this returns OK, everything written so far can be read by others.
  Status Flush();
  // Flushes and closes the file, whether or not flushing succeeds. Only the first call does anything.
  Status Close();
  bool closed() const { return sink_ == nullptr; }
  bool failed() const { return !failed_.ok(); }
  // From now on every call fails: a batch was not written whole.
  void Fail(const Status& status) { failed_ = status; }
  // See Sink.
  bool caller_only() const { return sink_ != nullptr && sink_->caller_only(); }

  int64_t records_written() const { return records_written_; }

 private:
  // A record of at least this size goes to the sink directly, without a copy into the buffer.
  static constexpr size_t kLargeRecord = 64 << 10;

  Status WriteLarge(Bytes record);
  Status Drain();
  Status ToSink(const Bytes* parts, size_t count);
  // Remembers a failure.
  Status Keep(Status status);

  std::unique_ptr<Sink> sink_;
  std::vector<uint8_t> buffer_;
  size_t used_ = 0;
  int64_t records_written_ = 0;
  Status failed_;
};

}  // namespace tfr
