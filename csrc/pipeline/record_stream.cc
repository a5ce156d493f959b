// The scheduler and the consumer of lanes; see record_stream.h and lane.h.
//
// The protocol. One mutex guards everything that the scheduler decides on: the list of lanes, what of them is
// claimed, what is ready, the bytes in flight, and the wish to stop. A unit is claimed under the lock, made without
// it, deposited under it. Workers claim the first unit, in the order in which the consumer will want them, that
// the budget allows. The consumer (the thread in Next) takes chunks in order; what it waits for and nobody has
// claimed it makes itself, whatever the budget, so that it never waits for a thread that waits for it; while it
// waits for another it makes what else it can. Within a lane a unit waits only for the unit before it, which was
// claimed earlier by a running thread, so the earliest unit can always go on. Threads are started when there is
// work for them for the first time, and stopped and joined by the destructor. They never touch the host language:
// what has to run there is made by the consumer only. No exception leaves a thread. The first error in the order of
// records ends the stream; what lies behind it is dropped.

#include "pipeline/record_stream.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace tfr {
namespace {

constexpr auto kInterruptInterval = std::chrono::milliseconds(50);

}  // namespace

class RecordStream::Impl {
 public:
  Impl(std::vector<InputFile> files, const StreamOptions& options)
      : files_(std::move(files)),
        options_(options),
        pool_(options.prefetch_bytes + 4 * options.lane.chunk_bytes),
        slots_(std::max<size_t>(options.cycle_length, 1)) {}

