// The floor of decoding JPEGs: libjpeg-turbo alone, on several threads, into memory that is used again for each image.

#include <algorithm>
#include <atomic>
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

// clang-format off
#include <jpeglib.h>  // after <cstdio>, whose FILE it uses
// clang-format on

namespace {

struct Errors {
  jpeg_error_mgr base;
  std::jmp_buf jump;
};

void Fail(j_common_ptr info) { std::longjmp(reinterpret_cast<Errors*>(info->err)->jump, 1); }

// Decodes an image to RGB. Returns its number of bytes, 0 for a damaged image.
int64_t Decode(const unsigned char* data, unsigned long size, std::vector<unsigned char>& pixels) {
  jpeg_decompress_struct info;
  Errors errors;
  info.err = jpeg_std_error(&errors.base);
  errors.base.error_exit = Fail;
  if (setjmp(errors.jump)) {
    jpeg_destroy_decompress(&info);
    return 0;
  }
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, data, size);
  jpeg_read_header(&info, TRUE);
  info.out_color_space = JCS_RGB;
  jpeg_start_decompress(&info);
  const size_t row = size_t{info.output_width} * 3;
  const size_t bytes = row * info.output_height;
  if (pixels.size() < bytes) pixels.resize(bytes);
  while (info.output_scanline < info.output_height) {
    JSAMPROW rows[8];
    const int count = std::min<int>(8, info.output_height - info.output_scanline);
    for (int i = 0; i < count; i++) rows[i] = pixels.data() + row * (info.output_scanline + i);
    jpeg_read_scanlines(&info, rows, count);
  }
  jpeg_finish_decompress(&info);
  jpeg_destroy_decompress(&info);
  return static_cast<int64_t>(bytes);
}

}  // namespace

// Decodes all images. *decoded is the number of images that were decoded, *bytes that of their pixels.
extern "C" void floor_decode_jpegs(const unsigned char* const* images, const uint64_t* sizes, int64_t count,
                                   int threads, int64_t* decoded, int64_t* bytes) {
  std::atomic<int64_t> next{0}, total{0}, good{0};
  auto work = [&] {
    std::vector<unsigned char> pixels;
    for (int64_t i; (i = next++) < count;) {
      const int64_t size = Decode(images[i], sizes[i], pixels);
      total += size;
      good += size > 0;
    }
  };
  std::vector<std::thread> others;
  for (int i = 1; i < threads; i++) others.emplace_back(work);
  work();
  for (std::thread& thread : others) thread.join();
  *decoded = good;
  *bytes = total;
}
