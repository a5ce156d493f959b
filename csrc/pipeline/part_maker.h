// The units of a compressed regular file whose parts store their sizes (codec/block_compressor.h): a part each.
//
// The thread protocol. Where its part starts a unit learns from the unit before it, which only has to look at a few
// bytes for that (the cursor); then it inflates its part, side by side with others. Which record is its first it learns
// when the unit before it has hopped over its own (the token). A unit passes both on, the cursor at once, the token
// after hopping. A damaged part whose damage is skipped yields its intact records; the next part starts where the mark
// of the damaged one ends it. From the first part without a mark on, the rest of the file is a stream that the units
// take turns at: the one that has both the cursor and the token makes the next chunk, then passes both on.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/buffer.h"
#include "base/status.h"
#include "codec/block_compressor.h"
#include "io/source.h"
#include "pipeline/handover.h"
#include "pipeline/stream_maker.h"
#include "pipeline/unit_maker.h"

namespace tfr {

class PartMaker : public UnitMaker {
 public:
  PartMaker(const LaneFile& lane, std::shared_ptr<File> file, Compression compression);

  // *sizes are those of the part at `offset`; none if it has no mark, or one that can't be believed.
  static Status LookForPart(const File& file, Compression compression, int64_t offset, std::optional<PartSizes>* sizes);

  bool in_parallel() const override { return true; }
  size_t units() const override { return kUnknown; }
  void Produce(size_t unit, Produced* produced) override;
  void Cancel() override;
  void CancelAfter(size_t unit) override;

 private:
  // Where in the file the part of the unit in turn starts; or that rest_ makes it.
  struct Cursor {
    int64_t offset = 0;
    bool streaming = false;
  };
  // The finished beginning of a part: the first `size` bytes of the buffer, which is null if nothing could be read.
  struct Inflated {
    std::shared_ptr<Buffer> buffer;
    size_t size = 0;
    bool ended = false;  // the part ends after these, even if its mark differs
    Status status;       // OK: all of it
  };

  void ProduceMarked(size_t unit, int64_t offset, const PartSizes& sizes, Produced* produced);
  void ProduceUnmarked(size_t unit, const Cursor& cursor, Produced* produced);
  Status MarkHolds(int64_t next, bool* holds) const;
  void PassOver(int64_t begin, int64_t end, const Status& damage, Place* place, Produced* produced) const;
  Status Inflate(int64_t offset, const PartSizes& sizes, Inflated* inflated) const;
  Status InflatePart(Bytes part, const PartSizes& sizes, Inflated* inflated) const;
  Status Cut(const Inflated& inflated, Place* place, Produced* produced) const;

  const LaneFile& lane_;
  const std::shared_ptr<File> file_;
  const int64_t file_bytes_;  // compressed
  const Compression compression_;
  Handover<Cursor> cursor_;
  Handover<Place> token_;              // of the first record of the part whose turn it is
  std::unique_ptr<StreamMaker> rest_;  // of the unit that has the cursor and the token
};

}  // namespace tfr
