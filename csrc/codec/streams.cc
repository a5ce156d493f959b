// A source that decompresses another, and a sink that compresses into another; see codec.h.

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "codec/block_compressor.h"
#include "codec/codec.h"

namespace tfr {
namespace {

constexpr size_t kInputBytes = 256 << 10;
constexpr size_t kKeptBytes = 32 << 10;  // of input that was taken already, for a search after damage
constexpr size_t kOutputBytes = 256 << 10;

class DecompressingSource : public Source {
 public:
  DecompressingSource(std::unique_ptr<Source> source, const Codec& codec, int64_t begin,
                      std::unique_ptr<Decompressor> decompressor, std::shared_ptr<RestartLog> log)
      : source_(std::move(source)),
        decompressor_(std::move(decompressor)),
        log_(std::move(log)),
        codec_(codec),
        input_(kKeptBytes + kInputBytes),
        first_(begin),
        consumed_(begin) {}

  Status Read(uint8_t* out, size_t size, size_t* got) override {
    *got = 0;
    if (!late_.ok()) return late_;
    if (!decompressor_) return Status::OutOfMemory(std::string("no memory to inflate ") + codec_.name);
    while (true) {
      Progress progress;
      Status status =
          decompressor_->Decompress(input_.data() + begin_, end_ - begin_, out + *got, size - *got, &progress);
      begin_ += progress.consumed;
      consumed_ += static_cast<int64_t>(progress.consumed);
      *got += progress.produced;
      produced_ += static_cast<int64_t>(progress.produced);
      if (!status.ok()) return Later(InFile(std::move(status)), *got);
      if (log_) TFR_RETURN_IF_ERROR(Log(progress));
      if (*got == size) return {};
      if (begin_ < end_ || progress.at_restart) continue;
      // All input is used up. Output goes out before the next read, which may have to wait.
      if (*got > 0) return {};
      between_parts_ = progress.between_parts;
      bool any = false;
      TFR_RETURN_IF_ERROR(Refill(&any));
      if (!any) {
        if (between_parts_) return {};
        return Damage(std::string("the compressed stream is truncated: ") + codec_.truncated);
      }
    }
  }

  // A damaged part may inflate to more than it held, so the search begins some bytes before the place where that
  // showed; but after the start of the part, which would only be found again.
  Status SkipDamage(const Worked& worked, bool* found) override {
    *found = false;
    if (codec_.may_begin_part == nullptr || !decompressor_) return {};
    const int64_t kept = consumed_ - static_cast<int64_t>(begin_ - kept_);
    int64_t from = std::max(first_ + decompressor_->part_begin() + 1, kept);
    while (true) {
      while (from > consumed_ + static_cast<int64_t>(end_ - begin_) - static_cast<int64_t>(kPartHeaderBytes)) {
        bool any = false;
        TFR_RETURN_IF_ERROR(worked(kInputBytes));
        Status read = Refill(&any);
        if (read.code() == StatusCode::kDataLoss || !any) return {};
        TFR_RETURN_IF_ERROR(std::move(read));
      }
      begin_ = static_cast<size_t>(static_cast<int64_t>(begin_) + from - consumed_);
      consumed_ = from;
      if (codec_.may_begin_part(input_.data() + begin_)) break;
      ++from;
    }
    decompressor_ = codec_.new_decompressor();
    log_.reset();
    first_ = consumed_;
    late_ = {};
    *found = true;
    return {};
  }

 private:
  // Reads on. What is not taken yet, and some of what was, stays; where begin_ lies is another place then.
  Status Refill(bool* any) {
    const size_t left = end_ - begin_;
    const size_t keep = std::min(end_ - kept_, kKeptBytes);
    if (keep > 0) std::memmove(input_.data() + kKeptBytes - keep, input_.data() + end_ - keep, keep);
    kept_ = kKeptBytes - keep;
    begin_ = kKeptBytes - left;
    end_ = kKeptBytes;
    size_t got = 0;
    Status status = source_->Read(input_.data() + end_, kInputBytes, &got);
    if (status.ok()) end_ += got;
    *any = status.ok() && got > 0;
    return status;
  }

