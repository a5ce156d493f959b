// The scheduler behind ShardStream; see shard_stream.h, lane.h and sequence.h.
//
// The protocol. One mutex guards everything that decisions depend on: the open lanes, what is claimed and what is ready
// in them, batches cut and batches done, the bytes in flight, and the wish to stop. There are three kinds of work, each
// claimed under the lock, done without it, and handed in under it:
//   a unit     a chunk of a lane. Within a lane a unit waits only for the one before it, which was claimed earlier by a
//              running thread, so the earliest can always continue.
//   the cut    the next batch from the sequence, by one thread at a time (`cutting_`), which alone touches the
//              sequence and the cutter. It never waits: if the next chunk is not made yet, its lane is remembered
//              (`wanted_`), and the next unit of that lane then comes before all others, even if the budget is used up.
//   transform  of a batch that was cut. If it is much work, its parts are listed (`shared_`), for any thread that is
//              free and the one that does the transform, which waits only for parts that running threads took.
// Workers, and the caller while it waits, take the work that is nearest to a finished batch: part, transform, cut,
// unit; but the next unit of a stream comes before transforms that another thread is free for. Anything but a regular
// file may block or need the host language; only the caller opens it. If the host wants to stop while the caller waits,
// the stream ends. The caller takes finished batches by number. If the system refuses to open a file to the caller,
// units in the making are waited for and what was opened ahead is closed, before that is an error. Threads start when
// there is work for them beyond the first chunk, no more than may work at once (working.h), and are stopped and joined
// by the destructor; they never touch the host language, and no exception leaves one. The first error, in the order of
// batches, ends the stream; what comes after it is dropped.

#include "pipeline/shard_stream.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <new>
#include <utility>

#include "base/block.h"
#include "base/interrupt.h"
#include "base/process.h"
#include "pipeline/budget.h"
#include "pipeline/claimed.h"
#include "pipeline/delivered.h"
#include "pipeline/fetch.h"
#include "pipeline/open_lanes.h"
#include "pipeline/shared_work.h"
#include "pipeline/worker_threads.h"
#include "pipeline/working.h"

namespace tfr {
namespace {
// How many files are made at once if they are small, and how many more may then be open.
constexpr size_t kFilesTogether = 8;
constexpr size_t kMoreSmallFiles = 4 * kFilesTogether;
constexpr auto kInterruptInterval = std::chrono::milliseconds(50);

}  // namespace

class ShardStream::Impl : public LaneAccess, public Crew {
 public:
  Impl(std::vector<InputFile> files, const StreamOptions& options, const StreamState& state)
      : files_(std::move(files)),
        options_(options),
        pool_(options.prefetch_bytes + 4 * options.lane.chunk_bytes, kLargeUnit),
        order_(files_.size(), options.sequence),
        ahead_(ReadAhead::Start(files_, options.sequence, options.lane.compression, options.fetches)),
        lanes_(files_, &order_, options.lane, &pool_,
               SlotsFor(options.sequence, files_.size()) + options.num_threads + 1, ahead_),
        budget_(options.prefetch_bytes, options.lane.chunk_bytes),
        working_(options.num_threads, options.fitting_threads),
        start_(state),
        delivered_(state.cutter, state.shuffled, options.in_order, options.fetches) {}

  ~Impl() override {
    Stop();
    threads_.Join();
  }

  // Ends all work; what is half done stays so.
  void Stop() noexcept {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      stop_ = true;
      abandoned_.store(true, std::memory_order_relaxed);
      lanes_.CancelAll();
    }
    if (options_.fetches) options_.fetches->Close();
    work_.notify_all();
    ready_.notify_all();
  }

