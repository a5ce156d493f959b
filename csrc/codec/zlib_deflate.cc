// Deflates to GZIP and ZLIB with zlib, the only file that includes it. With the defaults the bytes are those
// that TensorFlow's writer uses.

#include <zlib.h>

#include <algorithm>

#include "codec/deflate.h"

namespace tfr {
namespace {

constexpr size_t kMaxCall = size_t{1} << 30;  // zlib counts in 32 bits

int Or(int value, int fallback) { return value == CompressionOptions::kUnset ? fallback : value; }

class DeflateCompressor : public Compressor {
 public:
  ~DeflateCompressor() override {
    if (ready_) deflateEnd(&stream_);
  }

  Status Init(internal::Wrapper wrapper, const CompressionOptions& options) {
    const int level = Or(options.level, Z_DEFAULT_COMPRESSION);
    const int method = Or(options.method, Z_DEFLATED);
    const int window_bits = Or(options.window_bits, wrapper == internal::Wrapper::kGzip ? MAX_WBITS + 16 : MAX_WBITS);
    const int mem_level = Or(options.mem_level, MAX_MEM_LEVEL);
    const int strategy = Or(options.strategy, Z_DEFAULT_STRATEGY);
    run_flush_ = Or(options.flush_mode, Z_NO_FLUSH);
    if (run_flush_ != Z_NO_FLUSH && run_flush_ != Z_PARTIAL_FLUSH && run_flush_ != Z_SYNC_FLUSH &&
        run_flush_ != Z_FULL_FLUSH && run_flush_ != Z_BLOCK) {
      return Status::InvalidArgument("flush_mode " + std::to_string(run_flush_) + " is not one of 0, 1, 2, 3, 5");
    }
    const int code = deflateInit2(&stream_, level, method, window_bits, mem_level, strategy);
    if (code == Z_MEM_ERROR) return Status::OutOfMemory("deflate");
    if (code != Z_OK) {
      return Status::InvalidArgument("zlib refuses these parameters: compression_level " + std::to_string(level) +
                                     ", compression_method " + std::to_string(method) + ", window_bits " +
                                     std::to_string(window_bits) + ", mem_level " + std::to_string(mem_level) +
                                     ", compression_strategy " + std::to_string(strategy));
    }
    ready_ = true;
    return {};
  }

  Status Compress(const uint8_t* in, size_t in_size, uint8_t* out, size_t out_size, Mode mode, Progress* progress,
                  bool* done) override {
    *progress = {};
    *done = false;
    const size_t in_now = std::min(in_size, kMaxCall);
    const size_t out_now = std::min(out_size, kMaxCall);
    stream_.next_in = const_cast<uint8_t*>(in);
    stream_.avail_in = static_cast<uInt>(in_now);
    stream_.next_out = out;
    stream_.avail_out = static_cast<uInt>(out_now);
    // A mode that ends a block or the stream is allowed only when all input has been handed over.
    const bool last = in_now == in_size;
    const int flush = !last || mode == Mode::kRun ? (last ? run_flush_ : Z_NO_FLUSH)
                      : mode == Mode::kFinish     ? Z_FINISH
                                                  : Z_PARTIAL_FLUSH;
    const int code = deflate(&stream_, flush);
    // Z_BUF_ERROR: there was nothing left to do, which is not an error.
    if (code == Z_STREAM_ERROR) return Status::InvalidArgument("deflate: the stream is not in a state for this call");
    progress->consumed = in_now - stream_.avail_in;
    progress->produced = out_now - stream_.avail_out;
    if (mode == Mode::kFinish) {
      *done = code == Z_STREAM_END;
    } else {
      // If room is left over, everything that the mode held back has come out.
      *done = last && stream_.avail_in == 0 && stream_.avail_out > 0;
    }
    return {};
  }

 private:
  z_stream stream_ = {};
  bool ready_ = false;
  int run_flush_ = Z_NO_FLUSH;
};

}  // namespace

namespace internal {

Status NewDeflater(Wrapper wrapper, const CompressionOptions& options, std::unique_ptr<Compressor>* made) {
  auto compressor = std::make_unique<DeflateCompressor>();
  TFR_RETURN_IF_ERROR(compressor->Init(wrapper, options));
  *made = std::move(compressor);
  return {};
}

std::string ZlibVersion() { return zlibVersion(); }

}  // namespace internal
}  // namespace tfr
