// Frames and buffering; see writer.h.

#include "framing/writer.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tfr {

RecordWriter::RecordWriter(std::unique_ptr<Sink> sink, size_t buffer_bytes)
    : sink_(std::move(sink)), buffer_(std::max(buffer_bytes, kLargeRecord + kFrameBytes)) {}

Status RecordWriter::Write(const Bytes* records, size_t count) {
  if (closed()) return Status::Closed("Writer is closed.");
  if (!failed_.ok()) return failed_;
  for (size_t i = 0; i < count; ++i) {
    const Bytes record = records[i];
    if (record.size >= kLargeRecord) {
      TFR_RETURN_IF_ERROR(WriteLarge(record));
    } else {
      if (buffer_.size() - used_ < record.size + kFrameBytes) TFR_RETURN_IF_ERROR(Drain());
      uint8_t* frame = buffer_.data() + used_;
      StoreHeader(frame, record.size);
      if (record.size > 0) std::memcpy(frame + kHeaderBytes, record.data, record.size);
      StoreFooter(frame + kHeaderBytes + record.size, frame + kHeaderBytes, record.size);
      used_ += kFrameBytes + record.size;
    }
    ++records_written_;
  }
  return {};
}

Status RecordWriter::WriteFrames(Bytes frames, size_t count) {
  if (closed()) return Status::Closed("Writer is closed.");
  if (!failed_.ok()) return failed_;
  records_written_ += static_cast<int64_t>(count);
  if (frames.size < kLargeRecord && frames.size <= buffer_.size() - used_) {
    if (frames.size > 0) std::memcpy(buffer_.data() + used_, frames.data, frames.size);
    used_ += frames.size;
    return {};
  }
  const Bytes parts[] = {{buffer_.data(), std::exchange(used_, 0)}, frames};
  return ToSink(parts, 2);
}

Status RecordWriter::WriteLarge(Bytes record) {
  uint8_t header[kHeaderBytes];
  uint8_t footer[kFooterBytes];
  StoreHeader(header, record.size);
  StoreFooter(footer, record.data, record.size);
  const Bytes parts[] = {
      {buffer_.data(), std::exchange(used_, 0)}, {header, sizeof header}, record, {footer, sizeof footer}};
  return ToSink(parts, 4);
}

Status RecordWriter::Flush() {
  if (closed()) return Status::Closed("Writer is closed.");
  if (!failed_.ok()) return failed_;
  TFR_RETURN_IF_ERROR(Drain());
  return Keep(WithoutThrowing([this] { return sink_->Flush(); }));
}

Status RecordWriter::Close() {
  if (closed()) return {};
  Status status = failed_.ok() ? Drain() : failed_;
  Status ended = WithoutThrowing([this] { return sink_->Close(); });
  sink_.reset();
  buffer_ = {};
  return status.ok() ? std::move(ended) : std::move(status);
}

Status RecordWriter::Drain() {
  const Bytes part = {buffer_.data(), std::exchange(used_, 0)};
  return part.size == 0 ? Status() : ToSink(&part, 1);
}

// A record that did not come through, for want of memory too, must not be missing between others.
Status RecordWriter::ToSink(const Bytes* parts, size_t count) {
  return Keep(WithoutThrowing([&] { return sink_->Write(parts, count); }));
}

Status RecordWriter::Keep(Status status) {
  if (!status.ok()) failed_ = status;
  return status;
}

}  // namespace tfr