  ~Impl() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      stop_ = true;
      for (const std::shared_ptr<Lane>& lane : lanes_) lane->Cancel();
    }
    work_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  bool InOwnProcess() const { return process_ == ::getpid(); }

  Status Next(size_t max_records, RecordBatchPtr* result) {
    result->reset();
    if (finished_) return {};
    auto batch = std::make_shared<RecordBatch>();
    const bool as_they_come = max_records == kAsTheyCome;
    if (!as_they_come) batch->records.reserve(std::min<size_t>(max_records, 1 << 16));
    while (as_they_come ? !Enough(*batch) : batch->size() < max_records) {
      Slot* slot = nullptr;
      TFR_RETURN_IF_ERROR(FindRecords(&slot));
      if (slot == nullptr) break;
      if (slot->taken == slot->chunk.records.size()) {  // nothing but an error is left in this lane
        if (as_they_come && batch->size() > 0) break;
        finished_ = true;
        return slot->error;
      }
      Move(slot, as_they_come ? SIZE_MAX : max_records - batch->size(), batch.get());
    }
    if (batch->size() == 0) {
      finished_ = true;
    } else {
      *result = std::move(batch);
    }
    return {};
  }

 private:
  // A place in the cycle: the file it holds, and what is left of the chunk taken last.
  struct Slot {
    std::shared_ptr<Lane> lane;  // null: the slot is empty
    Chunk chunk;
    size_t taken = 0;  // records of the chunk already given
    size_t visit = 0;  // records given in this visit
    bool last = false;
    Status error;      // what stands behind the chunk
  };

  // With kAsTheyCome a batch is what one chunk holds, or so many records of an interleave.
  static constexpr size_t kInterleavedBatch = 1024;
  bool Enough(const RecordBatch& batch) const {
    return slots_.size() == 1 ? batch.size() > 0 : batch.size() >= kInterleavedBatch;
  }

  // The slot whose turn it is, with a record or an error at hand; null at the end of everything.
  Status FindRecords(Slot** found) {
    while (true) {
      Slot& slot = slots_[cursor_];
      if (!slot.lane) {
        if (!GiveNextFile(&slot)) {
          if (active_slots_ == 0) return {};
          Advance();
          continue;
        }
      }
      while (slot.taken == slot.chunk.records.size() && slot.error.ok() && !slot.last) {
        TFR_RETURN_IF_ERROR(TakeChunk(&slot));
      }
      if (slot.taken < slot.chunk.records.size() || !slot.error.ok()) {
        *found = &slot;
        return {};
      }
      RetireLane(&slot);
      Advance();
    }
  }

  void Advance() {
    slots_[cursor_].visit = 0;
    cursor_ = (cursor_ + 1) % slots_.size();
  }

  bool GiveNextFile(Slot* slot) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (lanes_given_ == lanes_.size() && !OpenNextLane()) return false;
    *slot = {};
    slot->lane = lanes_[lanes_given_++];
    ++active_slots_;
    return true;
  }

  void RetireLane(Slot* slot) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto place = std::find(lanes_.begin(), lanes_.end(), slot->lane);
    lanes_.erase(place);
    --lanes_given_;
    --active_slots_;
    // The slot takes the next file on its next visit.
    *slot = {};
  }

  // Appends records of the slot to the batch, at most `room` and at most what its visit allows.
  void Move(Slot* slot, size_t room, RecordBatch* batch) {
    std::vector<Bytes>& from = slot->chunk.records;
    size_t count = std::min(room, from.size() - slot->taken);
    if (slots_.size() > 1) count = std::min(count, options_.block_length - slot->visit);
    batch->origins.push_back({batch->size(), slot->lane->path(), slot->chunk.first_index + static_cast<int64_t>(slot->taken)});
    if (batch->records.empty() && slot->taken == 0 && count == from.size()) {
      batch->records.swap(from);  // the whole chunk is the batch, so far
      slot->taken = 0;
      batch->owners.push_back(std::exchange(slot->chunk.buffer, nullptr));
      slot->visit += count;
    } else {
      const auto begin = from.begin() + static_cast<ptrdiff_t>(slot->taken);
      batch->records.insert(batch->records.end(), begin, begin + static_cast<ptrdiff_t>(count));
      AddOwner(slot->chunk.buffer, batch);
      slot->taken += count;
      slot->visit += count;
      if (slot->taken == from.size()) slot->chunk.buffer.reset();
    }
    if (slots_.size() > 1 && slot->visit >= options_.block_length) Advance();
  }

  void AddOwner(const Owner& buffer, RecordBatch* batch) {
    // An interleave comes back to the same few buffers again and again.
    const size_t look_back = std::min(batch->owners.size(), slots_.size());
    for (size_t i = 0; i < look_back; ++i) {
      if (batch->owners[batch->owners.size() - 1 - i] == buffer) return;
    }
    batch->owners.push_back(buffer);
  }

  // The slot's next chunk, made by whomever.
  Status TakeChunk(Slot* slot) {
    std::unique_lock<std::mutex> lock(mutex_);
    Lane* const lane = slot->lane.get();
    Produced produced;
    while (!lane->Take(&produced)) {
      if (lane->FrontIsUnclaimed() && lane->CanClaim(true)) {
        MakeUnit(slot->lane, true, &lock);
        continue;
      }
      if (std::shared_ptr<Lane> other = PickLane(true)) {
        MakeUnit(other, true, &lock);
        continue;
      }
      if (ready_.wait_for(lock, kInterruptInterval) == std::cv_status::timeout) {
        lock.unlock();
        TFR_RETURN_IF_ERROR(CheckInterrupt());
        lock.lock();
      }
    }
    bytes_in_flight_ -= produced.chunk.buffer_bytes;
    if (!started_ && PickLane(false) != nullptr) StartThreads();
    lock.unlock();
    work_.notify_one();
    slot->chunk = std::move(produced.chunk);
    slot->taken = 0;
    slot->error = std::move(produced.status);
    slot->last = produced.last;
    return {};
  }

  // Claims a unit of the lane, makes it, deposits it. Called and left with the lock held.
  void MakeUnit(const std::shared_ptr<Lane>& lane, bool consumer, std::unique_lock<std::mutex>* lock) {
    const size_t unit = lane->Claim();
    const size_t estimate = options_.lane.chunk_bytes;
    bytes_in_flight_ += estimate;
    lock->unlock();
    Produced produced;
    const bool made = lane->Produce(unit, consumer, &produced);
    lock->lock();
    bytes_in_flight_ -= estimate;
    if (made) {
      bytes_in_flight_ += produced.chunk.buffer_bytes;
      lane->Deposit(unit, std::move(produced));
    } else {
      lane->Unclaim(unit);
    }
    ready_.notify_one();
    work_.notify_one();
  }

  // The lane whose unit is wanted first, if the budget allows one more; opens the next file where all that are
  // open are at work. Under the lock.
  std::shared_ptr<Lane> PickLane(bool consumer) {
    if (bytes_in_flight_ + options_.lane.chunk_bytes > options_.prefetch_bytes) return nullptr;
    for (const std::shared_ptr<Lane>& lane : lanes_) {
      if (lane->CanClaim(consumer)) return lane;
    }
    if (lanes_.size() >= slots_.size() + options_.num_threads + 1 || !OpenNextLane()) return nullptr;
    return lanes_.back()->CanClaim(consumer) ? lanes_.back() : nullptr;
  }

  bool OpenNextLane() {
    if (next_file_ == files_.size()) return false;
    lanes_.push_back(std::make_shared<Lane>(files_[next_file_++], options_.lane, &pool_));
    return true;
  }

  // Under the lock. Without threads, because none can be had, all work is done in Next.
  void StartThreads() {
    started_ = true;
    try {
      for (size_t i = 0; i < options_.num_threads; ++i) threads_.emplace_back([this] { Work(); });
    } catch (const std::system_error&) {
    }
  }

  void Work() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      std::shared_ptr<Lane> lane;
      work_.wait(lock, [&] { return stop_ || (lane = PickLane(false)) != nullptr; });
      if (stop_) return;
      MakeUnit(lane, false, &lock);
    }
  }

  const std::vector<InputFile> files_;
  const StreamOptions options_;
  const pid_t process_ = ::getpid();
  BufferPool pool_;

  std::mutex mutex_;               // guards the lanes' scheduling state and the members up to `threads_`
  std::condition_variable ready_;  // for the consumer: something was deposited
  std::condition_variable work_;   // for workers: something can be claimed, or stop
  std::deque<std::shared_ptr<Lane>> lanes_;  // in file order: those that slots hold, then those read ahead
  size_t lanes_given_ = 0;                   // to slots
  size_t next_file_ = 0;
  size_t bytes_in_flight_ = 0;
  bool stop_ = false;
  bool started_ = false;

  std::vector<std::thread> threads_;

  // The consumer's own.
  std::vector<Slot> slots_;
  size_t cursor_ = 0;
  size_t active_slots_ = 0;
  bool finished_ = false;
};

RecordStream::RecordStream(std::vector<InputFile> files, const StreamOptions& options)
    : impl_(std::make_unique<Impl>(std::move(files), options)) {}

RecordStream::~RecordStream() {
  if (!impl_->InOwnProcess()) (void)impl_.release();
}

Status RecordStream::Next(size_t max_records, RecordBatchPtr* batch) {
  if (!impl_->InOwnProcess()) {
    return Status::InvalidArgument("this reader was started in another process; open it anew after a fork");
  }
  return impl_->Next(max_records, batch);
}

}  // namespace tfr