  Status Log(const Progress& progress) {
    if (progress.at_restart) {
      const Restart at = decompressor_->restart();
      return log_->Add(8 * consumed_ - static_cast<int64_t>(at.bits_back), produced_ + static_cast<int64_t>(at.pending),
                       at.inside, at.window);
    }
    if (log_->Wants(produced_)) decompressor_->StopAtRestart();
    return {};
  }

  Status InFile(Status status) {
    return status.code() == StatusCode::kDataLoss ? Damage(status.detail().message) : std::move(status);
  }

  Status Damage(const std::string& message) {
    return Status::DataLoss(std::string(codec_.name) + ": " + message + " (at compressed byte " +
                            std::to_string(consumed_) + ")");
  }

  // Bytes before the damage are passed on first.
  Status Later(Status status, size_t got) {
    late_ = std::move(status);
    return got > 0 ? Status() : late_;
  }

  std::unique_ptr<Source> source_;
  std::unique_ptr<Decompressor> decompressor_;
  std::shared_ptr<RestartLog> log_;
  const Codec& codec_;
  std::vector<uint8_t> input_;
  size_t kept_ = kKeptBytes;   // from here on input_ holds bytes of the file, up to end_
  size_t begin_ = kKeptBytes;  // of those that are not taken yet
  size_t end_ = kKeptBytes;
  int64_t first_;     // where the decompressor began
  int64_t consumed_;  // where begin_ is in the file
  int64_t produced_ = 0;
  bool between_parts_ = false;
  Status late_;
};

class CompressingSink : public Sink {
 public:
  CompressingSink(std::unique_ptr<Sink> sink, std::unique_ptr<Compressor> compressor)
      : sink_(std::move(sink)), compressor_(std::move(compressor)), output_(kOutputBytes) {}

  Status Write(const Bytes* parts, size_t count) override {
    for (size_t i = 0; i < count; ++i) TFR_RETURN_IF_ERROR(Run(parts[i], Compressor::Mode::kRun));
    return {};
  }

  Status Flush() override {
    TFR_RETURN_IF_ERROR(Run({nullptr, 0}, Compressor::Mode::kFlush));
    TFR_RETURN_IF_ERROR(Drain());
    return sink_->Flush();
  }

  Status Close() override {
    Status status = Run({nullptr, 0}, Compressor::Mode::kFinish);
    if (status.ok()) status = Drain();
    Status closed = sink_->Close();
    return status.ok() ? std::move(closed) : std::move(status);
  }

  bool caller_only() const override { return sink_->caller_only(); }

 private:
  Status Run(Bytes rest, Compressor::Mode mode) {
    if (rest.size == 0 && mode == Compressor::Mode::kRun) return {};
    bool done = false;
    while (!done) {
      if (used_ == output_.size()) TFR_RETURN_IF_ERROR(Drain());
      Progress progress;
      TFR_RETURN_IF_ERROR(compressor_->Compress(rest.data, rest.size, output_.data() + used_, output_.size() - used_,
                                                mode, &progress, &done));
      rest.data += progress.consumed;
      rest.size -= progress.consumed;
      used_ += progress.produced;
    }
    return {};
  }

  Status Drain() {
    const Bytes part = {output_.data(), std::exchange(used_, 0)};
    return part.size == 0 ? Status() : sink_->Write(&part, 1);
  }

  std::unique_ptr<Sink> sink_;
  std::unique_ptr<Compressor> compressor_;
  std::vector<uint8_t> output_;
  size_t used_ = 0;
};

}  // namespace

std::unique_ptr<Source> NewDecompressingSource(std::unique_ptr<Source> source, Compression compression, int64_t begin,
                                               std::shared_ptr<RestartLog> log) {
  const Codec& codec = *compression.codec();
  return std::make_unique<DecompressingSource>(std::move(source), codec, begin, codec.new_decompressor(),
                                               std::move(log));
}

std::unique_ptr<Source> NewDecompressingSource(std::unique_ptr<Source> source, Compression compression, int64_t begin,
                                               std::unique_ptr<Decompressor> decompressor) {
  return std::make_unique<DecompressingSource>(std::move(source), *compression.codec(), begin, std::move(decompressor),
                                               nullptr);
}

std::unique_ptr<Sink> NewCompressingSink(std::unique_ptr<Sink> sink, std::unique_ptr<Compressor> compressor) {
  return std::make_unique<CompressingSink>(std::move(sink), std::move(compressor));
}

}  // namespace tfr
