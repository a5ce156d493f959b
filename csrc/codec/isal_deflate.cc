// Deflates blocks with ISA-L: level 1, smaller than zlib's and several times as fast.

#include <isa-l.h>

#include <vector>

#include "codec/deflate.h"

namespace tfr::internal {
namespace {

constexpr uint32_t kLevel = 3;  // of ISA-L's own 0 to 3

class IsalDeflater : public BlockDeflater {
 public:
  IsalDeflater() : work_(ISAL_DEF_LVL3_DEFAULT) {}

  size_t Deflate(Bytes block, uint8_t* out, size_t room) override {
    isal_deflate_stateless_init(&stream_);
    stream_.level = kLevel;
    stream_.level_buf = work_.data();
    stream_.level_buf_size = static_cast<uint32_t>(work_.size());
    stream_.gzip_flag = IGZIP_DEFLATE;
    stream_.end_of_stream = 1;
    stream_.next_in = const_cast<uint8_t*>(block.data);
    stream_.avail_in = static_cast<uint32_t>(block.size);  // at most kMaxBlockBytes (block.h)
    stream_.next_out = out;
    stream_.avail_out = static_cast<uint32_t>(room);
    return isal_deflate_stateless(&stream_) == COMP_OK ? stream_.total_out : 0;
  }

 private:
  isal_zstream stream_ = {};  // hist_bits, the size of the window, is not set by what begins a stream before ISA-L 2.31
  std::vector<uint8_t> work_;
};

}  // namespace

std::unique_ptr<BlockDeflater> NewIsalDeflater() { return std::make_unique<IsalDeflater>(); }

}  // namespace tfr::internal
