// Files as sinks; see sink.h.

#include "io/sink.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/interrupt.h"

namespace tfr {
namespace {

constexpr size_t kMaxParts = 64;                  // of one writev; well below IOV_MAX
constexpr size_t kMaxTransfer = size_t{1} << 30;  // Linux writes at most 2^31 - 4096 bytes in one call
constexpr int kInterruptMilliseconds = 50;

}  // namespace

Status FileSink::Create(const std::string& path, std::unique_ptr<Sink>* sink, Open mode, const std::string& shown) {
  const std::string& name = shown.empty() ? path : shown;
  const int how = mode == Open::kAppend ? O_APPEND : mode == Open::kNew ? O_EXCL : O_TRUNC;
  std::unique_ptr<FileSink> made(new FileSink(name));  // first: nothing may throw while the descriptor has no owner
  while ((made->descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | how, 0666)) < 0 && errno == EINTR) {
    TFR_RETURN_IF_ERROR(CheckInterrupt());
  }
  if (made->descriptor_ < 0) return Status::Errno(errno, "open").WithPath(name);
  Status prepared = made->Prepare();
  if (!prepared.ok()) {
    if (mode == Open::kNew) ::unlink(path.c_str());
    return prepared;
  }
  *sink = std::move(made);
  return {};
}

Status FileSink::Prepare() {
  struct stat info;
  if (::fstat(descriptor_, &info) != 0) return Status::Errno(errno, "fstat").WithPath(path_);
  waits_ = S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode) || S_ISCHR(info.st_mode);
  if (!waits_) return {};
  const int flags = ::fcntl(descriptor_, F_GETFL);
  if (flags < 0 || ::fcntl(descriptor_, F_SETFL, flags | O_NONBLOCK) != 0) {
    return Status::Errno(errno, "fcntl").WithPath(path_);
  }
  return {};
}

Status FileSink::WaitUntilWritable() {
  pollfd wanted = {descriptor_, POLLOUT, 0};
  while (::poll(&wanted, 1, kInterruptMilliseconds) <= 0) TFR_RETURN_IF_ERROR(CheckInterrupt());
  return {};
}

FileSink::~FileSink() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Status FileSink::Write(const Bytes* parts, size_t count) {
  if (!failed_.ok()) return failed_;
  return failed_ = WriteParts(parts, count);
}

Status FileSink::WriteParts(const Bytes* parts, size_t count) {
  size_t part = 0;
  size_t done = 0;  // bytes of parts[part] that are written
  while (part < count) {
    iovec vectors[kMaxParts];
    size_t used = 0;
    size_t total = 0;
    for (size_t i = part; i < count && used < kMaxParts && total < kMaxTransfer; ++i) {
      const size_t skip = i == part ? done : 0;
      const size_t size = std::min(parts[i].size - skip, kMaxTransfer - total);
      if (size == 0) continue;
      vectors[used++] = {const_cast<uint8_t*>(parts[i].data) + skip, size};
      total += size;
    }
    if (used == 0) return {};  // nothing but empty parts is left
    const ssize_t n = ::writev(descriptor_, vectors, static_cast<int>(used));
    if (n < 0 && errno == EINTR) {
      TFR_RETURN_IF_ERROR(CheckInterrupt());
      continue;
    }
    if (n < 0 && waits_ && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      TFR_RETURN_IF_ERROR(WaitUntilWritable());
      continue;
    }
    if (n < 0) return Status::Errno(errno, "write").WithPath(path_);
    for (size_t left = static_cast<size_t>(n); part < count;) {
      const size_t rest = parts[part].size - done;
      if (left < rest) {
        done += left;
        break;
      }
      left -= rest;
      ++part;
      done = 0;
    }
  }
  return {};
}

Status FileSink::Close() {
  const int descriptor = std::exchange(descriptor_, -1);
  // After EINTR Linux has closed the descriptor all the same.
  if (descriptor >= 0 && ::close(descriptor) != 0 && errno != EINTR)
    return Status::Errno(errno, "close").WithPath(path_);
  return {};
}

}  // namespace tfr
