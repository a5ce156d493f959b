// An object in a store as a file: its bytes are fetched in blocks, ahead of their turn, by threads of the host.
//
// A file has a plan: the ranges that will be read, in order; at first the whole object. Its owner asks for the plan's
// blocks, as far ahead as there is room (fetch_queue.h), and a read waits for the blocks that it needs. A block is
// freed once every byte of it has been read. Bytes outside the plan, or read again, are fetched at once.
//
// The thread protocol. One mutex guards the blocks and the plan. It is not held while a thread waits or copies, nor
// while the listener is called because there is room. Any number of threads may read.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "io/fetch_queue.h"
#include "io/source.h"

namespace tfr {

// Where an object is among those of the queue, and its size in bytes; -1 if that is not known.
struct RemoteObject {
  uint32_t number = 0;
  int64_t size = -1;
};

struct ByteRange {
  int64_t begin;
  int64_t end;
};

class RemoteFile final : public File {
 public:
  // Requests nothing yet. `from` is where reading will begin. kLater: WillRead or Expect sets it later, and only
  // `head` bytes are fetched before.
  static constexpr int64_t kLater = -1;
  // Reading will not go further than `to`.
  RemoteFile(std::shared_ptr<FetchQueue> queue, RemoteObject object, int64_t from, int64_t head = 0,
             int64_t to = INT64_MAX);
  ~RemoteFile() override;

  // Waits until the size is known. To be called once, before the file is read.
  Status Open();

  // Asks for the next block of the plan, if there is one now; false if there is none.
  bool AskNext();
  // True if there may be more to ask for, now or later.
  bool HasMoreToAsk() const;
  // The number of bytes that were requested and have not been read.
  int64_t ahead() const;

  // The plan from now on. Ranges ascend and do not overlap; they are requested as they are, or in blocks if they are
  // larger. Blocks that are there are forgotten.
  void Expect(std::vector<ByteRange> ranges);
  // Asks for the plan's next blocks itself, whenever it is read.
  void AskBySelf() { asks_by_itself_ = true; }

  Status Size(int64_t* size) const override;
  bool is_remote() const override { return true; }
  void WillRead(int64_t begin, int64_t end) const override;
  void Pass(int64_t begin, int64_t end) const override;
  Status ReadAt(int64_t offset, uint8_t* out, size_t size, size_t* got) const override;
  Status ReadPartsAt(int64_t offset, const iovec* parts, size_t count, size_t* got) const override;
  Status Read(uint8_t* out, size_t size, size_t* got) const override;

 private:
  struct Block {
    int64_t end = 0;
    FetchPtr fetch;
    std::vector<ByteRange> read;  // ascending, apart from each other
  };
  using Blocks = std::map<int64_t, Block>;  // by where they begin

  bool AskNextLocked() const;
  FetchPtr AskFor(std::deque<ByteRange>::iterator range, int64_t begin) const;
  void DropAll() const;
  void NoteSize(const Fetch& fetch) const;
  FetchPtr FetchFor(int64_t offset, size_t size) const;
  bool NoteRead(int64_t begin, int64_t end) const;
  void AskAhead() const;

  const std::shared_ptr<FetchQueue> queue_;
  const uint32_t object_;
  const int64_t head_;  // bytes that come with the size
  const int64_t to_;
  bool asks_by_itself_ = false;

  mutable std::mutex mutex_;            // guards all below
  mutable bool later_;                  // the plan is not known yet
  const int64_t from_;                  // where it begins; far away if that is set later
  mutable int64_t size_;                // -1: not known yet
  mutable FetchPtr opening_;            // finds the size out
  mutable std::deque<ByteRange> plan_;  // the ranges not yet requested
  mutable Blocks blocks_;
  mutable Block extra_;  // outside of the plan; the last one
  mutable int64_t extra_begin_ = 0;
  mutable int64_t ahead_ = 0;
};

}  // namespace tfr
