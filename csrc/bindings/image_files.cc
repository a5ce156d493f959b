// image_header, decode_image, decode_images, encode_jpeg, encode_images and encode_png: files of images to arrays, and
// back.

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/block.h"
#include "base/element_type.h"
#include "base/parallel.h"
#include "bindings/bindings.h"
#include "bindings/bytes_like.h"
#include "bindings/numpy_api.h"
#include "images/decode.h"
#include "images/encode.h"

namespace py = pybind11;

namespace tfr {
namespace {

using ImageWindow = std::tuple<size_t, size_t, size_t, size_t>;  // top, left, height, width

// An image that becomes an array.
struct DecodedImage {
  explicit DecodedImage(const HeldBytes& held)
      : file(reinterpret_cast<const char*>(held.bytes.data), held.bytes.size) {}

  std::string_view file;
  Region region = {};
  size_t channels = 0;
  size_t row_bytes = 0;
  uint8_t* out = nullptr;

  size_t bytes() const { return region.height * row_bytes; }
};

Status OpenImage(const DecodeOptions& options, const std::optional<ImageWindow>& window, ImageDecoder* decoder,
                 DecodedImage* result) {
  TFR_RETURN_IF_ERROR(decoder->Open(result->file, options));
  Region& region = result->region;
  region = {0, 0, decoder->height(), decoder->width()};
  if (window) std::tie(region.top, region.left, region.height, region.width) = *window;
  if (region.height > decoder->height() || region.width > decoder->width()) {
    return decoder->DecodeRegion(region, nullptr, 0);  // the error
  }
  result->channels = decoder->channels();
  result->row_bytes = region.width * decoder->pixel_bytes();
  return Status();
}

Status DecodeOpened(const DecodedImage& result, ImageDecoder* decoder) {
  return decoder->DecodeRegion(result.region, result.out, static_cast<ptrdiff_t>(result.row_bytes));
}

// An array over `block`, of one image or of all.
py::object WrapImage(const Block& block, uint8_t* data, const DecodedImage& image, bool sixteen_bits,
                     std::vector<ptrdiff_t> shape = {}) {
  for (const size_t side : {image.region.height, image.region.width, image.channels}) {
    shape.push_back(static_cast<ptrdiff_t>(side));
  }
  return WrapArray(sixteen_bits ? ElementType::kUInt16 : ElementType::kUInt8, shape, data, block.owner);
}

void AllocateImage(size_t bytes, Block* block) {
  if (!AllocateBlock(bytes, 1, 0, block)) throw std::bad_alloc();
}

py::object DecodeImage(py::handle contents, const DecodeOptions& options, const std::optional<ImageWindow>& window) {
  const HeldBytes held = BytesOfPython(contents, "contents");
  DecodedImage result(held);
  ImageDecoder decoder;
  RunWithoutGil([&] { return OpenImage(options, window, &decoder, &result); });
  Block block;
  AllocateImage(result.bytes(), &block);
  result.out = block.data;
  RunWithoutGil([&] { return DecodeOpened(result, &decoder); });
  return WrapImage(block, block.data, result, options.sixteen_bits);
}

// An array [images, height, width, channels] if all images have one shape, else a list of arrays.
py::object DecodeImages(const py::list& contents, const DecodeOptions& options,
                        const std::optional<ImageWindow>& window, size_t num_threads) {
  std::vector<HeldBytes> held;
  std::vector<DecodedImage> results;
  for (const py::handle item : contents) {
    held.push_back(BytesOfPython(item, "contents"));
    results.emplace_back(held.back());
  }
  num_threads = ResolveThreads(num_threads);
  RunWithoutGil([&] {
    return ParallelTry(results.size(), num_threads, [&](size_t i) {
      ImageDecoder decoder;
      return OpenImage(options, window, &decoder, &results[i]);
    });
  });
  bool is_even = !results.empty();
  for (const DecodedImage& result : results) {
    is_even = is_even && result.region.height == results[0].region.height && result.row_bytes == results[0].row_bytes &&
              result.channels == results[0].channels;
  }
  std::vector<Block> blocks(is_even ? 1 : results.size());
  if (is_even) AllocateImage(results.size() * results[0].bytes(), &blocks[0]);
  for (size_t i = 0; i < results.size(); ++i) {
    if (!is_even) AllocateImage(results[i].bytes(), &blocks[i]);
    results[i].out = is_even ? blocks[0].data + i * results[0].bytes() : blocks[i].data;
  }
  RunWithoutGil([&] {
    return ParallelTry(results.size(), num_threads, [&](size_t i) {
      ImageDecoder decoder;
      DecodedImage again = results[i];
      TFR_RETURN_IF_ERROR(OpenImage(options, window, &decoder, &again));
      return DecodeOpened(results[i], &decoder);
    });
  });
  if (is_even) {
    return WrapImage(blocks[0], blocks[0].data, results[0], options.sixteen_bits,
                     {static_cast<ptrdiff_t>(results.size())});
  }
  py::list arrays;
  for (size_t i = 0; i < results.size(); ++i) {
    arrays.append(WrapImage(blocks[i], blocks[i].data, results[i], options.sixteen_bits));
  }
  return arrays;
}

py::object HeaderOf(py::handle contents) {
  const HeldBytes held = BytesOfPython(contents, "contents");
  ImageHeader header;
  RunWithoutGil([&] { return ReadImageHeader(DecodedImage(held).file, &header); });
  const char* const format = header.format == ImageFormat::kJpeg ? "JPEG" : "PNG";
  return py::make_tuple(format, header.height, header.width, header.channels, header.bit_depth);
}

Picture PictureOf(const py::array& pixels) {
  const bool sixteen_bits = pixels.dtype().equal(py::dtype::of<uint16_t>());
  if (pixels.ndim() != 3 || (pixels.flags() & py::array::c_style) == 0 ||
      !(sixteen_bits || pixels.dtype().equal(py::dtype::of<uint8_t>()))) {
    throw py::value_error("expected a contiguous array [height, width, channels] of uint8 or uint16");
  }
  return {static_cast<const uint8_t*>(pixels.data()), pixels.shape(1) * pixels.shape(2) * pixels.itemsize(),
          static_cast<size_t>(pixels.shape(0)),       static_cast<size_t>(pixels.shape(1)),
          static_cast<size_t>(pixels.shape(2)),       sixteen_bits};
}

template <typename Encode>
py::bytes Encoded(const Encode& encode) {
  std::vector<uint8_t> out;
  RunWithoutGil([&] { return encode(&out); });
  return {reinterpret_cast<const char*>(out.data()), out.size()};
}

py::bytes EncodeJpegArray(const py::array& pixels, int quality, bool progressive, bool optimize,
                          bool chroma_downsampling, bool density_per_cm, uint16_t x_density, uint16_t y_density,
                          const std::string& xmp) {
  const Picture picture = PictureOf(pixels);
  const JpegOptions options{quality,        progressive, optimize,  chroma_downsampling,
                            density_per_cm, x_density,   y_density, xmp};
  return Encoded([&](std::vector<uint8_t>* out) { return EncodeJpeg(picture, options, out); });
}

py::bytes EncodePngArray(const py::array& pixels, int level) {
  const Picture picture = PictureOf(pixels);
  return Encoded([&](std::vector<uint8_t>* out) { return EncodePng(picture, level, out); });
}

// Encodes each array as a JPEG, or as a PNG without a quality.
py::list EncodeImages(const std::vector<py::array>& images, std::optional<int> quality, size_t num_threads) {
  std::vector<Picture> pictures;
  for (const py::array& image : images) pictures.push_back(PictureOf(image));
  std::vector<std::vector<uint8_t>> files(pictures.size());
  RunWithoutGil([&] {
    return ParallelTry(pictures.size(), ResolveThreads(num_threads), [&](size_t i) {
      JpegOptions options;
      options.quality = quality.value_or(options.quality);
      return quality ? EncodeJpeg(pictures[i], options, &files[i]) : EncodePng(pictures[i], -1, &files[i]);
    });
  });
  py::list result;
  for (std::vector<uint8_t>& file : files) {
    result.append(py::bytes(reinterpret_cast<const char*>(file.data()), file.size()));
    std::vector<uint8_t>().swap(file);
  }
  return result;
}

}  // namespace

void BindImageFiles(py::module_& m) {
  const DecodeOptions defaults;
  py::class_<DecodeOptions>(m, "DecodeOptions")
      .def(py::init([](size_t channels, bool sixteen_bits, size_t max_pixels, size_t ratio, bool fancy_upsampling,
                       bool fast_dct, bool recover_truncated, double acceptable_fraction) {
             return DecodeOptions{channels,         sixteen_bits, max_pixels,        ratio,
                                  fancy_upsampling, fast_dct,     recover_truncated, acceptable_fraction};
           }),
           py::kw_only(), py::arg("channels") = defaults.channels, py::arg("sixteen_bits") = defaults.sixteen_bits,
           py::arg("max_pixels") = defaults.max_pixels, py::arg("ratio") = defaults.ratio,
           py::arg("fancy_upsampling") = defaults.fancy_upsampling, py::arg("fast_dct") = defaults.fast_dct,
           py::arg("recover_truncated") = defaults.recover_truncated,
           py::arg("acceptable_fraction") = defaults.acceptable_fraction);
  m.def("image_header", &HeaderOf, py::arg("contents"));
  m.def("decode_image", &DecodeImage, py::arg("contents"), py::arg("options") = defaults,
        py::arg("region") = py::none());
  m.def("decode_images", &DecodeImages, py::arg("contents"), py::arg("options") = defaults,
        py::arg("region") = py::none(), py::arg("num_threads") = 0);
  m.def("encode_jpeg", &EncodeJpegArray, py::arg("pixels"), py::kw_only(), py::arg("quality"), py::arg("progressive"),
        py::arg("optimize"), py::arg("chroma_downsampling"), py::arg("density_per_cm"), py::arg("x_density"),
        py::arg("y_density"), py::arg("xmp"));
  m.def("encode_images", &EncodeImages, py::arg("images"), py::kw_only(), py::arg("quality"), py::arg("num_threads"));
  m.def("encode_png", &EncodePngArray, py::arg("pixels"), py::arg("level"));
}

}  // namespace tfr
