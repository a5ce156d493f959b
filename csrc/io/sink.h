// Sinks: where bytes go. A file here; a compressor in front of one is a sink too (codec/), and so is a Python
// file object (bindings/).

#ifndef TFRECORD_FAST_IO_SINK_H_
#define TFRECORD_FAST_IO_SINK_H_

#include <cstddef>
#include <memory>
#include <string>

#include "base/records.h"
#include "base/status.h"

namespace tfr {

class Sink {
 public:
  virtual ~Sink() = default;

  // Writes all bytes of all parts, in order, or fails. After a failure it is not known how many were written.
  virtual Status Write(const Bytes* parts, size_t count) = 0;
  // All that was written reaches the operating system (or whatever is behind) before this returns OK.
  virtual Status Flush() = 0;
  // Flushes, ends the stream and lets go of it, whether or not that succeeds. Called once, or not at all: a
  // sink that is only destroyed closes its file and ends nothing.
  virtual Status Close() = 0;
};

class FileSink : public Sink {
 public:
  // Creates the file or cuts it to nothing. kIoError with errno and path where the system refuses.
  static Status Create(const std::string& path, std::unique_ptr<Sink>* sink);
  ~FileSink() override;

  Status Write(const Bytes* parts, size_t count) override;
  Status Flush() override { return {}; }  // nothing is held back here
  Status Close() override;

 private:
  FileSink(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}

  int descriptor_;
  std::string path_;
};

}  // namespace tfr

#endif  // TFRECORD_FAST_IO_SINK_H_
