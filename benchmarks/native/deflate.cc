// Sizes and speeds of the deflate libraries on blocks of a file: the table of docs/performance/deflate.md.
//
//   g++ -O2 -std=c++20 benchmarks/native/deflate.cc -o deflate -lz -ldeflate -lisal -lzstd && ./deflate FILE [BLOCK_KIB]
//
// Each block is compressed by itself, as the writer does; "zlib 6 whole" is one stream, as TensorFlow writes it.
// Speeds are of one core, in MB of uncompressed bytes a second of processor time.

#include <isa-l.h>
#include <libdeflate.h>
#include <time.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

namespace {

using Bytes = std::vector<unsigned char>;
// Compresses [in, in + size) to out and returns how many bytes that took.
using Compress = std::function<size_t(const unsigned char* in, size_t size, Bytes* out)>;

double Seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void Measure(const char* library, int level, const Bytes& data, size_t block, const Compress& compress) {
  Bytes out(2 * block + (1 << 16));
  double best = 1e9;
  size_t total = 0;
  for (int round = 0; round < 3; ++round) {
    total = 0;
    const double start = Seconds();
    for (size_t at = 0; at < data.size(); at += block) total += compress(data.data() + at, std::min(block, data.size() - at), &out);
    best = std::min(best, Seconds() - start);
  }
  std::printf("%-12s %3d  %7.4f  %7.1f\n", library, level, static_cast<double>(total) / static_cast<double>(data.size()),
              static_cast<double>(data.size()) / best / 1e6);
}

size_t Zlib(int level, const unsigned char* in, size_t size, Bytes* out) {
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

size_t Isal(int level, const unsigned char* in, size_t size, Bytes* out) {
  static const uint32_t kWork[] = {ISAL_DEF_LVL0_DEFAULT, ISAL_DEF_LVL1_DEFAULT, ISAL_DEF_LVL2_DEFAULT, ISAL_DEF_LVL3_DEFAULT};
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
  if (argc < 2) return 2;
  std::ifstream file(argv[1], std::ios::binary);
  const Bytes data{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const size_t block = (argc > 2 ? static_cast<size_t>(std::atoi(argv[2])) : 1024) << 10;
  std::printf("library    level     size     MB/s   (%s, blocks of %zu KiB)\n", argv[1], block >> 10);
  const auto zlib = [](int level) { return [level](const unsigned char* in, size_t n, Bytes* out) { return Zlib(level, in, n, out); }; };
  Measure("zlib whole", 6, data, data.size(), zlib(6));
  Measure("zlib whole", 1, data, data.size(), zlib(1));
  for (int level : {1, 4, 6, 9}) Measure("zlib", level, data, block, zlib(level));
  for (int level : {0, 1, 2, 3}) {
    Measure("isa-l", level, data, block, [level](const unsigned char* in, size_t n, Bytes* out) { return Isal(level, in, n, out); });
  }
  for (int level : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12}) {
    libdeflate_compressor* c = libdeflate_alloc_compressor(level);
    Measure("libdeflate", level, data, block, [c](const unsigned char* in, size_t n, Bytes* out) {
      return libdeflate_gzip_compress(c, in, n, out->data(), out->size());
    });
    libdeflate_free_compressor(c);
  }
  for (int level : {1, 3, 6}) {
    ZSTD_CCtx* c = ZSTD_createCCtx();
    Measure("zstd", level, data, block, [c, level](const unsigned char* in, size_t n, Bytes* out) {
      return ZSTD_compressCCtx(c, out->data(), out->size(), in, n, level);
    });
    ZSTD_freeCCtx(c);
  }
}
