// Validation of indexes; see record_index.h.

#include "index/record_index.h"

#include <utility>

#include "base/parallel.h"
#include "framing/format.h"

namespace tfr {

std::string IndexBuilder::Add(int64_t offset, int64_t size) {
  constexpr int64_t kFrame = kFrameBytes;
  if (offset < 0) return "offset " + std::to_string(offset) + " is negative";
  if (size < kFrame) {
    return "size " + std::to_string(size) + " is less than the " + std::to_string(kFrame) + " bytes of an empty record";
  }
  if (offset < end_) {
    return "offset " + std::to_string(offset) + " lies before byte " + std::to_string(end_) +
           ", where the record before it ends";
  }
  if (size > INT64_MAX - offset) return "size " + std::to_string(size) + " is more than any file has";
  offsets_.push_back(offset);
  sizes_.push_back(size);
  end_ = offset + size;
  return {};
}

RecordIndexPtr IndexBuilder::Finish(CheckpointsPtr checkpoints) {
  end_ = 0;
  offsets_.shrink_to_fit();
  sizes_.shrink_to_fit();
  return RecordIndexPtr(
      new RecordIndex(std::exchange(offsets_, {}), std::exchange(sizes_, {}), std::move(checkpoints)));
}

Status RecordIndex::Make(std::vector<int64_t> offsets, std::vector<int64_t> sizes, RecordIndexPtr* index) {
  if (offsets.size() != sizes.size()) {
    return Status::InvalidArgument("an index of " + std::to_string(offsets.size()) + " offsets and " +
                                   std::to_string(sizes.size()) + " sizes");
  }
  IndexBuilder builder;
  for (size_t i = 0; i < offsets.size(); ++i) {
    const std::string wrong = builder.Add(offsets[i], sizes[i]);
    if (!wrong.empty()) return Status::InvalidArgument("index entry " + std::to_string(i) + ": " + wrong);
  }
  *index = builder.Finish();
  return {};
}

Status OpenIndexes(const std::vector<IndexOrigin>& origins, uint64_t max_record_bytes, size_t num_threads,
                   const std::shared_ptr<FetchQueue>& fetches, bool inflate, std::vector<RecordIndexPtr>* indexes) {
  indexes->assign(origins.size(), nullptr);
  const int64_t spacing = inflate ? CheckpointLog::kSpacing : 0;
  return ParallelTry(origins.size(), num_threads, [&](size_t i) {
    const IndexOrigin& origin = origins[i];
    if (origin.object && !origin.index_path) {
      return BuildIndex(origin, fetches, max_record_bytes, &(*indexes)[i]);
    }
    return origin.index_path ? LoadIndex(*origin.index_path, &(*indexes)[i])
                             : BuildIndex(origin.path, max_record_bytes, spacing, &(*indexes)[i]);
  });
}

}  // namespace tfr
