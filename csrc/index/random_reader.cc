// Random access; see random_reader.h. The frame: docs/format.md.
//
// A request becomes a plan: frames in the order of the files, cut into blocks. Threads take blocks in turn; each frame
// has its own place in one buffer, so they share nothing but the open files.
//
// Frames come in one of three ways. Small ones are copied out of a mapping, large ones are read; both wait for the
// disk one after the other if the page cache lacks them. So when a block had to wait, the system is advised about all
// frames of the next one before they are read, and fetches them together.

#include "index/random_reader.h"

#include <sys/resource.h>

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "base/buffer.h"
#include "base/parallel.h"
#include "base/process.h"
#include "framing/format.h"
#include "framing/open.h"
#include "framing/reader.h"

namespace tfr {
namespace {

// Up to this distance two frames are read with one call, and what lies between them is thrown away. Measured.
constexpr int64_t kMaxGap = 4 << 10;
// Up to this mean size frames are copied out of a mapping, which saves the call and costs a fault for every page.
constexpr size_t kMaxCopied = 16 << 10;
// If more than one frame in this many was not in the page cache, the next ones are not expected to be there.
constexpr size_t kMissedPart = 8;
// A thread is worth waking if there is this much for it to do.
constexpr size_t kFramesPerThread = 256;
constexpr size_t kBytesPerThread = 1 << 20;

constexpr char kStale[] = " (Does the index belong to this file?)";

Status Disagrees(const Frame& frame, uint64_t length) {
  return Status::DataLoss("corrupted record at " + std::to_string(frame.offset) + ": the index expects " +
                          std::to_string(frame.size - static_cast<int64_t>(kFrameBytes)) + " bytes, the header says " +
                          std::to_string(length) + kStale)
      .WithRecord(frame.offset, frame.record);
}

Status TooShort(const Frame& frame, int64_t file_size) {
  return Status::DataLoss("truncated record at " + std::to_string(frame.offset) + ": the index expects " +
                          std::to_string(frame.size) + " bytes with framing, the file ends at byte " +
                          std::to_string(file_size) + kStale)
      .WithRecord(frame.offset, frame.record);
}

// A likely mistake: the index of the uncompressed file, used with the compressed one.
Status WrongHeader(const File& file, const Frame& frame) {
  uint8_t head[kDetectBytes];
  size_t got = 0;
  if (file.ReadAt(0, head, sizeof head, &got).ok()) {
    const Compression compression = DetectCompression(head, got);
    if (compression != Compression::kNone) {
      return Status::InvalidArgument("the file is compressed (" + std::string(CompressionName(compression)) +
                                     "), and its index has no checkpoints; build the index again");
    }
  }
  return Status::DataLoss("corrupted record at " + std::to_string(frame.offset) + ": the CRC of its length is wrong" +
                          kStale)
      .WithRecord(frame.offset, frame.record);
}

Status CheckHeader(const File& file, const Frame& frame, const uint8_t* header, uint64_t most) {
  const HeaderState state = JudgeHeader(header, most);
  if (state == HeaderState::kBadCrc) return WrongHeader(file, frame);
  const uint64_t length = RecordLength(header);
  if (state == HeaderState::kTooLarge) return TooLarge(frame.offset, frame.record, length, most);
  if (length + kFrameBytes != static_cast<uint64_t>(frame.size)) return Disagrees(frame, length);
  return {};
}

// How many pages this thread has waited for so far; 0 where the system does not say.
int64_t PagesMissed() {
#if defined(RUSAGE_THREAD)
  struct rusage usage;
  if (::getrusage(RUSAGE_THREAD, &usage) != 0) return 0;
  constexpr int64_t kBlocksPerPage = 8;  // of 512 bytes
  return usage.ru_inblock / kBlocksPerPage + usage.ru_majflt;
#else
  return 0;
#endif
}

std::vector<CheckpointsPtr> CheckpointsOf(const std::vector<RecordIndexPtr>& indexes) {
  std::vector<CheckpointsPtr> all;
  for (const RecordIndexPtr& index : indexes) all.push_back(index->checkpoints());
  return all;
}

size_t DataSize(const Frame& frame) { return static_cast<size_t>(frame.size) - kFrameBytes; }

// Buffers of one size serve requests that differ a little.
size_t RoundedUp(size_t bytes) {
  const size_t step = std::bit_floor(std::max<size_t>(bytes, 8)) / 8;
  return (bytes + step - 1) / step * step;
}

// Fills all parts, which are changed. `last` names the record in an error.
Status ReadParts(const File& file, int64_t offset, iovec* parts, size_t count, const Frame& last) {
  while (count > 0) {
    size_t got = 0;
    TFR_RETURN_IF_ERROR(file.ReadPartsAt(offset, parts, count, &got).WithRecord(last.offset, last.record));
    if (got == 0) {
      int64_t size = 0;
      TFR_RETURN_IF_ERROR(file.Size(&size).WithRecord(last.offset, last.record));
      return TooShort(last, std::min(offset, size));
    }
    offset += static_cast<int64_t>(got);
    for (; count > 0 && got >= parts->iov_len; ++parts, --count) got -= parts->iov_len;
    if (count > 0) *parts = {static_cast<uint8_t*>(parts->iov_base) + got, parts->iov_len - got};
  }
  return {};
}

}  // namespace

struct RandomReader::Shared {
  explicit Shared(const RandomReader& reader)
      : generation(ForkGeneration()),
        files(reader.paths_, CheckpointsOf(reader.indexes_), reader.options_.max_open_files, reader.options_.map_files),
        pool(reader.options_.max_idle_bytes) {}

