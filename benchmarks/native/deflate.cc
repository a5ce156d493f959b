// Deflate libraries on blocks of a file: the speeds and sizes of docs/performance/deflate.md; see measure.h.
//
// FILE is compressed in blocks of 1 MiB, each by itself, as the writer does; "whole" is one stream, as TensorFlow
// writes it. Speeds are of uncompressed bytes on one core; sizes, in the names of the rows, are of the compressed
// bytes. Before anything is timed, each block is inflated by a library other than the one that made it, and compared.

#include <isa-l.h>
#include <libdeflate.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "measure.h"

namespace {

using Data = std::vector<uint8_t>;
// Compresses [in, in + size) to out and returns how many bytes that took.
using Compress = std::function<size_t(const uint8_t* in, size_t size, Data* out)>;

constexpr size_t kBlock = 1 << 20;

// zlib for what libdeflate made, libdeflate for the rest.
Data Inflated(const std::string& library, const Data& packed, size_t packed_size, size_t size) {
  Data out(size);
  if (library == "zstd") {
    measure::Require(ZSTD_decompress(out.data(), size, packed.data(), packed_size) == size, "zstd");
  } else if (library == "libdeflate") {
    z_stream stream = {};
    inflateInit2(&stream, 15 + 16);
    stream.next_in = const_cast<uint8_t*>(packed.data());
    stream.avail_in = static_cast<unsigned>(packed_size);
    stream.next_out = out.data();
    stream.avail_out = static_cast<unsigned>(size);
    measure::Require(inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.total_out == size, library);
    inflateEnd(&stream);
  } else {
    libdeflate_decompressor* const made = libdeflate_alloc_decompressor();
    measure::Require(
        libdeflate_gzip_decompress(made, packed.data(), packed_size, out.data(), size, nullptr) == LIBDEFLATE_SUCCESS,
        library);
    libdeflate_free_decompressor(made);
  }
  return out;
}

void Measure(const std::string& library, int level, const Data& data, bool whole, const Compress& compress) {
  const size_t block = whole ? data.size() : kBlock;
  Data out(block + block / 4 + (1 << 16));
  const auto each = [&](auto take) {
    for (size_t at = 0; at < data.size(); at += block) {
      const size_t size = std::min(block, data.size() - at);
      take(at, size, compress(data.data() + at, size, &out));
    }
  };
  size_t total = 0;
  each([&](size_t at, size_t size, size_t packed) {
    total += packed;
    const Data back = Inflated(library, out, packed, size);
    measure::Require(std::equal(back.begin(), back.end(), data.begin() + static_cast<ptrdiff_t>(at)), library);
  });
  char size[32];
  std::snprintf(size, sizeof size, ", %.4f of the size", static_cast<double>(total) / static_cast<double>(data.size()));
  measure::Row(whole ? "whole" : "blocks of 1 MiB", library + " " + std::to_string(level) + size, "MB/s",
               1e-6 * static_cast<double>(data.size()),
               [&] { each([&](size_t, size_t, size_t) { measure::Keep(out.data()); }); });
}

size_t Zlib(int level, const uint8_t* in, size_t size, Data* out) {
  z_stream stream = {};
  deflateInit2(&stream, level, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY);
  out->resize(std::max(out->size(), deflateBound(&stream, size)));
  stream.next_in = const_cast<unsigned char*>(in);
  stream.avail_in = static_cast<unsigned>(size);
  stream.next_out = out->data();
  stream.avail_out = static_cast<unsigned>(out->size());
  deflate(&stream, Z_FINISH);
  const size_t got = stream.total_out;
  deflateEnd(&stream);
  return got;
}

size_t Isal(int level, const uint8_t* in, size_t size, Data* out) {
  static const uint32_t kWork[] = {ISAL_DEF_LVL0_DEFAULT, ISAL_DEF_LVL1_DEFAULT, ISAL_DEF_LVL2_DEFAULT,
                                   ISAL_DEF_LVL3_DEFAULT};
  static std::vector<uint8_t> work(ISAL_DEF_LVL3_DEFAULT * 2);
  isal_zstream stream;
  isal_deflate_stateless_init(&stream);
  stream.level = static_cast<uint32_t>(level);
  stream.level_buf = work.data();
  stream.level_buf_size = kWork[level];
  stream.gzip_flag = IGZIP_GZIP;
  stream.end_of_stream = 1;
  stream.next_in = const_cast<uint8_t*>(in);
  stream.avail_in = static_cast<uint32_t>(size);
  stream.next_out = out->data();
  stream.avail_out = static_cast<uint32_t>(out->size());
  isal_deflate_stateless(&stream);
  return stream.total_out;
}

}  // namespace

int main(int argc, char** argv) {
  const Data data = measure::ReadFile(measure::Arguments(argc, argv, 1).front());
  const auto zlib = [](int level) {
    return [=](const uint8_t* in, size_t n, Data* out) { return Zlib(level, in, n, out); };
  };
  for (const int level : {6, 1}) Measure("zlib", level, data, true, zlib(level));
  for (const int level : {1, 4, 6, 9}) Measure("zlib", level, data, false, zlib(level));
  for (const int level : {0, 1, 2, 3}) {
    Measure("isa-l", level, data, false,
            [=](const uint8_t* in, size_t n, Data* out) { return Isal(level, in, n, out); });
  }
  for (const int level : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12}) {
    libdeflate_compressor* c = libdeflate_alloc_compressor(level);
    Measure("libdeflate", level, data, false, [c](const uint8_t* in, size_t n, Data* out) {
      return libdeflate_gzip_compress(c, in, n, out->data(), out->size());
    });
    libdeflate_free_compressor(c);
  }
  for (const int level : {1, 3, 6}) {
    ZSTD_CCtx* c = ZSTD_createCCtx();
    Measure("zstd", level, data, false, [c, level](const uint8_t* in, size_t n, Data* out) {
      return ZSTD_compressCCtx(c, out->data(), out->size(), in, n, level);
    });
    ZSTD_freeCCtx(c);
  }
}
