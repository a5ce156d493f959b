// ImageSpec, and the results of decoding; see image_columns.h.

#include "bindings/image_columns.h"

#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "bindings/bindings.h"
#include "bindings/numpy_api.h"
#include "bindings/owned_once.h"
#include "framing/format.h"

namespace py = pybind11;

namespace tfr {
namespace {

template <typename Value, size_t count>
Value ValueNamed(const std::pair<const char*, Value> (&values)[count], const std::string& name, const char* what) {
  for (const auto& [known, value] : values) {
    if (name == known) return value;
  }
  throw py::value_error(std::string(what) + ": unknown name '" + name + "'");
}

constexpr std::pair<const char*, Method> kMethods[] = {
    {"bilinear", Method::kBilinear}, {"nearest", Method::kNearest},
    {"bicubic", Method::kBicubic},   {"area", Method::kArea},
    {"lanczos3", Method::kLanczos3}, {"lanczos5", Method::kLanczos5},
    {"gaussian", Method::kGaussian}, {"mitchellcubic", Method::kMitchellCubic}};
constexpr std::pair<const char*, ImageSpec::Crop> kCrops[] = {
    {"none", ImageSpec::Crop::kNone}, {"center", ImageSpec::Crop::kCenter}, {"random", ImageSpec::Crop::kRandom}};
constexpr std::pair<const char*, ImageSpec::OnError> kOnErrors[] = {
    {"raise", ImageSpec::OnError::kRaise}, {"skip", ImageSpec::OnError::kSkip}, {"zeros", ImageSpec::OnError::kZeros}};

using Interval = std::pair<double, double>;

std::unique_ptr<ImageSpec> NewImageSpec(std::pair<size_t, size_t> size, size_t channels, bool float_results,
                                        const std::string& resize, const std::string& crop, size_t shorter_side,
                                        Interval scale, Interval ratio, bool flip, bool antialias, bool exact,
                                        bool channels_first, const std::string& on_error, std::optional<uint64_t> seed,
                                        size_t max_pixels) {
  auto spec = std::make_unique<ImageSpec>();
  std::tie(spec->height, spec->width) = size;
  spec->channels = channels;
  spec->float_results = float_results;
  spec->method = ValueNamed(kMethods, resize, "resize");
  spec->crop = ValueNamed(kCrops, crop, "crop");
  spec->shorter_side = shorter_side;
  std::tie(spec->scale[0], spec->scale[1]) = scale;
  std::tie(spec->ratio[0], spec->ratio[1]) = ratio;
  spec->flip = flip;
  spec->antialias = antialias;
  spec->exact = exact;
  spec->channels_first = channels_first;
  spec->on_error = ValueNamed(kOnErrors, on_error, "on_error");
  spec->seed = seed;
  spec->max_pixels = max_pixels;
  return spec;
}

}  // namespace

void BindImageSpec(py::module_& m) {
  NewClass<ImageSpec>(m, "ImageSpec")
      .def(py::init(&NewImageSpec), py::kw_only(), py::arg("size"), py::arg("channels"), py::arg("float_results"),
           py::arg("resize"), py::arg("crop"), py::arg("shorter_side"), py::arg("scale"), py::arg("ratio"),
           py::arg("flip"), py::arg("antialias"), py::arg("exact"), py::arg("channels_first"), py::arg("on_error"),
           py::arg("seed"), py::arg("max_pixels"));
}

py::object WrapImages(const ImageSpec& spec, const Column& column, size_t rows) {
  using Shape = std::vector<ptrdiff_t>;
  const ElementType type = spec.float_results ? ElementType::kFloat32 : ElementType::kUInt8;
  const auto shape_of = [&](size_t height, size_t width) {
    const auto high = static_cast<ptrdiff_t>(height), wide = static_cast<ptrdiff_t>(width);
    const auto channels = static_cast<ptrdiff_t>(spec.channels);
    return spec.channels_first ? Shape{channels, high, wide} : Shape{high, wide, channels};
  };
  if (!spec.own_size()) {
    Shape shape = shape_of(spec.height, spec.width);
    shape.insert(shape.begin(), static_cast<ptrdiff_t>(rows));
    return WrapArray(type, shape, column.values.data, column.values.owner);
  }
  py::list images(rows);
  for (size_t row = 0; row < rows; ++row) {
    const OwnSize& image = column.images[row];
    images[row] = WrapArray(type, shape_of(image.height, image.width), image.values.data, image.values.owner);
  }
  return images;
}

Sequence::SkippedIn SkippedOf(const LostImage& image) {
  return {image.origin.path, {image.origin.offset, static_cast<int64_t>(image.bytes + kFrameBytes), image.reason}};
}

void AppendLost(const std::vector<LostImage>& images, const py::object& list) {
  for (const LostImage& image : images) {
    const auto [path, skipped] = SkippedOf(image);
    const py::object name = path ? PathText(*path) : py::object(py::none());
    list.attr("append")(py::make_tuple(name, skipped.offset, skipped.bytes, skipped.reason));
  }
}

}  // namespace tfr