  bool InOwnProcess() const { return generation_ == ForkGeneration(); }
  Status Next(Delivered* delivered) {
    *delivered = {};
    if (delivered_.ended()) return delivered_.later();
    if (!cutter_) {
      Status started = Start();
      if (!started.ok()) return delivered_.End(std::move(started));
    }
    std::unique_lock<std::mutex> lock(mutex_);
    auto done = done_.end();
    while (stop_ || (done = FindDone()) == done_.end()) {
      if (stop_) {  // a thread had no memory to go on, or the host wants to stop
        return delivered_.End(interrupted_.ok() ? Status::OutOfMemory() : interrupted_);
      }
      if (cut_ended_ && in_flight_batches_ == 0) {
        delivered_.TakeRest(std::move(at_end_));
        return delivered_.End(end_status_);
      }
      // Anything longer than one chunk is worth threads.
      if (units_made_ > 1 && LacksThreads() && HasWorkForThreads()) StartThreads();
      if (WorkOnce(Caller::kConsumer, &lock)) continue;
      caller_waits_ = true;
      const bool timeout = ready_.wait_for(lock, kInterruptInterval) == std::cv_status::timeout;
      caller_waits_ = false;
      if (timeout) {
        lock.unlock();
        Status interrupted = CheckInterrupt();
        if (!interrupted.ok()) {
          Stop();
          return delivered_.End(std::move(interrupted));
        }
        lock.lock();
      }
    }
    Done taken = std::move(done->second);
    done_.erase(done);
    ++next_delivered_;
    --in_flight_batches_;
    budget_.Remove(taken.cut.bytes);
    if (LacksThreads() && HasWorkForThreads()) StartThreads();
    const bool wake = CanWake() && HasWorkForThreads();
    lock.unlock();
    if (wake) work_.notify_one();
    if (!taken.status.ok()) return delivered_.End(std::move(taken.status));
    delivered->batch = std::move(taken.cut.batch);
    delivered->result = std::move(taken.result);
    delivered_.Take(std::move(taken.cut));
    return {};
  }

  StreamState State() const { return delivered_.State(); }

  std::vector<Sequence::SkippedIn> TakeSkipped() { return delivered_.TakeSkipped(); }

 private:
  struct Done {
    Cut cut;
    std::shared_ptr<void> result;
    Status status;
  };

  // Opens the files of the state. Here and not in the constructor, since it reads them.
  Status Start() {
    std::vector<ShuffleItem> items;
    TFR_RETURN_IF_ERROR(CheckFiles(start_.cutter.sequence, files_.size()));
    TFR_RETURN_IF_ERROR(FetchRecords(files_, start_.shuffled, options_.lane, &pool_, options_.fetches, &items));
    sequence_ = std::make_unique<Sequence>(&order_, options_.sequence, start_.cutter.sequence, this);
    cutter_ = std::make_unique<BatchCutter>(sequence_.get(), options_.cutter, start_.cutter, std::move(items));
    if (ahead_) ahead_->Begin(start_.cutter.sequence.epoch, start_.cutter.sequence.next_file);
    return {};
  }

  std::map<uint64_t, Done>::iterator FindDone() {
    return options_.in_order ? done_.find(next_delivered_) : done_.begin();
  }

  // Does one piece of work, if there is any for this thread. Called and left with the lock held.
  bool WorkOnce(Caller caller, std::unique_lock<std::mutex>* lock) {
    const bool consumer = caller == Caller::kConsumer;
    const bool helps = !consumer || options_.caller_helps || options_.num_threads == 0 || threads_.empty();
    if (helps && shared_.any()) {
      shared_.TakeOne(lock);
      return true;
    }
    if (std::shared_ptr<Lane> lane = helps ? PickInTurn(consumer) : nullptr) {
      MakeUnits(std::move(lane), Caller::kWorker, lock);
      return true;
    }
    if (helps && !cut_.empty()) {
      TransformOne(lock);
      return true;
    }
    if (helps && CanCut()) {
      CutOne(lock);
      return true;
    }
    if (refused_) {
      if (!consumer || units_in_making_ > 0 || !RoomForBatch()) return false;
      budget_.Remove(lanes_.CloseAhead());
      refused_ = false;
      MakeUnits(wanted_, Caller::kLoneConsumer, lock);
      return true;
    }
    if (wanted_ && RoomForBatch() && wanted_->FrontIsUnclaimed() && wanted_->CanClaim(caller)) {
      if (helps || !wanted_->CanClaim(Caller::kWorker)) {
        MakeUnits(wanted_, caller, lock);
        return true;
      }
    }
    if (helps && (!consumer || !threads_.empty())) {
      if (std::shared_ptr<Lane> lane = PickAhead()) {
        MakeUnits(std::move(lane), Caller::kWorker, lock);
        return true;
      }
    }
    return false;
  }

