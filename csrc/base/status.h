// Status: how every room of the core reports an error, and its place.
//
// A function that can fail returns a Status and writes its result through a pointer. An OK status is a null pointer, so
// success allocates nothing. On the way up, each function adds details: the path, the byte offset, the record
// index. Only bindings/status.cc turns a status into a Python exception.

#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <utility>

namespace tfr {

enum class StatusCode : uint8_t {
  kOk,
  kDataLoss,         // the file is damaged, truncated, or no TFRecord file
  kInvalidArgument,  // a record does not fit the features, or an option is out of range
  kIoError,          // the operating system refused; error_number is its errno
  kClosed,           // use after close()
  kCancelled,        // the reader was stopped
  kOutOfMemory,
};

class [[nodiscard]] Status {
 public:
  struct Detail {
    StatusCode code;
    std::string message;        // what is wrong: expected and got
    std::string path;           // empty if not known
    std::string feature;        // empty if it is not about one feature
    int64_t offset = -1;        // of the record's header, in bytes of the uncompressed stream; -1 if not known
    int64_t record_index = -1;  // of the record in its file, from 0; -1 if not known
    int error_number = 0;       // errno of a kIoError
  };

  Status() = default;
  // Out of memory, if there is none for this.
  Status(StatusCode code, std::string message) noexcept;
  Status(Status&&) noexcept = default;
  Status& operator=(Status&&) noexcept = default;
  Status(const Status& other) noexcept;
  Status& operator=(const Status& other) noexcept {
    if (this != &other) *this = Status(other);
    return *this;
  }

  static Status DataLoss(std::string message) { return {StatusCode::kDataLoss, std::move(message)}; }
  static Status InvalidArgument(std::string message) { return {StatusCode::kInvalidArgument, std::move(message)}; }
  static Status Closed(std::string message) { return {StatusCode::kClosed, std::move(message)}; }
  static Status Cancelled() { return {StatusCode::kCancelled, "cancelled"}; }
  static Status OutOfMemory(std::string message) { return {StatusCode::kOutOfMemory, std::move(message)}; }
  // Allocates nothing, for where an allocation has just failed.
  static Status OutOfMemory() noexcept;
  // `what` is the call that failed ("read", "open"); the errno's own text is appended.
  static Status Errno(int error_number, const std::string& what);
  static Status OsError(int error_number, std::string message);

  bool ok() const { return detail_ == nullptr; }
  StatusCode code() const { return detail_ ? detail_->code : StatusCode::kOk; }
  // True if the system refused to open a file because too many are open, in this process or in all of them.
  bool too_many_open_files() const;
  // Only for a status that is not OK.
  const Detail& detail() const { return *detail_; }

  // Each fills in what is not known yet, keeps what is known, and passes the status on.
  Status WithPath(const std::string& path) && noexcept;
  Status WithRecord(int64_t offset, int64_t record_index) && noexcept;
  Status WithFeature(const std::string& feature) && noexcept;

  // One line: "PATH: MESSAGE (record R at byte N)". What the Python exception prints.
  std::string ToString() const;

 private:
  struct Release {
    void operator()(Detail* detail) const noexcept;
  };

  std::unique_ptr<Detail, Release> detail_;
};

}  // namespace tfr

namespace tfr {

// Returns run(), or kOutOfMemory for std::bad_alloc.
template <typename Run>
Status WithoutThrowing(const Run& run) {
  try {
    return run();
  } catch (const std::bad_alloc&) {
    return Status::OutOfMemory();
  }
}

}  // namespace tfr

// Returns from the enclosing function if `expr` is a status that is not OK.
#define TFR_RETURN_IF_ERROR(expr)              \
  do {                                         \
    ::tfr::Status tfr_status_ = (expr);        \
    if (!tfr_status_.ok()) return tfr_status_; \
  } while (0)
