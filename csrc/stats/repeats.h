// Which records came before: by their hashes, in bounded memory.
//
// Up to kMost hashes are only listed, and compared at the end. With more, they go into a table, in which up to kMost
// different ones are known. With still more, only those are whose hash is below a bound, which is halved as often as is
// needed: they are a sample of all contents, from which the figures of all follow.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/buffer.h"

namespace tfr {

struct RecordId {
  uint32_t file;
  uint64_t record;
};

class Repeats {
 public:
  static constexpr size_t kMost = size_t{1} << 20;
  static constexpr size_t kShown = 20;  // pairs of places

  struct Pair {
    RecordId first, again;
  };

  // Records of one file that follow one another.
  struct Part {
    struct Hashed {
      uint64_t hash, record;
    };
    uint32_t file;
    std::vector<Hashed> records;
  };

  void Add(Part part);
  // Adds what `other`, which comes after this one, has; it is of no use afterwards.
  void Merge(Repeats& other);

  // Counts for one of 2^halvings contents: different ones, those that came more than once, and records that are copies.
  struct Figures {
    int halvings = 0;
    uint64_t different = 0, repeated = 0, copies = 0, most = 0;  // `most`: of one content
    std::vector<Pair> pairs;                                     // the first ones that were met
  };
  Figures Finish() const;

 private:
  // 24 bytes: there may be millions of them.
  struct Slot {
    uint64_t hash;
    uint64_t record;
    uint32_t file;
    uint32_t count;  // 0: nothing is here
    RecordId id() const { return {file, record}; }
  };

  // Empty slots, a power of two of them. Millions are met in no order: so they lie in huge pages, if there are some.
  class Table {
   public:
    Table() = default;
    explicit Table(size_t size);
    Slot* data() const { return slots_; }
    size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    Slot* begin() const { return slots_; }
    Slot* end() const { return slots_ + size_; }
    Slot& operator[](size_t i) const { return slots_[i]; }

   private:
    std::shared_ptr<Buffer> memory_;
    Slot* slots_ = nullptr;
    size_t size_ = 0;
  };

  // Compares the entries of the list without a table of all of them.
  class List;

  void AddToTable(const Part& part);
  void AddToTable(uint64_t hash, RecordId id);
  // From now on there is a table.
  void EndList();
  void Grow(size_t slots);
  void Halve();
  Slot& Find(uint64_t hash);
  Figures FinishTable() const;

  std::vector<Part> list_;  // before the table exists
  size_t listed_ = 0;       // hashes
  Table slots_;
  size_t used_ = 0;
  int halvings_ = 0;
  std::vector<Pair> pairs_;
};

}  // namespace tfr