  const uint64_t generation;
  OpenFiles files;
  BufferPool pool;
  std::atomic<bool> cold{false};  // the last block read was not in the page cache
};

// Reads one block of a plan into the plan's buffer and checks it.
class RandomReader::BlockReader {
 public:
  BlockReader(const OpenFile& opened, const TakePlan& plan, uint8_t* buffer, const RandomReaderOptions& options)
      : file_(*opened.file), mapped_(opened.mapped.get()), plan_(plan), buffer_(buffer), options_(options) {}

  // *cold: true if the block is likely to be on disk only. Set to true if it was, else to false.
  Status Read(const FrameBlock& block, std::atomic<bool>* cold) {
    const int64_t missed_before = PagesMissed();
    const bool was_cold = cold->load(std::memory_order_relaxed);
    if (was_cold) Announce(block);
    Status status = ReadFrames(block, was_cold ? Way::kRead : Way::kCopy);
    const auto missed = static_cast<size_t>(PagesMissed() - missed_before);
    const bool is_cold = missed * kMissedPart > block.end - block.begin;
    if (is_cold != was_cold) cold->store(is_cold, std::memory_order_relaxed);
    return status;
  }

 private:
  enum class Way : uint8_t { kCopy, kRead };  // out of a mapping, if there is one; with calls

  void Announce(const FrameBlock& block) const {
    for (size_t i = block.begin; i < block.end; ++i) file_.Advise(plan_.frames[i].offset, plan_.frames[i].size);
  }

  Status ReadFrames(const FrameBlock& block, Way way) {
    if (way == Way::kCopy && CopyBlock(block)) {
      for (size_t i = block.begin; i < block.end; ++i) TFR_RETURN_IF_ERROR(Check(plan_.frames[i]));
      return {};
    }
    for (size_t i = block.begin; i < block.end;) {
      size_t end = i;
      TFR_RETURN_IF_ERROR(ReadRun(i, block.end, &end));
      for (; i < end; ++i) TFR_RETURN_IF_ERROR(Check(plan_.frames[i]));
    }
    return {};
  }

  // False: read it instead.
  bool CopyBlock(const FrameBlock& block) {
    const Frame& last = plan_.frames[block.end - 1];
    const size_t count = block.end - block.begin;
    size_t bytes = 0;
    for (size_t i = block.begin; i < block.end; ++i) bytes += static_cast<size_t>(plan_.frames[i].size);
    if (mapped_ == nullptr || bytes > kMaxCopied * count || last.offset + last.size > mapped_->size()) return false;
    Piece pieces[kBlockFrames];
    for (size_t i = 0; i < count; ++i) {
      const Frame& frame = plan_.frames[block.begin + i];
      pieces[i] = {frame.offset, static_cast<size_t>(frame.size), buffer_ + frame.place};
    }
    return mapped_->Copy(pieces, count);
  }

  // One call's worth of frames from `begin` on; *run_end is after the last of them.
  Status ReadRun(size_t begin, size_t end, size_t* run_end) {
    uint8_t gap_bytes[kMaxGap];  // unused
    iovec parts[File::kMaxParts];
    size_t used = 0;
    int64_t at = plan_.frames[begin].offset;
    size_t i = begin;
    for (; i < end && used + 2 <= File::kMaxParts; ++i) {
      const Frame& frame = plan_.frames[i];
      const int64_t gap = frame.offset - at;
      if (gap > kMaxGap) break;
      if (gap > 0) parts[used++] = {gap_bytes, static_cast<size_t>(gap)};
      uint8_t* const place = buffer_ + frame.place;
      if (used > 0 && static_cast<uint8_t*>(parts[used - 1].iov_base) + parts[used - 1].iov_len == place) {
        parts[used - 1].iov_len += static_cast<size_t>(frame.size);
      } else {
        parts[used++] = {place, static_cast<size_t>(frame.size)};
      }
      at = frame.offset + frame.size;
    }
    *run_end = i;
    Status status = ReadParts(file_, plan_.frames[begin].offset, parts, used, plan_.frames[begin]);
    // The file was cut. Which record is missing, and whether those before it are intact, is found out one by one.
    if (status.code() == StatusCode::kDataLoss && i - begin > 1) return ReadSingly(begin, i);
    return status;
  }

