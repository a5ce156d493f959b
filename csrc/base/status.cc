// The text of errors; see status.h.

#include "base/status.h"

#include <new>
#include <system_error>

namespace {

// Made when the library is loaded, when there is memory.
[[maybe_unused]] const tfr::Status made_early = tfr::Status::OutOfMemory();

}  // namespace

namespace tfr {

Status::Detail* Status::NoMemory() noexcept {
  static Detail* const detail = new Detail{StatusCode::kOutOfMemory, "out of memory", {}, {}};
  return detail;
}

Status::Detail* Status::Copy(const Detail* detail) noexcept {
  if (detail == nullptr || detail == NoMemory()) return const_cast<Detail*>(detail);
  try {
    return new Detail(*detail);
  } catch (const std::bad_alloc&) {
    return NoMemory();
  }
}

Status Status::OutOfMemory() noexcept { return Status(Owned(NoMemory())); }

Status Status::OutOfMemory(std::string message) noexcept {
  try {
    return {StatusCode::kOutOfMemory, std::move(message)};
  } catch (const std::bad_alloc&) {
    return OutOfMemory();
  }
}

Status Status::Errno(int error_number, const std::string& what) {
  return OsError(error_number, what + ": " + std::generic_category().message(error_number));
}

Status Status::OsError(int error_number, std::string message) {
  Status status(StatusCode::kIoError, std::move(message));
  status.detail_->error_number = error_number;
  return status;
}

Status Status::WithPath(const std::string& path) && {
  if (Detail* detail = Changeable(); detail != nullptr && detail->path.empty()) detail->path = path;
  return std::move(*this);
}

Status Status::WithRecord(int64_t offset, int64_t record_index) && {
  Detail* const detail = Changeable();
  if (detail != nullptr && detail->offset < 0) detail->offset = offset;
  if (detail != nullptr && detail->record_index < 0) detail->record_index = record_index;
  return std::move(*this);
}

Status Status::WithFeature(const std::string& feature) && {
  if (Detail* detail = Changeable(); detail != nullptr && detail->feature.empty()) detail->feature = feature;
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
