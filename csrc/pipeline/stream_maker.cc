// One chunk of a stream after the other; see stream_maker.h.

#include "pipeline/stream_maker.h"

#include <string>
#include <utility>

namespace tfr {

StreamMaker::StreamMaker(const LaneFile& lane, std::unique_ptr<Source> frames, Place begin)
    : lane_(lane),
      reader_(std::move(frames), lane.pool, {lane.options.chunk_bytes, lane.options.max_record_bytes, &lane.cancelled},
              begin) {}

void StreamMaker::Produce(size_t, Produced* produced) {
  Chunk& chunk = produced->chunk;
  while (true) {
    Status status = reader_.Next(&chunk);
    if (!status.ok()) {
      if (!lane_.Passes(status)) {
        produced->status = std::move(status);
        return;
      }
      const std::string reason = status.detail().message;
      if (lane_.options.on_corrupt == OnCorrupt::kSkip) {
        produced->status = reader_.Resume(reason, &produced->skipped);
        if (!produced->status.ok()) return;
        continue;
      }
      produced->skipped.push_back({status.detail().offset, -1, reason});
    }
    if (chunk.records.empty()) {
      produced->last = true;
      lane_.DropBeforeStart(&produced->skipped);
      if (produced->skipped.empty()) produced->status = lane_.CheckEnd(chunk.end.offset);
      return;
    }
    if (chunk.end.offset > lane_.start.offset) break;  // else all of it lies before the start
  }
  lane_.DropBeforeStart(&chunk);
  lane_.Finish(-1, produced);
}

}  // namespace tfr
