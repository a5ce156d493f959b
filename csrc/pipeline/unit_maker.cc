// The common half of the makers of units; see unit_maker.h.

#include "pipeline/unit_maker.h"

#include <algorithm>
#include <string>

#include "framing/format.h"

namespace tfr {

bool LaneFile::Passes(const Status& status) const {
  return status.code() == StatusCode::kDataLoss && options.on_corrupt != OnCorrupt::kRaise;
}

Status LaneFile::CheckEnd(int64_t end) const {
  if (end >= start.offset) return {};
  return Status::DataLoss("the file ends at byte " + std::to_string(end) + ", before byte " +
                          std::to_string(start.offset) + ", where the saved state continues; has the file changed?")
      .WithRecord(start.offset, start.index);
}

// Compares offsets: damage that is newer than `start` may have taken records before it.
void LaneFile::DropBeforeStart(Chunk* chunk) const {
  std::vector<Bytes>& records = chunk->records;
  const int64_t before = start.offset - chunk->origin_offset + static_cast<int64_t>(kHeaderBytes);
  const auto first = std::partition_point(records.begin(), records.end(),
                                          [&](const Bytes& record) { return record.data - chunk->origin < before; });
  chunk->first_index += first - records.begin();
  records.erase(records.begin(), first);
}

void LaneFile::DropBeforeStart(std::vector<Skipped>* skipped) const {
  std::erase_if(*skipped, [this](const Skipped& what) {
    return what.offset < start.offset && what.bytes >= 0 && what.offset + what.bytes <= start.offset;
  });
}

LaneFile::Rest LaneFile::Finish(int64_t file_bytes, Produced* produced) const {
  Chunk& chunk = produced->chunk;
  if (options.keep_divisor > 1) {
    const int64_t remainder = options.keep_remainder - static_cast<int64_t>(number);
    chunk.KeepEvery(options.keep_divisor, remainder);
  }
  if (!options.verify_data) return Rest::kFollows;
  const bool skip = options.on_corrupt == OnCorrupt::kSkip;
  Status status = VerifyChunk(&chunk, skip ? &produced->skipped : nullptr);
  std::sort(produced->skipped.begin(), produced->skipped.end(),
            [](const Skipped& a, const Skipped& b) { return a.offset < b.offset; });
  if (status.ok()) return Rest::kFollows;
  // The damaged record follows the chunk, also for a reader that resumes there.
  const int64_t from = status.detail().offset;
  chunk.end = {from, status.detail().record_index};
  if (!Passes(status)) {
    produced->status = std::move(status);
    return Rest::kFollows;
  }
  // The rest of the file goes with it.
  produced->skipped = {{from, file_bytes < 0 ? -1 : file_bytes - from, status.detail().message}};
  produced->last = true;
  return Rest::kDropped;
}

}  // namespace tfr
