// Blocks of an object; see remote_file.h.

#include "io/remote_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

namespace tfr {
namespace {

// The least that is fetched where nothing was planned.
constexpr int64_t kLeastBytes = 64 << 10;

// Adds a range to those that ascend and lie apart from each other.
void Add(ByteRange range, std::vector<ByteRange>* ranges) {
  auto first =
      std::find_if(ranges->begin(), ranges->end(), [&](const ByteRange& one) { return one.end >= range.begin; });
  auto last = first;
  for (; last != ranges->end() && last->begin <= range.end; ++last) {
    range = {std::min(range.begin, last->begin), std::max(range.end, last->end)};
  }
  ranges->insert(ranges->erase(first, last), range);
}

}  // namespace

RemoteFile::RemoteFile(std::shared_ptr<FetchQueue> queue, RemoteObject object, int64_t from, int64_t head, int64_t to)
    : queue_(std::move(queue)),
      object_(object.number),
      head_(from == 0 ? static_cast<int64_t>(queue_->options().block_bytes) : head),
      to_(to),
      later_(from == kLater),
      from_(from == kLater ? INT64_MAX : from),
      size_(object.size) {
  regular_ = true;
  if (size_ < 0) return;
  opened_size_ = size_;
  plan_.push_back(later_ ? ByteRange{0, std::min(head, size_)} : ByteRange{std::min(from, size_), std::min(to, size_)});
}

RemoteFile::~RemoteFile() { DropAll(); }

Status RemoteFile::Open() {
  FetchPtr opening;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (size_ < 0 && !opening_) (void)AskNextLocked();
    opening = opening_;
    if (opening) queue_->Reserve(opening.get());
  }
  if (!opening) return {};
  TFR_RETURN_IF_ERROR(queue_->Hold(opening.get()));
  {
    std::lock_guard<std::mutex> lock(mutex_);
    NoteSize(*opening);
  }
  queue_->LetGo(opening.get());
  opened_size_ = opening->object_size;
  queue_->TellListener();
  return {};
}

// Called with the lock. The bytes that came with the size are the first block.
void RemoteFile::NoteSize(const Fetch& fetch) const {
  if (size_ >= 0) return;
  size_ = fetch.object_size;
  const auto got = static_cast<int64_t>(fetch.bytes.size);
  if (got > 0 && (from_ == 0 || later_)) {
    blocks_[0] = {got, opening_, {}};
    ahead_ += got;
  } else {
    queue_->Drop(opening_);
  }
  const int64_t next = std::max(got, from_);
  if (next < std::min(to_, size_)) plan_.push_back({next, std::min(to_, size_)});
}

bool RemoteFile::AskNext() {
  std::lock_guard<std::mutex> lock(mutex_);
  return AskNextLocked();
}

bool RemoteFile::AskNextLocked() const {
  if (size_ < 0) {
    if (!opening_) {
      opening_ = queue_->Ask(object_, 0, std::max<int64_t>(head_, 1), true);
      return true;
    }
    if (!queue_->Succeeded(*opening_)) return false;
    NoteSize(*opening_);
  }
  while (!plan_.empty() && plan_.front().begin >= plan_.front().end) plan_.pop_front();
  if (plan_.empty()) return false;
  AskFor(plan_.begin(), plan_.front().begin);
  return true;
}

// Asks for a block of the plan's range, from `begin` on. What is left of the range after it is not worth a request of
// its own if it is short.
FetchPtr RemoteFile::AskFor(std::deque<ByteRange>::iterator range, int64_t begin) const {
  const auto most = static_cast<int64_t>(queue_->options().block_bytes);
  const int64_t end = range->end - begin <= most + most / 4 ? range->end : begin + most;
  FetchPtr fetch = queue_->Ask(object_, begin, end);
  blocks_[begin] = {end, fetch, {}};
  ahead_ += end - begin;
  const ByteRange before = {range->begin, begin};
  const ByteRange after = {end, range->end};
  auto place = plan_.erase(range);
  if (after.begin < after.end) place = plan_.insert(place, after);
  if (before.begin < before.end) plan_.insert(place, before);
  return fetch;
}

bool RemoteFile::HasMoreToAsk() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return size_ < 0 || !plan_.empty() || later_;
}

int64_t RemoteFile::ahead() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return ahead_;
}

void RemoteFile::DropAll() const {
  if (!queue_->InOwnProcess()) return;
  for (const auto& [begin, block] : blocks_) queue_->Drop(block.fetch);
  blocks_.clear();
  ahead_ = 0;
  if (extra_.fetch) queue_->Drop(extra_.fetch);
  extra_ = {};
  if (opening_ && size_ < 0) queue_->Drop(opening_);
}

