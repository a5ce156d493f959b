// The text of errors; see status.h.

#include "base/status.h"

#include <system_error>

namespace tfr {

Status Status::Errno(int error_number, const std::string& what) {
  return OsError(error_number, what + ": " + std::generic_category().message(error_number));
}

Status Status::OsError(int error_number, std::string message) {
  Status status(StatusCode::kIoError, std::move(message));
  status.detail_->error_number = error_number;
  return status;
}

Status Status::WithPath(const std::string& path) && {
  if (detail_ && detail_->path.empty()) detail_->path = path;
  return std::move(*this);
}

Status Status::WithRecord(int64_t offset, int64_t record_index) && {
  if (detail_ && detail_->offset < 0) detail_->offset = offset;
  if (detail_ && detail_->record_index < 0) detail_->record_index = record_index;
  return std::move(*this);
}

Status Status::WithFeature(const std::string& feature) && {
  if (detail_ && detail_->feature.empty()) detail_->feature = feature;
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
