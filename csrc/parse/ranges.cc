// Splitting a batch, and running the parts; see ranges.h.

#include "parse/ranges.h"

#include <algorithm>
#include <atomic>
#include <new>
#include <utility>

#include "parse/faults.h"

namespace tfr {

Status Locate(Status status, const RecordBatch& batch, size_t row) {
  const Origin origin = OriginOfRow(batch, row);
  if (origin.path) status = std::move(status).WithPath(*origin.path);
  if (origin.record_index >= 0) return std::move(status).WithRecord(-1, origin.record_index);
  return InRow(std::move(status), row).WithRecord(-1, static_cast<int64_t>(row));
}

size_t CountBytes(const RecordBatch& batch) {
  size_t bytes = 0;
  for (const Bytes& record : batch.records) bytes += record.size;
  return bytes;
}

std::vector<Range> SplitRows(const RecordBatch& batch, size_t most, size_t least_bytes) {
  const size_t rows = batch.size();
  if (most == 1 || rows < 2) return {{0, rows}};
  const size_t bytes = CountBytes(batch);
  const size_t parts = std::max<size_t>(1, std::min({most, bytes / least_bytes, rows}));
  std::vector<Range> ranges;
  size_t row = 0, done = 0;
  for (size_t part = 1; part <= parts; ++part) {
    const size_t first = row;
    const size_t until = part == parts ? SIZE_MAX : bytes / parts * part;
    while (row < rows && done < until) done += batch.records[row++].size;
    if (row > first || part == parts) ranges.push_back({first, part == parts ? rows : row});
  }
  return ranges;
}

Status NoMemory() { return Status::OutOfMemory("no memory for the columns"); }

Status RunRanges(const RecordBatch& batch, const std::vector<Range>& ranges, Crew* crew,
                 const std::function<Status(size_t, size_t*)>& parse) {
  std::vector<Status> statuses(ranges.size());
  std::vector<size_t> bad_rows(ranges.size());
  std::atomic<bool> no_memory{false};
  const auto run = [&](size_t part) {
    try {
      statuses[part] = parse(part, &bad_rows[part]);
    } catch (const std::bad_alloc&) {
      no_memory = true;  // an error would also take memory
    }
  };
  if (ranges.size() == 1) {
    run(0);
  } else {
    crew->Share(ranges.size(), run);
  }
  if (no_memory) return NoMemory();
  for (size_t part = 0; part < ranges.size(); ++part) {  // ranges ascend, so the first error is the earliest row's
    if (!statuses[part].ok()) return Locate(std::move(statuses[part]), batch, bad_rows[part]);
  }
  return {};
}

}  // namespace tfr
