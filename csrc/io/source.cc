// Files and memory as sources; see source.h.

#include "io/source.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace tfr {
namespace {

constexpr size_t kMaxTransfer = size_t{1} << 30;  // Linux reads at most 2^31 - 4096 bytes in one call
constexpr int kInterruptMilliseconds = 50;

// Linux reads this much ahead without advice, so a smaller file needs no advice.
constexpr int64_t kReadAhead = 128 << 10;

// A regular file of size 0 may be one that does not tell its size (under /proc): reading it shows.
bool HasKnownSize(const struct stat& info) { return S_ISREG(info.st_mode) && info.st_size > 0; }

// A file of the system's.
class LocalFile final : public File {
 public:
  LocalFile(int descriptor, Descriptor kind) : descriptor_(descriptor), kind_(kind) {}
  ~LocalFile() override {
    if (kind_ == Descriptor::kOwned && descriptor_ >= 0) ::close(descriptor_);
  }

  Status OpenDescriptor(const std::string& path, int how);  // flags of open
  Status Examine(Access access);
  void Found(int64_t size);

  Status Size(int64_t* size) const override;
  int descriptor() const override { return descriptor_; }
  void Advise(int64_t offset, int64_t size) const override;
  Status ReadAt(int64_t offset, uint8_t* out, size_t size, size_t* got) const override;
  Status ReadPartsAt(int64_t offset, const iovec* parts, size_t count, size_t* got) const override;
  Status Read(uint8_t* out, size_t size, size_t* got) const override;

 private:
  // Up to the end that the file had when it was opened: a record that was being written then is not read in part.
  size_t BytesFrom(int64_t offset) const;
  Status WaitUntilReadable() const;
  void AdviseAll(Access access) const;

  int descriptor_;
  Descriptor kind_;
};

}  // namespace

int64_t File::FindRegular(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && HasKnownSize(info) ? info.st_size : -1;
}

Status LocalFile::OpenDescriptor(const std::string& path, int how) {
  while ((descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | how)) < 0) {
    if (errno != EINTR) return Status::Errno(errno, "open").WithPath(path);
    TFR_RETURN_IF_ERROR(CheckInterrupt());
  }
  return {};
}

Status File::Open(const std::string& path, std::shared_ptr<File>* file, Access access) {
  auto opened = std::make_shared<LocalFile>(-1, Descriptor::kOwned);
  // A pipe without a writer is waited for where it is read, so that a signal is noticed.
  Status status = opened->OpenDescriptor(path, O_NONBLOCK);
  if (!status.ok() && status.detail().error_number == EWOULDBLOCK) status = opened->OpenDescriptor(path, 0);  // a lease
  TFR_RETURN_IF_ERROR(std::move(status));
  TFR_RETURN_IF_ERROR(opened->Examine(access).WithPath(path));
  *file = std::move(opened);
  return {};
}

Status File::OpenFound(const std::string& path, int64_t size, std::shared_ptr<File>* file) {
  auto opened = std::make_shared<LocalFile>(-1, Descriptor::kOwned);
  TFR_RETURN_IF_ERROR(opened->OpenDescriptor(path, 0));
  opened->Found(size);
  *file = std::move(opened);
  return {};
}

Status File::FromDescriptor(int descriptor, Descriptor kind, std::shared_ptr<File>* file) {
  auto opened = std::make_shared<LocalFile>(descriptor, kind);
  TFR_RETURN_IF_ERROR(opened->Examine(Access::kSequential));
  *file = std::move(opened);
  return {};
}

Status LocalFile::Examine(Access access) {
  struct stat info;
  if (::fstat(descriptor_, &info) != 0) return Status::Errno(errno, "fstat");
  if (S_ISDIR(info.st_mode)) return Status::Errno(EISDIR, "open");
  uint8_t byte;
  regular_ = HasKnownSize(info) || (S_ISREG(info.st_mode) && ::pread(descriptor_, &byte, 1, 0) == 0);
  if (regular_) opened_size_ = info.st_size;
  AdviseAll(access);
  return {};
}

void LocalFile::Found(int64_t size) {
  regular_ = true;
  opened_size_ = size;
  AdviseAll(Access::kSequential);
}

void LocalFile::AdviseAll([[maybe_unused]] Access access) const {
#ifdef POSIX_FADV_SEQUENTIAL
  const int advice = access == Access::kRandom ? POSIX_FADV_RANDOM : POSIX_FADV_SEQUENTIAL;
  if (opened_size_ > kReadAhead) (void)::posix_fadvise(descriptor_, 0, 0, advice);
#endif
}

Status LocalFile::Size(int64_t* size) const {
  *size = 0;
  struct stat info;
  if (!regular_) return {};
  if (::fstat(descriptor_, &info) != 0) return Status::Errno(errno, "fstat");
  *size = info.st_size;
  return {};
}

size_t LocalFile::BytesFrom(int64_t offset) const {
  return static_cast<size_t>(std::max<int64_t>(opened_size_ - offset, 0));
}