void RemoteFile::Expect(std::vector<ByteRange> ranges) {
  std::lock_guard<std::mutex> lock(mutex_);
  DropAll();
  plan_.assign(ranges.begin(), ranges.end());
  later_ = false;
}

void RemoteFile::WillRead(int64_t begin, int64_t end) const {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!later_) return;  // it was known from the start
    later_ = false;
    DropAll();
    plan_.clear();
    end = std::min(end, size_);
    if (begin < end) plan_.push_back({begin, end});
  }
  queue_->TellListener();
}

// Returns the block with the byte at `offset`; up to `size` bytes of it are wanted.
FetchPtr RemoteFile::FetchFor(int64_t offset, size_t size) const {
  auto next = blocks_.upper_bound(offset);
  if (next != blocks_.begin() && std::prev(next)->second.end > offset) return std::prev(next)->second.fetch;
  if (extra_.fetch && extra_begin_ <= offset && offset < extra_.end) return extra_.fetch;
  const auto range = std::find_if(plan_.begin(), plan_.end(), [&](const ByteRange& one) { return one.end > offset; });
  const auto most = static_cast<int64_t>(queue_->options().block_bytes);
  if (range != plan_.end() && range->begin <= offset) {
    return AskFor(range, offset - range->begin < most ? range->begin : offset);
  }
  // Reading on where the last one ended asks for more each time.
  const int64_t last = extra_.fetch && extra_.end == offset ? extra_.end - extra_begin_ : 0;
  const int64_t wanted = std::max({kLeastBytes, static_cast<int64_t>(size), std::min(2 * last, most)});
  if (extra_.fetch) queue_->Drop(extra_.fetch);
  extra_begin_ = offset;
  extra_.end = offset + std::min(wanted, size_ - offset);
  extra_.fetch = queue_->Ask(object_, offset, extra_.end);
  return extra_.fetch;
}

// Frees blocks that have been read to their ends; false if there was none.
bool RemoteFile::NoteRead(int64_t begin, int64_t end) const {
  std::lock_guard<std::mutex> lock(mutex_);
  bool let_go = false;
  auto found = blocks_.upper_bound(begin);
  if (found != blocks_.begin()) --found;
  while (found != blocks_.end() && found->first < end) {
    Block& block = found->second;
    const ByteRange range = {std::max(begin, found->first), std::min(end, block.end)};
    if (range.begin < range.end) Add(range, &block.read);
    if (block.read.size() != 1 || block.read.front().begin > found->first || block.read.front().end < block.end) {
      ++found;
      continue;
    }
    queue_->Drop(block.fetch);
    ahead_ -= block.end - found->first;
    found = blocks_.erase(found);
    let_go = true;
  }
  return let_go;
}

void RemoteFile::Pass(int64_t begin, int64_t end) const {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    for (ByteRange& range : plan_) {
      if (range.begin >= begin && range.begin < end) range.begin = std::min(end, range.end);
    }
  }
  if (NoteRead(begin, end)) queue_->TellListener();
}

void RemoteFile::AskAhead() const {
  std::lock_guard<std::mutex> lock(mutex_);
  while (queue_->HasRoom(queue_->options().block_bytes) && AskNextLocked()) {
  }
}

Status RemoteFile::Size(int64_t* size) const {
  *size = opened_size_;
  return {};
}

Status RemoteFile::ReadAt(int64_t offset, uint8_t* out, size_t size, size_t* got) const {
  *got = 0;
  if (offset >= opened_size_ || size == 0) return {};
  if (asks_by_itself_) AskAhead();
  FetchPtr fetch;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    fetch = FetchFor(offset, size);
    queue_->Reserve(fetch.get());  // before another thread can drop it
  }
  TFR_RETURN_IF_ERROR(queue_->Hold(fetch.get()));
  const auto skipped = static_cast<size_t>(offset - fetch->begin);
  *got = std::min(size, fetch->bytes.size - skipped);
  std::memcpy(out, fetch->bytes.data + skipped, *got);
  queue_->LetGo(fetch.get());
  if (NoteRead(offset, offset + static_cast<int64_t>(*got))) queue_->TellListener();
  return {};
}

Status RemoteFile::ReadPartsAt(int64_t offset, const iovec* parts, size_t count, size_t* got) const {
  *got = 0;
  for (size_t i = 0; i < count; ++i) {
    size_t now = 0;
    TFR_RETURN_IF_ERROR(ReadFullyAt(offset + static_cast<int64_t>(*got), static_cast<uint8_t*>(parts[i].iov_base),
                                    parts[i].iov_len, &now));
    *got += now;
    if (now < parts[i].iov_len) break;
  }
  return {};
}

Status RemoteFile::Read(uint8_t*, size_t, size_t*) const { return Status::Errno(EINVAL, "read"); }

}  // namespace tfr
