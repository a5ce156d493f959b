// draw_images and draw_nearest: arrays of NumPy for the room images/. Python's callers check what users can
// get wrong.

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <string>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "bindings/bindings.h"
#include "images/draw.h"

namespace py = pybind11;

namespace tfr {
namespace {

using Arrays = std::vector<py::array>;
using Steps = std::vector<std::pair<int, std::vector<float>>>;  // a number of Step::Kind, and its operands
constexpr int kMirrored = 1, kUpsideDown = 2;                   // bits of flips

void RequireImage(bool holds, const char* message) {
  if (!holds) throw py::value_error(message);
}

std::vector<Pixels> PixelsOf(const Arrays& images, const py::array& out, const py::dtype& dtype,
                             const std::string& flips) {
  RequireImage(
      out.ndim() == 4 && (out.flags() & py::array::c_style) && static_cast<size_t>(out.shape(0)) == images.size(),
      "out: expected a contiguous array [images, height, width, channels]");
  RequireImage(flips.empty() || flips.size() == images.size(), "flips: expected a byte per image");
  std::vector<Pixels> pixels;
  for (const py::array& image : images) {
    RequireImage(image.ndim() == 3 && image.shape(2) == out.shape(3) && image.dtype().equal(dtype),
                 "images: expected arrays [height, width, channels] of one dtype and number of channels");
    const py::ssize_t size = dtype.itemsize(), pixel = size * image.shape(2);
    RequireImage(image.size() == 0 || ((image.shape(2) <= 1 || image.strides(2) == size) &&
                                       (image.shape(1) <= 1 || image.strides(1) == pixel)),
                 "images: the pixels of a row must be adjacent");
    const int flip = flips.empty() ? 0 : flips[pixels.size()];
    pixels.push_back({static_cast<const uint8_t*>(image.data()), image.strides(0), static_cast<size_t>(image.shape(0)),
                      static_cast<size_t>(image.shape(1)), (flip & kMirrored) != 0, (flip & kUpsideDown) != 0});
  }
  return pixels;
}

Drawing DrawingOf(const py::array& out, size_t channels, int alignment) {
  RequireImage(alignment >= 0 && alignment <= static_cast<int>(Alignment::kCorners), "alignment: unknown number");
  return {static_cast<size_t>(out.shape(1)), static_cast<size_t>(out.shape(2)), channels,
          static_cast<Alignment>(alignment)};
}

std::vector<Step> StepsOf(const Steps& steps, size_t channels) {
  std::vector<Step> result;
  for (const auto& [kind, operands] : steps) {
    RequireImage(kind >= 0 && kind <= static_cast<int>(Step::Kind::kSubtract) && operands.size() == channels,
                 "steps: expected a known kind and an operand per channel");
    result.push_back({static_cast<Step::Kind>(kind), operands});
  }
  return result;
}

void Draw(const Arrays& images, py::array_t<float> out, int alignment, const std::string& flips, const Steps& before,
          const Steps& after) {
  const bool is_float = !images.empty() && images[0].dtype().kind() == 'f';
  const std::vector<Pixels> pixels =
      PixelsOf(images, out, is_float ? py::dtype::of<float>() : py::dtype::of<uint8_t>(), flips);
  const Drawing drawing = DrawingOf(out, static_cast<size_t>(out.shape(3)), alignment);
  const std::vector<Step> first = StepsOf(before, drawing.channels), then = StepsOf(after, drawing.channels);
  float* const data = out.mutable_data();
  RunWithoutGil([&] { return DrawImages(drawing, is_float, pixels, first, then, data, ResolveThreads(0)); });
}

void Nearest(const Arrays& images, py::array out, int alignment, const std::string& flips) {
  RequireImage(out.dtype().kind() != 'O', "out: objects can't be copied");
  const std::vector<Pixels> pixels = PixelsOf(images, out, out.dtype(), flips);
  const Drawing drawing = DrawingOf(out, static_cast<size_t>(out.shape(3) * out.itemsize()), alignment);
  auto* const data = static_cast<uint8_t*>(out.mutable_data());
  RunWithoutGil([&] { return DrawNearest(drawing, pixels, data, ResolveThreads(0)); });
}

}  // namespace

void BindImages(py::module_& m) {
  m.def("draw_images", &Draw, py::arg("images"), py::arg("out").noconvert(), py::arg("alignment"), py::arg("flips"),
        py::arg("before"), py::arg("after"));
  m.def("draw_nearest", &Nearest, py::arg("images"), py::arg("out").noconvert(), py::arg("alignment"),
        py::arg("flips"));
}

}  // namespace tfr