Status FileWasCut(int64_t opened_size, int64_t end) {
  return Status::DataLoss("the file was truncated while it was read: it had " + std::to_string(opened_size) +
                          " bytes when it was opened, and ends at byte " + std::to_string(end));
}

void LocalFile::Advise(int64_t offset, int64_t size) const {
#ifdef POSIX_FADV_WILLNEED
  (void)::posix_fadvise(descriptor_, offset, size, POSIX_FADV_WILLNEED);
#endif
}

Status LocalFile::ReadAt(int64_t offset, uint8_t* out, size_t size, size_t* got) const {
  ssize_t n;
  size = std::min(size, BytesFrom(offset));
  while ((n = ::pread(descriptor_, out, std::min(size, kMaxTransfer), offset)) < 0 && errno == EINTR) {
    TFR_RETURN_IF_ERROR(CheckInterrupt());
  }
  if (n < 0) return Status::Errno(errno, "read");
  *got = static_cast<size_t>(n);
  return {};
}

Status File::ReadFullyAt(int64_t offset, uint8_t* out, size_t size, size_t* got) const {
  *got = 0;
  while (*got < size) {
    size_t now = 0;
    TFR_RETURN_IF_ERROR(ReadAt(offset + static_cast<int64_t>(*got), out + *got, size - *got, &now));
    if (now == 0) break;
    *got += now;
  }
  return {};
}

Status LocalFile::ReadPartsAt(int64_t offset, const iovec* parts, size_t count, size_t* got) const {
  // Takes as many parts as one call may read bytes; if the first part alone is larger, takes its beginning.
  size_t used = 0;
  for (size_t total = 0; used < count && parts[used].iov_len <= kMaxTransfer - total; ++used) {
    total += parts[used].iov_len;
  }
  if (used == 0 && count > 0) return ReadAt(offset, static_cast<uint8_t*>(parts[0].iov_base), parts[0].iov_len, got);
  ssize_t n;
  while ((n = ::preadv(descriptor_, parts, static_cast<int>(used), offset)) < 0 && errno == EINTR) {
    TFR_RETURN_IF_ERROR(CheckInterrupt());
  }
  if (n < 0) return Status::Errno(errno, "read");
  *got = static_cast<size_t>(n);
  return {};
}

// A signal that comes between a look for one and a read would not end the read: nothing is read before it is there.
Status LocalFile::WaitUntilReadable() const {
  pollfd wanted = {descriptor_, POLLIN, 0};
  int ready;
  while ((ready = ::poll(&wanted, 1, kInterruptMilliseconds)) <= 0) {
    if (ready < 0 && errno != EINTR) return Status::Errno(errno, "poll");
    TFR_RETURN_IF_ERROR(CheckInterrupt());
  }
  return {};
}

Status LocalFile::Read(uint8_t* out, size_t size, size_t* got) const {
  ssize_t n;
  do {
    TFR_RETURN_IF_ERROR(WaitUntilReadable());
    n = ::read(descriptor_, out, std::min(size, kMaxTransfer));
  } while (n < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK));
  if (n < 0) return Status::Errno(errno, "read");
  *got = static_cast<size_t>(n);
  return {};
}

Status FileSource::Read(uint8_t* out, size_t size, size_t* got) {
  if (!file_->regular()) return file_->Read(out, size, got);
  TFR_RETURN_IF_ERROR(file_->ReadAt(offset_, out, size, got));
  if (*got == 0 && size > 0 && offset_ < file_->opened_size()) return FileWasCut(file_->opened_size(), offset_);
  offset_ += static_cast<int64_t>(*got);
  return {};
}

Status FileSource::Remaining(int64_t* bytes) const {
  *bytes = -1;
  if (!file_->regular()) return {};
  TFR_RETURN_IF_ERROR(file_->Size(bytes));
  *bytes = std::max<int64_t>(0, *bytes - offset_);
  return {};
}

Status MemorySource::Read(uint8_t* out, size_t size, size_t* got) {
  *got = std::min(size, rest_.size);
  if (*got > 0) std::memcpy(out, rest_.data, *got);
  rest_.data += *got;
  rest_.size -= *got;
  return {};
}

Status PrefixedSource::Read(uint8_t* out, size_t size, size_t* got) {
  if (given_ == prefix_.size()) return rest_->Read(out, size, got);
  *got = std::min(size, prefix_.size() - given_);
  std::memcpy(out, prefix_.data() + given_, *got);
  given_ += *got;
  return {};
}

Status PrefixedSource::Remaining(int64_t* bytes) const {
  TFR_RETURN_IF_ERROR(rest_->Remaining(bytes));
  if (*bytes >= 0) *bytes += static_cast<int64_t>(prefix_.size() - given_);
  return {};
}

Status ReadFully(Source* source, uint8_t* out, size_t size, size_t* got) {
  *got = 0;
  while (*got < size) {
    size_t now = 0;
    TFR_RETURN_IF_ERROR(source->Read(out + *got, size - *got, &now));
    if (now == 0) break;
    *got += now;
  }
  return {};
}

}  // namespace tfr