  Status ReadSingly(size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const Frame& frame = plan_.frames[i];
      iovec part = {buffer_ + frame.place, static_cast<size_t>(frame.size)};
      TFR_RETURN_IF_ERROR(ReadParts(file_, frame.offset, &part, 1, frame));
      TFR_RETURN_IF_ERROR(Check(frame));
    }
    return {};
  }

  Status Check(const Frame& frame) const {
    const uint8_t* header = buffer_ + frame.place;
    TFR_RETURN_IF_ERROR(CheckHeader(file_, frame, header, options_.max_record_bytes));
    if (options_.verify_data && !DataIsIntact(header + kHeaderBytes, DataSize(frame))) {
      return BadData(frame.offset, frame.record, DataSize(frame));
    }
    return {};
  }

  const File& file_;
  const MappedFile* const mapped_;  // may be null
  const TakePlan& plan_;
  uint8_t* const buffer_;
  const RandomReaderOptions& options_;
};

RandomReader::RandomReader(std::vector<Path> paths, std::vector<RecordIndexPtr> indexes,
                           const RandomReaderOptions& options)
    : paths_(std::move(paths)),
      indexes_(std::move(indexes)),
      options_(options),
      known_sizes_(new std::atomic<int64_t>[paths_.size()]()),
      shared_(new Shared(*this)) {
  for (const RecordIndexPtr& index : indexes_) {
    numbers_.first.push_back(numbers_.first.back() + static_cast<int64_t>(index->size()));
  }
  for (size_t i = 0; i < paths_.size(); ++i) {
    if (options_.remote.has(i)) known_sizes_[i].store(options_.remote.objects[i]->size, std::memory_order_relaxed);
  }
}

RandomReader::~RandomReader() {
  if (options_.remote.fetches && options_.remote.fetches->InOwnProcess()) options_.remote.fetches->Close();
  delete shared_.load();
}

// The file as one frame of it will be read.
Status RandomReader::OpenOne(size_t file, const Frame& frame, std::shared_ptr<const OpenFile>* opened) const {
  if (!options_.remote.has(file)) return Current()->files.Get(file, opened);
  auto object = std::make_shared<OpenFile>();
  object->file = options_.remote.Open(file, {{frame.offset, frame.offset + frame.size}});
  *opened = std::move(object);
  return {};
}

// In a forked process, what was there before the fork may be locked by a thread that does not exist. It is left alone,
// at the cost of a bounded number of descriptors.
RandomReader::Shared* RandomReader::Current() const {
  Shared* current = shared_.load(std::memory_order_acquire);
  if (current->generation == ForkGeneration()) return current;
  auto fresh = std::make_unique<Shared>(*this);
  if (shared_.compare_exchange_strong(current, fresh.get(), std::memory_order_acq_rel)) return fresh.release();
  return current;  // another thread was faster
}

// True if the file is large enough for the frame. Queries the system only if that is not known yet.
Status RandomReader::CheckHolds(size_t file, const Frame& frame) const {
  const int64_t needed = frame.offset + frame.size;
  if (needed <= known_sizes_[file].load(std::memory_order_relaxed)) return {};
  std::shared_ptr<const OpenFile> opened;
  TFR_RETURN_IF_ERROR(OpenOne(file, frame, &opened));
  int64_t size = 0;
  TFR_RETURN_IF_ERROR(opened->file->Size(&size).WithPath(*paths_[file]));
  known_sizes_[file].store(size, std::memory_order_relaxed);
  return needed <= size ? Status() : TooShort(frame, size).WithPath(*paths_[file]);
}

Status RandomReader::CheckPlan(const TakePlan& plan) const {
  for (const FrameBlock& block : plan.blocks) {
    if (CheckHolds(block.file, plan.frames[block.end - 1]).ok()) continue;
    for (size_t i = block.begin; i < block.end; ++i) TFR_RETURN_IF_ERROR(CheckHolds(block.file, plan.frames[i]));
  }
  return {};
}

Frame RandomReader::FrameOf(int64_t number, size_t* file) const {
  *file = numbers_.FileOf(number);
  const int64_t record = number - numbers_.first[*file];
  const RecordIndex& index = *indexes_[*file];
  return {index.offsets()[static_cast<size_t>(record)], index.sizes()[static_cast<size_t>(record)], record, 0};
}

bool RandomReader::KnowsSizeOf(int64_t number) const {
  size_t file;
  const Frame frame = FrameOf(number, &file);
  return frame.offset + frame.size <= known_sizes_[file].load(std::memory_order_relaxed);
}

