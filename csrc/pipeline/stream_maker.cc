// One chunk of a stream after the other; see stream_maker.h.

#include "pipeline/stream_maker.h"

#include <string>
#include <utility>

namespace tfr {

StreamMaker::StreamMaker(const LaneFile& lane, std::unique_ptr<Source> raw, CompressionChoice choice)
    : lane_(lane), choice_(choice), raw_(std::move(raw)) {}

StreamMaker::StreamMaker(const LaneFile& lane, std::unique_ptr<Source> frames, Place begin,
                         std::shared_ptr<Recording> recording)
    : lane_(lane), recording_(std::move(recording)) {
  ReadFrames(std::move(frames), begin);
}

Status StreamMaker::Open() {
  std::unique_ptr<Source> frames;
  TFR_RETURN_IF_ERROR(OpenFrames(std::move(raw_), choice_, &frames));
  ReadFrames(std::move(frames), Place());
  return {};
}

void StreamMaker::ReadFrames(std::unique_ptr<Source> frames, Place begin) {
  const RecordReader::Options options = {lane_.options.chunk_bytes, lane_.options.max_record_bytes, &lane_.cancelled};
  reader_.emplace(std::move(frames), lane_.pool, options, begin);
}

void StreamMaker::Produce(size_t, Produced* produced) { produced->status = Make(produced); }

Status StreamMaker::Make(Produced* produced) {
  if (!reader_) TFR_RETURN_IF_ERROR(Open());
  Chunk& chunk = produced->chunk;
  while (true) {
    Status status = reader_->Next(&chunk);
    if (!status.ok()) {
      if (!lane_.Passes(status)) return status;
      const std::string reason = status.detail().message;
      if (lane_.options.on_corrupt == OnCorrupt::kSkip) {
        TFR_RETURN_IF_ERROR(reader_->Resume(reason, &produced->skipped));
        continue;
      }
      produced->skipped.push_back({status.detail().offset, -1, reason});
    }
    if (chunk.records.empty()) {
      produced->last = true;
      if (recording_ && status.ok()) recording_->Finish(chunk.end.offset);
      lane_.DropBeforeStart(&produced->skipped);
      return produced->skipped.empty() ? lane_.CheckEnd(chunk.end.offset) : Status();
    }
    if (chunk.end.offset > lane_.start.offset) break;  // else all of it lies before the start
  }
  lane_.DropBeforeStart(&chunk);
  lane_.Finish(-1, produced);
  return std::move(produced->status);
}

}  // namespace tfr
