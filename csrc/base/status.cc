// The text of errors; see status.h.

#include "base/status.h"

#include <cerrno>
#include <new>
#include <system_error>
#include <utility>

namespace tfr {

namespace {

// Shared by all that have no memory for a detail of their own. Never destroyed: threads may outlive main.
Status::Detail* const no_memory = new Status::Detail{StatusCode::kOutOfMemory, "out of memory", {}, {}};

template <typename... Values>
Status::Detail* NewDetail(Values&&... values) noexcept {
  try {
    return new Status::Detail{std::forward<Values>(values)...};
  } catch (const std::bad_alloc&) {
    return no_memory;
  }
}

// Sets one of the texts, unless it is set, or memory is exhausted.
void FillIn(Status::Detail* detail, std::string Status::Detail::* text, const std::string& value) noexcept {
  if (detail == nullptr || detail == no_memory || !(detail->*text).empty()) return;
  try {
    detail->*text = value;
  } catch (const std::bad_alloc&) {
  }
}

}  // namespace

void Status::Release::operator()(Detail* detail) const noexcept {
  if (detail != no_memory) delete detail;
}

Status::Status(StatusCode code, std::string message) noexcept
    : detail_(NewDetail(code, std::move(message), std::string(), std::string())) {}

Status::Status(const Status& other) noexcept : detail_(other.detail_ ? NewDetail(*other.detail_) : nullptr) {}

Status Status::OutOfMemory() noexcept {
  Status status;
  status.detail_.reset(no_memory);
  return status;
}

Status Status::Errno(int error_number, const std::string& what) {
  return OsError(error_number, what + ": " + std::generic_category().message(error_number));
}

Status Status::OsError(int error_number, std::string message) {
  Status status(StatusCode::kIoError, std::move(message));
  if (status.code() == StatusCode::kIoError) status.detail_->error_number = error_number;
  return status;
}

bool Status::too_many_open_files() const {
  if (code() != StatusCode::kIoError) return false;
  return detail_->error_number == EMFILE || detail_->error_number == ENFILE;
}

Status Status::WithPath(const std::string& path) && noexcept {
  FillIn(detail_.get(), &Detail::path, path);
  return std::move(*this);
}

Status Status::WithRecord(int64_t offset, int64_t record_index) && noexcept {
  if (detail_ && detail_.get() != no_memory) {
    if (detail_->offset < 0) detail_->offset = offset;
    if (detail_->record_index < 0) detail_->record_index = record_index;
  }
  return std::move(*this);
}

Status Status::WithFeature(const std::string& feature) && noexcept {
  FillIn(detail_.get(), &Detail::feature, feature);
  return std::move(*this);
}

std::string Status::ToString() const {
  if (!detail_) return "OK";
  std::string text;
  if (!detail_->path.empty()) text += detail_->path + ": ";
  text += detail_->message;
  if (detail_->record_index >= 0 && detail_->offset >= 0) {
    text += " (record " + std::to_string(detail_->record_index) + " at byte " + std::to_string(detail_->offset) + ")";
  } else if (detail_->record_index >= 0) {
    text += " (record " + std::to_string(detail_->record_index) + ")";
  } else if (detail_->offset >= 0) {
    text += " (at byte " + std::to_string(detail_->offset) + ")";
  }
  return text;
}

}  // namespace tfr
