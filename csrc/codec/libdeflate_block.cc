// Deflates blocks and inflates members with libdeflate, the only file that includes it: the sizes of zlib's levels in
// less than half the time (docs/performance/deflate.md).

#include <libdeflate.h>

#include "codec/deflate.h"

namespace tfr::internal {
namespace {

class LibdeflateDeflater : public BlockDeflater {
 public:
  explicit LibdeflateDeflater(libdeflate_compressor* compressor) : compressor_(compressor) {}
  ~LibdeflateDeflater() override { libdeflate_free_compressor(compressor_); }

  size_t Deflate(Bytes block, uint8_t* out, size_t room) override {
    return libdeflate_deflate_compress(compressor_, block.data, block.size, out, room);
  }

 private:
  libdeflate_compressor* compressor_;
};

}  // namespace

std::unique_ptr<BlockDeflater> NewLibdeflateDeflater(int level) {
  libdeflate_compressor* compressor = libdeflate_alloc_compressor(level);
  return compressor == nullptr ? nullptr : std::make_unique<LibdeflateDeflater>(compressor);
}

uint32_t GzipCrc(Bytes block) { return libdeflate_crc32(0, block.data, block.size); }

bool InflateMember(Bytes member, uint8_t* out, size_t size) {
  const auto release = [](libdeflate_decompressor* decompressor) { libdeflate_free_decompressor(decompressor); };
  const std::unique_ptr<libdeflate_decompressor, decltype(release)> decompressor(libdeflate_alloc_decompressor(),
                                                                                 release);
  size_t taken = 0;
  return decompressor &&
         libdeflate_gzip_decompress_ex(decompressor.get(), member.data, member.size, out, size, &taken, nullptr) ==
             LIBDEFLATE_SUCCESS &&
         taken == member.size;
}

std::string LibdeflateVersion() { return LIBDEFLATE_VERSION_STRING; }

}  // namespace tfr::internal
