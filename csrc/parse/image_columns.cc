// Decodes columns of images; see image_columns.h.
//
// The thread protocol: the calling thread makes the arrays of pixels beforehand, and each task writes its own rows.
// Failures are listed under a lock; there are few.

#include "parse/image_columns.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>
#include <tuple>
#include <utility>

#include "base/interrupt.h"
#include "crc32c/crc32c.h"
#include "parse/faults.h"
#include "parse/ranges.h"

namespace tfr {
namespace {

constexpr size_t kMinBytesPerTask = 32 << 10;  // of encoded images
constexpr auto kInterruptInterval = std::chrono::milliseconds(50);

// Rows [first, last) of a feature.
struct Task {
  size_t feature;
  size_t first;
  size_t last;
};

struct Failure {
  size_t row;
  size_t feature;
  Status status;
};

bool ComesBefore(const Failure& a, const Failure& b) { return std::tie(a.row, a.feature) < std::tie(b.row, b.feature); }

class ImageColumns {
 public:
  ImageColumns(const RecordBatch& batch, ExamplePlan& plan, const ImageDraws& draws, Columns* columns)
      : batch_(batch), plan_(plan), draws_(draws), columns_(columns), pixels_(columns->columns.size()) {}

  Status Make(Crew* crew) {
    TFR_RETURN_IF_ERROR(Prepare());
    const std::function<void(size_t)> run = [this](size_t i) { Run(tasks_[i]); };
    if (tasks_.size() == 1) {
      run(0);
    } else {
      crew->Share(tasks_.size(), run);
    }
    if (cancelled_) return std::move(cancel_);
    std::sort(failures_.begin(), failures_.end(), ComesBefore);
    for (Failure& failure : failures_) {
      if (IsError(failure)) return Locate(std::move(failure.status), batch_, failure.row);
    }
    for (size_t f = 0; f < pixels_.size(); ++f) {
      if (spec(f).image) std::swap(columns_->columns[f], pixels_[f]);
    }
    return {};
  }

  // By row, without errors.
  const std::vector<Failure>& failures() const { return failures_; }

 private:
  const FeatureSpec& spec(size_t f) const { return plan_.schema->features()[f]; }

  bool IsError(const Failure& failure) const {
    return failure.status.code() != StatusCode::kInvalidArgument ||
           spec(failure.feature).image->on_error == ImageSpec::OnError::kRaise;
  }

  Status Prepare() {
    const size_t rows = columns_->rows;
    for (size_t f = 0; f < pixels_.size(); ++f) {
      if (!spec(f).image) continue;
      const ImageSpec& image = *spec(f).image;
      Column& column = pixels_[f];
      size_t values;
      if (image.own_size()) {
        column.images.resize(rows);
      } else if (__builtin_mul_overflow(rows, image.values(), &values) ||
                 !AllocateBlock(values, image.value_bytes(), f, &column.values)) {
        return NoMemory();
      }
      for (size_t row = 0; row < rows;) {
        Task task = {f, row, row};
        for (size_t bytes = 0; task.last < rows && bytes < kMinBytesPerTask; ++task.last) {
          bytes += File(f, task.last).size;
        }
        row = task.last;
        tasks_.push_back(task);
      }
    }
    return {};
  }

  const Bytes& File(size_t f, size_t row) const { return columns_->columns[f].values.as<Bytes>()[row]; }

  void Run(const Task& task) {
    ParserPool<ImageMaker>& pool = *plan_.image_makers[task.feature];
    std::unique_ptr<ImageMaker> maker = pool.Take();
    for (size_t row = task.first; row < task.last && row < limit_.load(std::memory_order_relaxed); ++row) {
      if (IsInterrupted()) return;
      Status status = MakeRow(task.feature, row, maker.get());
      if (!status.ok()) Fail(task.feature, row, std::move(status));
    }
    pool.GiveBack(std::move(maker));
  }

  Status MakeRow(size_t f, size_t row, ImageMaker* maker) {
    const ImageSpec& image = *spec(f).image;
    Column& column = pixels_[f];
    const Random random = image.is_random() ? RandomOf(image, row) : Random(0);
    if (image.own_size()) return maker->Make(File(f, row), random, &column.images[row]);
    const size_t bytes = image.values() * image.value_bytes();
    uint8_t* const out = column.values.data + row * bytes;
    Status status = maker->Make(File(f, row), random, out);
    if (!status.ok()) std::memset(out, 0, bytes);
    return status;
  }

