// The units of a stream: chunk after chunk, each made when the one before it is done.
//
// The thread protocol: a stream makes one unit at a time, on any thread; the scheduler's lock, or another keeper of the
// turns, orders the units. No thread waits here.

#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "framing/open.h"
#include "framing/reader.h"
#include "pipeline/unit_maker.h"
#include "seek/checkpoint_store.h"

namespace tfr {

class StreamMaker : public UnitMaker {
 public:
  // `raw` yields the file's bytes from its start. Its compression is detected by the first unit if it is not chosen.
  StreamMaker(const LaneFile& lane, std::unique_ptr<Source> raw, CompressionChoice choice);
  // `frames` yields uncompressed bytes, starting with the record whose place is `begin`.
  StreamMaker(const LaneFile& lane, std::unique_ptr<Source> frames, Place begin,
              std::shared_ptr<Recording> recording = nullptr);

  bool in_parallel() const override { return false; }
  size_t units() const override { return kUnknown; }
  void Produce(size_t unit, Produced* produced) override;
  void Cancel() override {}
  void CancelAfter(size_t) override {}

 private:
  Status Open();
  void ReadFrames(std::unique_ptr<Source> frames, Place begin);
  Status Make(Produced* produced);

  const LaneFile& lane_;
  const CompressionChoice choice_;
  std::unique_ptr<Source> raw_;  // goes into reader_
  std::optional<RecordReader> reader_;
  std::shared_ptr<Recording> recording_;  // of the file's checkpoints, or null
};

}  // namespace tfr
