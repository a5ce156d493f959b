// A source that decompresses another, and a sink that compresses into another; see codec.h.

#include <algorithm>
#include <utility>
#include <vector>

#include "codec/codec.h"

namespace tfr {
namespace {

constexpr size_t kInputBytes = 256 << 10;
constexpr size_t kOutputBytes = 256 << 10;

class DecompressingSource : public Source {
 public:
  DecompressingSource(std::unique_ptr<Source> source, const Codec& codec, int64_t begin)
      : source_(std::move(source)),
        decompressor_(codec.new_decompressor()),
        codec_(codec),
        input_(kInputBytes),
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
      if (!status.ok()) return Later(InFile(std::move(status)), *got);
      if (*got == size) return {};
      if (begin_ < end_) continue;
      // All input is used up. Output goes out before the next read, which may have to wait.
      if (*got > 0) return {};
      between_parts_ = progress.between_parts;
      TFR_RETURN_IF_ERROR(Refill());
      if (end_ == 0) {
        if (between_parts_) return {};
        return Damage(std::string("the compressed stream is truncated: ") + codec_.truncated);
      }
    }
  }

 private:
  Status Refill() {
    begin_ = end_ = 0;
    size_t got = 0;
    Status status = source_->Read(input_.data(), input_.size(), &got);
    end_ = status.ok() ? got : 0;
    return status;
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
  const Codec& codec_;
  std::vector<uint8_t> input_;
  size_t begin_ = 0;  // of the unread part of input_
  size_t end_ = 0;
  int64_t consumed_;
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

std::unique_ptr<Source> NewDecompressingSource(std::unique_ptr<Source> source, Compression compression, int64_t begin) {
  return std::make_unique<DecompressingSource>(std::move(source), *compression.codec(), begin);
}

std::unique_ptr<Sink> NewCompressingSink(std::unique_ptr<Sink> sink, std::unique_ptr<Compressor> compressor) {
  return std::make_unique<CompressingSink>(std::move(sink), std::move(compressor));
}

}  // namespace tfr