  bool HasWorkForThreads() {
    if (shared_.any()) return true;
    if (wanted_ && RoomForBatch() && wanted_->FrontIsUnclaimed() && wanted_->CanClaim(Caller::kWorker)) return true;
    return !cut_.empty() || CanCut() || PickAhead() != nullptr;
  }

  std::shared_ptr<Lane> PickLane() { return lanes_.PickForWorker(budget_.small_files() ? kMoreSmallFiles : 0); }
  // A lane with a unit to make ahead, if there is room for it.
  std::shared_ptr<Lane> PickAhead() {
    if (refused_ || !budget_.HasRoomForChunk()) return nullptr;
    return IfThereIsRoom(budget_.HasRoomAhead() ? PickLane() : lanes_.PickGiven());
  }

  // The lane that is read now, if one thread at a time can make its units, none does, and another thread waits, which
  // takes the batches that are to be transformed.
  std::shared_ptr<Lane> PickInTurn(bool consumer) {
    const bool other_waits = CanWake() || (!consumer && caller_waits_ && options_.caller_helps);
    if (!other_waits || !options_.transform || refused_ || (cut_.empty() && !CanCut())) return nullptr;
    std::shared_ptr<Lane> lane = lanes_.PickGiven();
    return lane && lane->in_turn() ? IfThereIsRoom(std::move(lane)) : nullptr;
  }

  std::shared_ptr<Lane> IfThereIsRoom(std::shared_ptr<Lane> lane) const {
    return lane && budget_.HasRoomFor(budget_.EstimateOf(*lane)) ? lane : nullptr;
  }

  // One batch may always be in the making; more if the budget allows it, but tiny ones must not pile up.
  bool RoomForBatch() const {
    return in_flight_batches_ == 0 || (!budget_.full() && in_flight_batches_ < 4 + 4 * working_.allowed());
  }

  bool CanCut() const {
    return cutter_ && !cutting_ && !cut_ended_ && RoomForBatch() && (!wanted_ || wanted_->FrontIsReady());
  }

  void CutOne(std::unique_lock<std::mutex>* lock) {
    cutting_ = true;
    wanted_.reset();
    lock->unlock();
    Cut cut;
    Status error;
    auto event = BatchCutter::Event::kError;
    try {
      event = cutter_->Next(&cut);
      if (event == BatchCutter::Event::kError) error = sequence_->error();
    } catch (const std::bad_alloc&) {
      error = Status::OutOfMemory();
    }
    lock->lock();
    cutting_ = false;
    if (event == BatchCutter::Event::kWait) {
      wanted_ = sequence_->waiting_for();
    } else if (event == BatchCutter::Event::kBatch) {
      ++in_flight_batches_;
      budget_.AddBatch(cut.bytes);
      Done done = {std::move(cut), nullptr, {}};
      if (options_.transform && (!options_.transforms_now || options_.transforms_now())) {
        cut_.emplace_back(next_cut_++, std::move(done));
      } else {
        done_.emplace(next_cut_++, std::move(done));
      }
    } else {
      cut_ended_ = true;
      end_status_ = std::move(error);
      at_end_ = std::move(cut);
    }
    NotifyAfterWork();
  }

  void TransformOne(std::unique_lock<std::mutex>* lock) {
    const uint64_t number = cut_.front().first;
    Done done = std::move(cut_.front().second);
    cut_.pop_front();
    lock->unlock();
    Transformed made;
    try {
      done.status = options_.transform(*done.cut.batch, this, &made);
    } catch (const std::bad_alloc&) {
      done.status = Status::OutOfMemory();
    }
    // The records' buffers go back to the pool now, for the next chunks, while they are still in the cache.
    if (!made.keeps_batch) done.cut.batch.reset();
    done.result = std::move(made.value);
    for (Sequence::SkippedIn& skipped : made.skipped) done.cut.skipped.push_back(std::move(skipped));
    lock->lock();
    Interrupt(done.status);
    const size_t bytes = made.bytes + (made.keeps_batch ? done.cut.bytes : 0);
    budget_.Remove(done.cut.bytes);
    budget_.Add(bytes);
    if (done.result) room_.Note(budget_.held());
    done.cut.bytes = bytes;
    done_.emplace(number, std::move(done));
    NotifyAfterWork();
  }

