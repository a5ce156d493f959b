// First a pass that sizes rows, then one that writes them, both in parallel; see encode.h.

#include "encode/encode.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/buffer.h"
#include "base/parallel.h"

namespace tfr {
namespace {

// Small enough to keep threads evenly busy, large enough that handing them out costs nothing.
constexpr size_t kLeastSizeTask = 64;  // rows
constexpr size_t kMostSizeTask = 8192;
constexpr size_t kSizeTasksPerThread = 8;
constexpr uint64_t kWriteTask = 1 << 20;  // bytes

// The first row of each task, and the number of rows at the end.
std::vector<size_t> CutByBytes(const std::vector<Bytes>& records) {
  std::vector<size_t> cuts = {0};
  uint64_t bytes = 0;
  for (size_t row = 0; row < records.size(); ++row) {
    if (bytes >= kWriteTask) {
      cuts.push_back(row);
      bytes = 0;
    }
    bytes += records[row].size;
  }
  cuts.push_back(records.size());
  return cuts;
}

}  // namespace

Status SizeRows(const RowEncoder& encoder, size_t num_threads, uint64_t* sizes) {
  const size_t rows = encoder.rows();
  num_threads = ResolveThreads(num_threads);
  const size_t task_rows = std::clamp(rows / (num_threads * kSizeTasksPerThread), kLeastSizeTask, kMostSizeTask);
  const size_t tasks = (rows + task_rows - 1) / task_rows;
  return ParallelTry(tasks, num_threads, [&](size_t task) {
    const size_t begin = task * task_rows;
    const size_t end = std::min(rows, begin + task_rows);
    return encoder.Size(begin, end, sizes + begin);
  });
}

Status EncodeRows(const RowEncoder& encoder, size_t num_threads, RecordBatchPtr* batch) {
  num_threads = ResolveThreads(num_threads);
  const size_t rows = encoder.rows();
  std::vector<uint64_t> sizes(rows);
  TFR_RETURN_IF_ERROR(SizeRows(encoder, num_threads, sizes.data()));

  uint64_t total = 0;
  for (const uint64_t size : sizes) total += size;
  std::shared_ptr<Buffer> buffer = Buffer::Allocate(total);
  if (!buffer) return Status::OutOfMemory("no memory for " + std::to_string(total) + " bytes of records");
  auto made = std::make_shared<RecordBatch>();
  made->records.resize(rows);
  const uint8_t* at = buffer->data();
  for (size_t row = 0; row < rows; ++row) {
    made->records[row] = {at, static_cast<size_t>(sizes[row])};
    at += sizes[row];
  }
  const std::vector<size_t> cuts = CutByBytes(made->records);
  TFR_RETURN_IF_ERROR(ParallelTry(cuts.size() - 1, num_threads, [&](size_t task) {
    for (size_t row = cuts[task]; row < cuts[task + 1]; ++row) {
      const Bytes& record = made->records[row];
      if (!encoder.Write(row, record.size, const_cast<uint8_t*>(record.data))) [[unlikely]]
        return RowChanged(row);
    }
    return Status();
  }));
  made->owners.push_back(std::move(buffer));
  *batch = std::move(made);
  return {};
}

}  // namespace tfr
