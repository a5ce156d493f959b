// Sinks: where bytes go. Here, a file; a compressor that writes to a sink is a sink too (codec/), and so is a
// Python file object (bindings/).

#pragma once

#include <cstddef>
#include <cstdint>
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
  // All that was written reaches the operating system (or the sink's own target) before this returns OK.
  virtual Status Flush() = 0;
  // Flushes, ends the stream and releases it, whether or not that succeeds. Called once, or not at all: a
  // sink that is only destroyed closes its file and ends nothing.
  virtual Status Close() = 0;
  // True if a write may wait for a reader that may never come, or calls Python. Then it belongs in the thread that
  // called the writer, which is the one that signals reach.
  virtual bool caller_only() const { return false; }
};

class FileSink : public Sink {
 public:
  enum class Open : uint8_t {
    kCreate,  // or cut to nothing
    kAppend,  // create, or append to what is there
    kNew,     // EEXIST if the file exists already
  };
  // kIoError with errno and path if the system refuses. Errors name `shown`, or `path` if that is empty.
  static Status Create(const std::string& path, std::unique_ptr<Sink>* sink, Open mode = Open::kCreate,
                       const std::string& shown = "");
  ~FileSink() override;

  Status Write(const Bytes* parts, size_t count) override;
  Status Flush() override { return {}; }  // nothing is held back here
  Status Close() override;
  bool caller_only() const override { return waits_; }

 private:
  explicit FileSink(std::string path) : path_(std::move(path)) {}

  // Finds out what was opened, and sees to it that no write can wait where signals are not looked for.
  Status Prepare();
  Status WriteParts(const Bytes* parts, size_t count);
  Status WaitUntilWritable();

  int descriptor_ = -1;
  std::string path_;
  bool waits_ = false;  // a pipe, a socket or a device, which is never blocked on
  Status failed_;       // of a write; nothing more is written then
};

}  // namespace tfr