  // Crew, for the threads that transform.
  size_t size() const override { return crew_size_.load(std::memory_order_relaxed); }

  void Share(size_t tasks, const std::function<void(size_t)>& run) override {
    std::unique_lock<std::mutex> lock(mutex_);
    const auto wake = [this, tasks] {
      const size_t free = std::min(idle_workers_, working_.room());
      for (size_t i = 0; i < std::min(free, tasks); ++i) work_.notify_one();
      if (caller_waits_ && options_.caller_helps) ready_.notify_one();
    };
    shared_.Share(tasks, run, wake, &lock);
  }

  void Claim(std::shared_ptr<Lane> lane, std::vector<Claimed>* claimed) {
    const size_t estimate = budget_.EstimateOf(*lane);
    const size_t unit = lane->Claim();
    claimed->push_back({std::move(lane), unit, estimate, {}});
    ++units_made_;
    budget_.Add(estimate);
  }

  // Makes a unit. If files are small, makes those of the next files too, since a handover costs as much as reading one.
  void MakeUnits(std::shared_ptr<Lane> lane, Caller caller, std::unique_lock<std::mutex>* lock) {
    const bool several = budget_.small_files() && lane->unopened() && caller != Caller::kLoneConsumer;
    std::vector<Claimed> claimed;
    Claim(std::move(lane), &claimed);
    while (several && claimed.size() < kFilesTogether && budget_.HasRoomFor(kSmallFile)) {
      std::shared_ptr<Lane> next = PickLane();
      if (!next || !next->unopened()) break;
      Claim(std::move(next), &claimed);
    }
    units_in_making_ += claimed.size();
    const bool timed = caller == Caller::kWorker && working_.TimesNext();
    lock->unlock();
    const ThreadTime begin = timed ? ThreadTime::Now() : ThreadTime();
    MakeInOrder(&claimed, caller);
    const ThreadTime end = timed ? ThreadTime::Now() : ThreadTime();
    lock->lock();
    if (timed) working_.Note(begin, end);
    units_in_making_ -= claimed.size();
    for (Claimed& one : claimed) {
      budget_.Remove(one.estimate);
      if (!one.made) {
        one.lane->Unclaim(one.unit);
        if (one.produced.status.ok()) continue;
        lanes_.OpenNoMore();
        refused_ = refused_ || (caller == Caller::kConsumer && one.lane == wanted_);
        continue;
      }
      Interrupt(one.produced.status);
      budget_.Add(one.produced.chunk.buffer_bytes);
      if (one.lane->unopened()) budget_.Opened(one.produced.chunk.buffer_bytes, one.produced.last);
      one.lane->Deposit(one.unit, std::move(one.produced));
    }
    NotifyAfterWork();
  }

  // Ends the stream if work was cancelled: the host wants to stop, now, not when what was read before has been handed
  // out. Under the lock.
  void Interrupt(const Status& status) {
    if (status.code() != StatusCode::kCancelled || stop_) return;
    interrupted_ = status;
    stop_ = true;
  }

  // Waking a thread for nothing costs more than asking: a switch there and a switch back.
  void NotifyAfterWork() {
    if (caller_waits_ && CallerIsNeeded()) ready_.notify_one();
    if (CanWake() && HasWorkForThreads()) work_.notify_one();
  }

  bool CanWake() const { return idle_workers_ > 0 && working_.MayJoin(); }

  bool CallerIsNeeded() {
    return threads_.empty() || FindDone() != done_.end() || (cut_ended_ && in_flight_batches_ == 0) ||
           (wanted_ && wanted_->FrontIsUnclaimed() && wanted_->CanClaim(Caller::kConsumer) &&
            !wanted_->CanClaim(Caller::kWorker)) ||
           ((options_.caller_helps || LacksThreads()) && HasWorkForThreads());
  }