  Random RandomOf(const ImageSpec& image, size_t row) const {
    const Origin origin = OriginOfRow(batch_, row);
    const int64_t record = origin.record_index < 0 ? static_cast<int64_t>(row) : origin.record_index;
    const int64_t epoch = draws_.epochs == nullptr ? origin.epoch : draws_.epochs[row];
    const Bytes& bytes = batch_.records[row];
    return RandomOfRecord(image.seed.value_or(draws_.seed), epoch, record, crc32c::Value(bytes.data, bytes.size));
  }

  void Fail(size_t f, size_t row, Status status) {
    if (status.code() == StatusCode::kInvalidArgument) status = Fault(spec(f), status.detail().message);
    Failure failure = {row, f, std::move(status)};
    std::lock_guard<std::mutex> lock(mutex_);
    if (spec(f).image->own_size()) pixels_[f].images[row] = OwnSize{};
    if (IsError(failure) && row < limit_) limit_ = row + 1;  // features of this row may have an earlier error
    failures_.push_back(std::move(failure));
  }

  bool IsInterrupted() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    auto asked = asked_.load(std::memory_order_relaxed);
    if (cancelled_) return true;
    if (now - asked < kInterruptInterval) return false;
    asked_.store(now, std::memory_order_relaxed);
    Status status = CheckInterrupt();
    if (status.ok()) return false;
    std::lock_guard<std::mutex> lock(mutex_);
    if (!cancelled_) cancel_ = std::move(status);
    cancelled_ = true;
    return true;
  }

  const RecordBatch& batch_;
  ExamplePlan& plan_;
  const ImageDraws draws_;
  Columns* const columns_;
  std::vector<Column> pixels_;  // by feature; of images only
  std::vector<Task> tasks_;
  std::atomic<size_t> limit_{SIZE_MAX};  // rows from here on come after an error
  std::atomic<std::chrono::steady_clock::duration> asked_{std::chrono::steady_clock::now().time_since_epoch()};
  std::atomic<bool> cancelled_{false};
  std::mutex mutex_;  // guards the two below
  Status cancel_;
  std::vector<Failure> failures_;
};

// Moves the images of rows that are kept to the front.
void Compact(const ImageSpec& spec, const std::vector<bool>& dropped, Column* column) {
  const size_t bytes = spec.values() * spec.value_bytes();
  size_t kept = 0;
  for (size_t row = 0; row < dropped.size(); ++row) {
    if (dropped[row]) continue;
    if (spec.own_size()) {
      if (kept < row) column->images[kept] = std::move(column->images[row]);
    } else if (kept < row) {
      std::memmove(column->values.data + kept * bytes, column->values.data + row * bytes, bytes);
    }
    ++kept;
  }
  if (spec.own_size()) {
    column->images.resize(kept);
  } else {
    column->values.count = kept * spec.values();
  }
}

// Parses the rows that are not dropped again, and takes over their images.
Status Drop(const std::vector<bool>& dropped, const RecordBatch& batch, ExamplePlan& plan, Crew* crew,
            Columns* columns) {
  RecordBatch kept;
  kept.owners = batch.owners;
  for (size_t row = 0; row < batch.size(); ++row) {
    if (!dropped[row]) kept.records.push_back(batch.records[row]);
  }
  Columns again;
  TFR_RETURN_IF_ERROR(ParseBatch(kept, plan, crew, &again));
  for (size_t f = 0; f < plan.schema->size(); ++f) {
    const FeatureSpec& spec = plan.schema->features()[f];
    if (!spec.image) continue;
    Compact(*spec.image, dropped, &columns->columns[f]);
    again.columns[f] = std::move(columns->columns[f]);
  }
  *columns = std::move(again);
  return {};
}

}  // namespace

Status ParseWithImages(const RecordBatch& batch, ExamplePlan& plan, const ImageDraws& draws, Crew* crew,
                       Columns* columns, std::vector<LostImage>* lost) {
  TFR_RETURN_IF_ERROR(ParseBatch(batch, plan, crew, columns));
  ImageColumns images(batch, plan, draws, columns);
  TFR_RETURN_IF_ERROR(images.Make(crew));
  std::vector<bool> dropped(batch.size());
  bool any = false;
  for (const Failure& failure : images.failures()) {
    const bool drop = plan.schema->features()[failure.feature].image->on_error == ImageSpec::OnError::kSkip;
    any |= drop;
    dropped[failure.row] = dropped[failure.row] || drop;
    lost->push_back(
        {OriginOfRow(batch, failure.row), batch.records[failure.row].size, failure.status.detail().message});
  }
  return any ? Drop(dropped, batch, plan, crew, columns) : Status();
}

}  // namespace tfr
