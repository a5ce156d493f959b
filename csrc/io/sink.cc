// Files as sinks; see sink.h.

#include "io/sink.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "io/source.h"

namespace tfr {
namespace {

constexpr size_t kMaxParts = 64;                  // of one writev; well below IOV_MAX
constexpr size_t kMaxTransfer = size_t{1} << 30;  // Linux writes at most 2^31 - 4096 bytes in one call

}  // namespace

Status FileSink::Create(const std::string& path, std::unique_ptr<Sink>* sink, Open mode, const std::string& shown) {
  const std::string& name = shown.empty() ? path : shown;
  const int how = mode == Open::kAppend ? O_APPEND : mode == Open::kNew ? O_EXCL : O_TRUNC;
  int descriptor;
  while ((descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | how, 0666)) < 0 && errno == EINTR) {
    TFR_RETURN_IF_ERROR(CheckInterrupt());
  }
  if (descriptor < 0) return Status::Errno(errno, "open").WithPath(name);
  sink->reset(new FileSink(descriptor, name));
  return {};
}

FileSink::~FileSink() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Status FileSink::Write(const Bytes* parts, size_t count) {
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
    ssize_t n = ::writev(descriptor_, vectors, static_cast<int>(used));
    if (n < 0 && errno == EINTR) {
      TFR_RETURN_IF_ERROR(CheckInterrupt());
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
  if (sync_ && descriptor >= 0 && ::fsync(descriptor) != 0) {
    const int error = errno;
    ::close(descriptor);
    return Status::Errno(error, "fsync").WithPath(path_);
  }
  // After EINTR Linux has closed the descriptor all the same.
  if (descriptor >= 0 && ::close(descriptor) != 0 && errno != EINTR)
    return Status::Errno(errno, "close").WithPath(path_);
  return {};
}

}  // namespace tfr