  // LaneAccess, for the thread that cuts.
  std::shared_ptr<Lane> OpenLane(int64_t epoch, size_t turn, Place start) override {
    std::lock_guard<std::mutex> lock(mutex_);
    return lanes_.Open(epoch, turn, start);
  }
  bool TryTake(const std::shared_ptr<Lane>& lane, Produced* produced) override {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!lane->Take(produced)) return false;
    budget_.Remove(produced->chunk.buffer_bytes);
    return true;
  }
  void Retire(const std::shared_ptr<Lane>& lane) override {
    std::lock_guard<std::mutex> lock(mutex_);
    lanes_.Retire(lane);
  }

  bool LacksThreads() const { return threads_.AreFewerThan(working_.allowed()); }

  // Under the lock. If no threads can be had, all work is done in Next.
  void StartThreads() {
    threads_.Start(working_.allowed(), [this] { Work(); });
    crew_size_ = std::min(options_.num_threads, working_.fit()) + (options_.caller_helps ? 1 : 0);
  }

  // Half-done work can't be undone when memory runs out: the stream ends.
  void Work() noexcept {
    const StopsWith stops(&abandoned_);
    try {
      WorkUntilStopped();
    } catch (const std::bad_alloc&) {
      Stop();
    }
  }

  void WorkUntilStopped() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!stop_) {
      if (working_.MayJoin()) {
        working_.Join();
        while (!stop_ && working_.MayStay() && WorkOnce(Caller::kWorker, &lock)) {
        }
        working_.Leave();
        if (stop_) return;
      }
      ++idle_workers_;
      work_.wait(lock);
      --idle_workers_;
    }
  }

  const std::vector<InputFile> files_;
  const StreamOptions options_;
  const uint64_t generation_ = ForkGeneration();
  BufferPool pool_;

  std::mutex mutex_;               // guards the members from here to stop_, and the lanes' scheduling state
  std::condition_variable ready_;  // for the caller: something was handed in
  std::condition_variable work_;   // for workers: something can be claimed, or stop
  FileOrder order_;
  const std::shared_ptr<ReadAhead> ahead_;  // null without objects
  OpenLanes lanes_;
  std::shared_ptr<Lane> wanted_;  // the cut waits for its next chunk
  bool cutting_ = false;
  bool cut_ended_ = false;
  Status end_status_;
  Cut at_end_;  // no batch, but what was skipped after the last one
  uint64_t next_cut_ = 0;
  std::deque<std::pair<uint64_t, Done>> cut_;  // to be transformed
  SharedWork shared_;                          // by transforms
  std::map<uint64_t, Done> done_;
  uint64_t next_delivered_ = 0;
  size_t in_flight_batches_ = 0;  // cut and not delivered
  BlockRoom room_;                // for the columns of as many batches
  size_t units_made_ = 0;
  size_t units_in_making_ = 0;  // claimed, and not handed in
  bool refused_ = false;        // the system did not let the caller open the file that is waited for
  size_t idle_workers_ = 0;
  bool caller_waits_ = false;
  Status interrupted_;  // the consumer's thread is to stop
  Budget budget_;
  WorkingThreads working_;
  bool stop_ = false;
  std::atomic<bool> abandoned_{false};  // who reads a pipe must not wait for it

  std::atomic<size_t> crew_size_ = 1;
  WorkerThreads threads_;  // the caller's own

  // The cutting thread's; handed from one to the next by `cutting_`.
  std::unique_ptr<Sequence> sequence_;
  std::unique_ptr<BatchCutter> cutter_;

  // The caller's own.
  const StreamState start_;
  Deliveries delivered_;
};

ShardStream::ShardStream(std::vector<InputFile> files, const StreamOptions& options, const StreamState& state)
    : impl_(std::make_unique<Impl>(std::move(files), options, state)) {}

ShardStream::~ShardStream() {
  if (!impl_->InOwnProcess()) (void)impl_.release();
}

Status ShardStream::Next(Delivered* delivered) {
  if (!impl_->InOwnProcess()) {
    return Status::InvalidArgument("this reader was started in another process; open it again after the fork");
  }
  try {
    return impl_->Next(delivered);
  } catch (const std::bad_alloc&) {
    impl_->Stop();
    return Status::OutOfMemory();
  }
}

StreamState ShardStream::State() const { return impl_->State(); }

std::vector<Sequence::SkippedIn> ShardStream::TakeSkipped() { return impl_->TakeSkipped(); }

}  // namespace tfr
