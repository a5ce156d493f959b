// First a pass that checks rows, then one that sizes and writes them, block by block, both in parallel; see encode.h.

#include "encode/encode.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/block.h"
#include "base/parallel.h"
#include "framing/format.h"

namespace tfr {
namespace {

// Small enough to keep threads evenly busy, large enough that handing them out costs nothing.
constexpr size_t kLeastCheckTask = 64;  // rows
constexpr size_t kMostCheckTask = 8192;
constexpr size_t kCheckTasksPerThread = 8;

// The most bytes that a block writes. It reads about as many: a list of int64 takes up to ten bytes for eight.
constexpr uint64_t kBlockBytes = 1 << 20;

Status EncodeBlock(const RowEncoder& encoder, RowRange rows, Bytes* records, Owner* owner) {
  std::vector<uint64_t> sizes(rows.count);
  encoder.Size(rows, sizes.data());
  uint64_t total = 0;
  for (const uint64_t size : sizes) total += size;
  Block block;
  if (!AllocateBlock(total, 1, 0, &block)) {
    return Status::OutOfMemory("no memory for " + std::to_string(total) + " bytes of records");
  }
  uint8_t* out = block.data;
  for (size_t i = 0; i < rows.count; ++i) {
    if (!encoder.Write(rows.first + i, sizes[i], out)) [[unlikely]]
      return RowChanged(rows.first + i);
    records[i] = {out, static_cast<size_t>(sizes[i])};
    out += sizes[i];
  }
  *owner = std::move(block.owner);
  return {};
}

}  // namespace

Status CutRows(const RowEncoder& encoder, size_t files, size_t first, size_t num_threads,
               std::vector<RowBlock>* blocks) {
  const size_t rows = encoder.rows();
  std::vector<uint64_t> bounds(rows);
  const size_t task_rows = std::clamp(rows / (num_threads * kCheckTasksPerThread), kLeastCheckTask, kMostCheckTask);
  TFR_RETURN_IF_ERROR(ParallelTry((rows + task_rows - 1) / task_rows, num_threads, [&](size_t task) {
    const size_t begin = task * task_rows;
    return encoder.Check(begin, std::min(rows, begin + task_rows), bounds.data() + begin);
  }));
  struct Open {
    size_t block = SIZE_MAX;  // the one that is being filled
    size_t turn = 0;          // of the next one
    uint64_t bytes = 0;
  };
  std::vector<Open> open(files);
  for (size_t row = 0; row < rows; ++row) {
    const size_t file = (first + row) % files;
    Open& at = open[file];
    const uint64_t bytes = bounds[row] + kFrameBytes;
    if (at.block == SIZE_MAX || at.bytes + bytes > kBlockBytes) {
      at = {blocks->size(), at.turn + 1, 0};
      blocks->push_back({{row, 0, files}, file, at.turn - 1});
    }
    ++(*blocks)[at.block].rows.count;
    at.bytes += bytes;
  }
  return {};
}

Status EncodeRows(const RowEncoder& encoder, size_t num_threads, RecordBatchPtr* batch) {
  num_threads = ResolveThreads(num_threads);
  std::vector<RowBlock> blocks;
  TFR_RETURN_IF_ERROR(CutRows(encoder, 1, 0, num_threads, &blocks));
  auto made = std::make_shared<RecordBatch>();
  made->records.resize(encoder.rows());
  made->owners.resize(blocks.size());
  TFR_RETURN_IF_ERROR(ParallelTry(blocks.size(), num_threads, [&](size_t i) {
    const RowRange& rows = blocks[i].rows;
    return EncodeBlock(encoder, rows, made->records.data() + rows.first, &made->owners[i]);
  }));
  *batch = std::move(made);
  return {};
}

}  // namespace tfr
