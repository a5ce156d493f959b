// The floor: the best that this machine can do with the work that a benchmark asks for, in small loops that hand
// nothing on. Framing: docs/format.md; inflating: ISA-L's igzip_lib.h.
//
// Each function returns 0, or an errno, or -1 where the data is damaged. Not thread-safe: buffers are static.

#include <fcntl.h>
#include <isa-l.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "base/endian.h"
#include "crc32c/crc32c.h"

namespace {

constexpr size_t kBlock = 1 << 20;
constexpr size_t kInflateInput = 256 << 10;
constexpr size_t kHeader = 8 + 4;  // length, its CRC
constexpr size_t kFooter = 4;      // the payload's CRC
constexpr int kDamaged = -1;

alignas(4096) uint8_t block[kBlock];
alignas(4096) uint8_t inflate_input[kInflateInput];

class File {
 public:
  File(const char* path, int flags) : fd_(open(path, flags | O_CLOEXEC, 0644)) {}
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  bool ok() const { return fd_ >= 0; }
  ssize_t Read(void* to, size_t size) { return read(fd_, to, size); }
  ssize_t Write(const void* from, size_t size) { return write(fd_, from, size); }

 private:
  int fd_;
};

bool Matches(const uint8_t* data, size_t size, const uint8_t* stored) {
  using namespace tfr::crc32c;
  return Mask(Value(data, size)) == tfr::LoadLE32(stored);
}

// Hops over the whole records in [p, end) and checks both CRCs of each; null if one is wrong. `missing` is how many
// bytes the record that is cut off at the returned place needs at least.
const uint8_t* Hop(const uint8_t* p, const uint8_t* end, int64_t* records, int64_t* bytes, size_t* missing) {
  for (;;) {
    const size_t left = static_cast<size_t>(end - p);
    *missing = kHeader;
    if (left < kHeader) return p;
    const uint64_t length = tfr::LoadLE64(p);
    if (!Matches(p, 8, p + 8)) return nullptr;
    *missing = kHeader + length + kFooter;
    if (length > SIZE_MAX / 2 || left < *missing) return p;
    if (!Matches(p + kHeader, length, p + kHeader + length)) return nullptr;
    ++*records;
    *bytes += static_cast<int64_t>(length);
    p += *missing;
  }
}

}  // namespace

extern "C" {

// read() alone, in blocks of 1 MiB.
int floor_read(const char* path, int64_t* bytes) {
  File file(path, O_RDONLY);
  if (!file.ok()) return errno;
  ssize_t got;
  while ((got = file.Read(block, kBlock)) > 0) *bytes += got;
  return got < 0 ? errno : 0;
}

// Many files, on `threads` threads: open(), read() to the end, close() of each, and nothing else.
int floor_read_files(const char* const* paths, int64_t count, int64_t threads, int64_t* bytes) {
  std::atomic<int64_t> next{0}, sum{0};
  std::atomic<int> failed{0};
  const auto work = [&] {
    std::vector<uint8_t> own(kBlock);
    int64_t mine = 0;
    for (int64_t i; (i = next.fetch_add(1)) < count;) {
      File file(paths[i], O_RDONLY);
      ssize_t got = -1;
      while (file.ok() && (got = file.Read(own.data(), kBlock)) > 0) mine += got;
      if (got < 0) failed = errno;
    }
    sum += mine;
  };
  std::vector<std::thread> others;
  for (int64_t i = 1; i < threads; ++i) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
  *bytes += sum;
  return failed;
}

// read() in blocks of 1 MiB, and both CRCs of every record.
int floor_read_crc(const char* path, int64_t* records, int64_t* bytes) {
  static std::vector<uint8_t> buffer(2 * kBlock);
  File file(path, O_RDONLY);
  if (!file.ok()) return errno;
  size_t held = 0;
  for (;;) {
    const ssize_t got = file.Read(buffer.data() + held, std::min(kBlock, buffer.size() - held));
    if (got < 0) return errno;
    if (got == 0) return held == 0 ? 0 : kDamaged;
    held += static_cast<size_t>(got);
    size_t missing;
    const uint8_t* rest = Hop(buffer.data(), buffer.data() + held, records, bytes, &missing);
    if (rest == nullptr) return kDamaged;
    held -= static_cast<size_t>(rest - buffer.data());
    std::memmove(buffer.data(), rest, held);
    // Grows by what is there, not by what a header claims.
    if (missing > buffer.size() && held == buffer.size()) buffer.resize(2 * buffer.size());
  }
}

// ISA-L alone, 256 KiB in, 1 MiB out; it checks the member's CRC32.
int floor_inflate(const char* path, int64_t* bytes) {
  File file(path, O_RDONLY);
  if (!file.ok()) return errno;
  static inflate_state state;
  isal_inflate_init(&state);
  state.crc_flag = ISAL_GZIP;
  ssize_t got;
  while ((got = file.Read(inflate_input, kInflateInput)) > 0) {
    state.next_in = inflate_input;
    state.avail_in = static_cast<uint32_t>(got);
    do {
      if (state.block_state == ISAL_BLOCK_FINISH) isal_inflate_reset(&state);  // another member follows
      state.next_out = block;
      state.avail_out = kBlock;
      if (isal_inflate(&state) != ISAL_DECOMP_OK) return kDamaged;
      *bytes += kBlock - state.avail_out;
    } while (state.avail_in > 0 || (state.avail_out == 0 && state.block_state != ISAL_BLOCK_FINISH));
  }
  if (got < 0) return errno;
  return state.block_state == ISAL_BLOCK_FINISH ? 0 : kDamaged;
}

// write() of data that is framed already, in blocks of 1 MiB.
int floor_write(const char* path, const uint8_t* from, int64_t size) {
  File file(path, O_WRONLY | O_CREAT | O_TRUNC);
  if (!file.ok()) return errno;
  while (size > 0) {
    const ssize_t put = file.Write(from, std::min<size_t>(kBlock, static_cast<size_t>(size)));
    if (put < 0) return errno;
    from += put;
    size -= put;
  }
  return 0;
}

void floor_memcpy(uint8_t* to, const uint8_t* from, int64_t size) { std::memcpy(to, from, static_cast<size_t>(size)); }

}  // extern "C"
