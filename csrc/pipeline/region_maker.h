// The units of a regular file whose bytes can be read at any place: regions, read and checked side by side. Those of an
// uncompressed file have the same size; those of a compressed one begin at its checkpoints.
//
// The thread protocol. A unit owns the records that start in its region. It reads its region at once; where its first
// record starts it learns from the unit before it (the token). Then it hops over its headers, passes the token on, and
// only after that does the long work of checking data. So reading and checking run on any number of threads, and only
// hopping is done in turn. A unit passes the token exactly once, unless the file ends with it; then it stops it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/buffer.h"
#include "base/status.h"
#include "framing/search.h"
#include "io/source.h"
#include "pipeline/handover.h"
#include "pipeline/unit_maker.h"
#include "seek/inflated_file.h"

namespace tfr {

// All bytes of a small file, if they have been read already; else null.
struct WholeFile {
  std::shared_ptr<Buffer> buffer;
  size_t size = 0;
};

class RegionMaker : public UnitMaker {
 public:
  RegionMaker(const LaneFile& lane, std::shared_ptr<File> file, WholeFile whole);
  RegionMaker(const LaneFile& lane, const std::shared_ptr<InflatedFile>& file);

  bool in_parallel() const override { return true; }
  size_t units() const override { return units_; }
  void Produce(size_t unit, Produced* produced) override;
  void Cancel() override { token_.Stop(); }
  void CancelAfter(size_t unit) override { token_.StopAfter(unit); }

 private:
  struct Region;
  RegionMaker(const LaneFile& lane, std::shared_ptr<File> file, WholeFile whole, std::vector<int64_t> begins);
  int64_t BeginOf(size_t unit) const;
  Status Read(Region* region);
  Status Cut(Region* region, Place* place, Produced* produced);
  Status CutRun(Region* region, Place* place, Chunk* chunk);
  Status CutLast(Region* region, Place* place, Chunk* chunk);
  Status ReadUpTo(int64_t file_offset, Region* region, Chunk* chunk);
  Status WasCut(Region* region, const Place& place) const;
  Status FileEnd(int64_t* end) const;
  Status CheckGrowth(const Place& place) const;
  Status FindNext(const Region& region, int64_t from, int64_t* next);

  const LaneFile& lane_;
  const std::shared_ptr<File> file_;  // null if all of it has been read
  const int64_t file_bytes_;
  const int64_t region_bytes_;         // all of a small file that has been read already
  const std::vector<int64_t> begins_;  // of the regions, if they differ in size
  const int64_t first_region_;         // which holds the start; unit 0
  const size_t units_;
  WholeFile whole_;        // taken by unit 0, the only one
  Handover<Place> token_;  // the place of the first record of the region whose turn it is
  // Search of the unit that has the token.
  RecordSearch search_;
  std::optional<SearchedFile> searched_;
};

}  // namespace tfr