Status RandomReader::SizeOf(int64_t number, size_t* size) const {
  size_t file;
  const Frame frame = FrameOf(number, &file);
  *size = DataSize(frame);
  return CheckHolds(file, frame);
}

Status RandomReader::Read(int64_t number, uint8_t* data) const {
  size_t number_of_file;
  const Frame frame = FrameOf(number, &number_of_file);
  const std::string& path = *paths_[number_of_file];
  std::shared_ptr<const OpenFile> file;
  TFR_RETURN_IF_ERROR(OpenOne(number_of_file, frame, &file));
  uint8_t header[kHeaderBytes];
  uint8_t footer[kFooterBytes];
  const int64_t data_at = frame.offset + static_cast<int64_t>(kHeaderBytes);
  const int64_t footer_at = frame.offset + frame.size - static_cast<int64_t>(kFooterBytes);
  const Piece pieces[] = {
      {frame.offset, kHeaderBytes, header}, {data_at, DataSize(frame), data}, {footer_at, kFooterBytes, footer}};
  const bool map = file->mapped && DataSize(frame) <= kMaxCopied && frame.offset + frame.size <= file->mapped->size();
  if (!map || !file->mapped->Copy(pieces, 3)) {
    iovec parts[] = {{header, kHeaderBytes}, {data, DataSize(frame)}, {footer, kFooterBytes}};
    TFR_RETURN_IF_ERROR(ReadParts(*file->file, frame.offset, parts, 3, frame).WithPath(path));
  }
  TFR_RETURN_IF_ERROR(CheckHeader(*file->file, frame, header, options_.max_record_bytes).WithPath(path));
  if (options_.verify_data && crc32c::Mask(crc32c::Value(data, DataSize(frame))) != LoadLE32(footer)) {
    return BadData(frame.offset, frame.record, DataSize(frame)).WithPath(path);
  }
  return {};
}

std::vector<Origin> RandomReader::OriginsOf(const int64_t* numbers, size_t count) const {
  std::vector<Origin> origins;
  size_t file = 0;
  int64_t end = -1;  // of the last record in its file
  for (size_t i = 0; i < count; ++i) {
    const bool same_file = i > 0 && numbers[i] >= numbers_.first[file] && numbers[i] < numbers_.first[file + 1];
    if (!same_file) file = numbers_.FileOf(numbers[i]);
    const int64_t record = numbers[i] - numbers_.first[file];
    const int64_t offset = indexes_[file]->offsets()[static_cast<size_t>(record)];
    const bool follows = same_file && offset == end && numbers[i] == numbers[i - 1] + 1;
    if (!follows) origins.push_back({i, paths_[file], record, 1, 0, offset});
    end = offset + indexes_[file]->sizes()[static_cast<size_t>(record)];
  }
  return origins;
}

Status RandomReader::Take(const int64_t* numbers, size_t count, RecordBatchPtr* batch) const {
  if (count > kMaxTake) return Status::InvalidArgument("more than " + std::to_string(kMaxTake) + " records at once");
  const TakePlan plan = PlanTake(numbers, count, numbers_, indexes_);
  TFR_RETURN_IF_ERROR(CheckPlan(plan));
  Shared* const shared = Current();
  std::shared_ptr<Buffer> buffer = shared->pool.Take(RoundedUp(plan.total_bytes));
  if (!buffer) return Status::OutOfMemory("buffer of " + std::to_string(plan.total_bytes) + " bytes");

  RemoteTake remote(plan, options_.remote);
  const size_t worth =
      std::max({plan.frames.size() / kFramesPerThread, plan.total_bytes / kBytesPerThread, plan.blocks_to_inflate});
  TFR_RETURN_IF_ERROR(ParallelTry(plan.blocks.size(), std::min(options_.num_threads, worth), [&](size_t i) {
    const FrameBlock& block = plan.blocks[i];
    std::shared_ptr<const OpenFile> file = remote.file(block.file);
    if (!file) TFR_RETURN_IF_ERROR(shared->files.Get(block.file, &file));
    BlockReader reader(*file, plan, buffer->data(), options_);
    TFR_RETURN_IF_ERROR(reader.Read(block, &shared->cold).WithPath(*paths_[block.file]));
    remote.Done(i);
    return Status();
  }));

  auto taken = std::make_shared<RecordBatch>();
  taken->records.reserve(count);
  for (const uint32_t frame : plan.frame_of) {
    taken->records.push_back({buffer->data() + plan.frames[frame].place + kHeaderBytes, DataSize(plan.frames[frame])});
  }
  taken->origins = OriginsOf(numbers, count);
  taken->owners.push_back(std::move(buffer));
  *batch = std::move(taken);
  return {};
}

}  // namespace tfr
