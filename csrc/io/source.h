// Sources: where bytes come from. A file, an open descriptor, memory; a compressed stream is one too (codec/),
// and so is a Python file object (bindings/).

#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/interrupt.h"
#include "base/records.h"
#include "base/status.h"

namespace tfr {

class Source {
 public:
  virtual ~Source() = default;

  // Reads at least one and at most `size` bytes to `out`; *got is 0 only at the end. Fewer than `size` means
  // "these are here now", not the end. After an error the source may be dropped but not read.
  virtual Status Read(uint8_t* out, size_t size, size_t* got) = 0;

  // How many bytes are still to come, if that is known in advance (a regular file, memory); else -1.
  virtual Status Remaining(int64_t* bytes) const {
    *bytes = -1;
    return {};
  }

  // After Read has returned kDataLoss: looks for a place after the damage from which reading can continue. If *found,
  // Read continues there, perhaps to the next damage; else this was the end. `worked` is called now and then with the
  // number of bytes searched; a status that is not OK stops the search.
  using Worked = std::function<Status(size_t bytes)>;
  virtual Status SkipDamage(const Worked&, bool* found) {
    *found = false;
    return {};
  }
};

// How a file will be read: the system reads ahead of a reader that goes through it, not of one that jumps about in it.
enum class Access : uint8_t { kSequential, kRandom };

// True if a descriptor is closed when the file goes.
enum class Descriptor : uint8_t { kOwned, kBorrowed };

// An open file, shared by all that read different places of it at the same time: one of the system's, or an object in a
// store (remote_file.h).
class File {
 public:
  // A file of the system's. kIoError with errno where it refuses; a directory is refused too (EISDIR).
  static Status Open(const std::string& path, std::shared_ptr<File>* file, Access access = Access::kSequential);
  // The same for a path that FindRegular has just found, without asking the system again. Whether its bytes
  // are still there shows when they are read, as with any file that changes.
  static Status OpenFound(const std::string& path, int64_t size, std::shared_ptr<File>* file);
  static Status FromDescriptor(int descriptor, Descriptor kind, std::shared_ptr<File>* file);
  virtual ~File() = default;
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  // The size of a regular file, in bytes; -1 for pipes and devices, whose opening and reading may block for long, and
  // for files that do not tell their size or do not exist.
  static int64_t FindRegular(const std::string& path);

  // A file that can be read at any place and whose size is known, and not 0. An object is one whatever its size.
  bool regular() const { return regular_; }
  // In bytes, now; 0 if not regular.
  virtual Status Size(int64_t* size) const = 0;
  // Size when it was opened.
  int64_t opened_size() const { return opened_size_; }

  // The system's, if it is a file of the system's; else -1.
  virtual int descriptor() const { return -1; }
  // True if its bytes come from elsewhere, so that a small read costs as much as a large one.
  virtual bool is_remote() const { return false; }

  // Has the system begin to read this part of a regular file into memory, without waiting for it.
  virtual void Advise(int64_t, int64_t) const {}
  // From here on [begin, end) will be read in order, or up to the file's end: an object's bytes are requested ahead.
  virtual void WillRead(int64_t /*begin*/, int64_t /*end*/) const {}
  // The bytes [begin, end) will not be read, or not again: an object lets go of them.
  virtual void Pass(int64_t /*begin*/, int64_t /*end*/) const {}

  // Like Source::Read, at `offset`, up to the size when it was opened. Regular files only.
  virtual Status ReadAt(int64_t offset, uint8_t* out, size_t size, size_t* got) const = 0;
  // The same until `size` bytes are there or the file ends.
  Status ReadFullyAt(int64_t offset, uint8_t* out, size_t size, size_t* got) const;
  // Like ReadAt, into several places, one after the other; *got counts the bytes of all. At most kMaxParts.
  static constexpr size_t kMaxParts = 64;  // well below IOV_MAX
  virtual Status ReadPartsAt(int64_t offset, const iovec* parts, size_t count, size_t* got) const = 0;
  // Like Source::Read, at the file's own position. Not for objects.
  virtual Status Read(uint8_t* out, size_t size, size_t* got) const = 0;

 protected:
  File() = default;

  bool regular_ = false;
  int64_t opened_size_ = 0;
};

// kDataLoss: a file of `opened_size` bytes was truncated to `end` while it was read.
Status FileWasCut(int64_t opened_size, int64_t end);

// Reads a file from the start, or from `offset` where it is regular. A file that has become shorter since it was opened
// is damaged (FileWasCut).
class FileSource : public Source {
 public:
  explicit FileSource(std::shared_ptr<const File> file, int64_t offset = 0) : file_(std::move(file)), offset_(offset) {}
  Status Read(uint8_t* out, size_t size, size_t* got) override;
  Status Remaining(int64_t* bytes) const override;

 private:
  std::shared_ptr<const File> file_;
  int64_t offset_;
};

// Reads memory; keeps `owner` alive meanwhile.
class MemorySource : public Source {
 public:
  MemorySource(Bytes bytes, Owner owner) : rest_(bytes), owner_(std::move(owner)) {}
  Status Read(uint8_t* out, size_t size, size_t* got) override;
  Status Remaining(int64_t* bytes) const override {
    *bytes = static_cast<int64_t>(rest_.size);
    return {};
  }

 private:
  Bytes rest_;
  Owner owner_;
};

// Gives what has already been read from another source, then the rest of that source.
class PrefixedSource : public Source {
 public:
  PrefixedSource(std::string prefix, std::unique_ptr<Source> rest)
      : prefix_(std::move(prefix)), rest_(std::move(rest)) {}
  Status Read(uint8_t* out, size_t size, size_t* got) override;
  Status Remaining(int64_t* bytes) const override;

 private:
  std::string prefix_;
  size_t given_ = 0;
  std::unique_ptr<Source> rest_;
};

// Reads until `size` bytes are there or the source ends.
Status ReadFully(Source* source, uint8_t* out, size_t size, size_t* got);

}  // namespace tfr
