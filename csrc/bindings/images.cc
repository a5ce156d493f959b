// draw_images and draw_nearest: arrays of NumPy for the room images/. Python's callers check what users can
// get wrong.

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "bindings/bindings.h"
#include "images/resize.h"

namespace py = pybind11;

namespace tfr {
namespace {

using Arrays = std::vector<py::array>;
using Steps = std::vector<std::pair<int, std::vector<float>>>;  // a number of Step::Kind, and its operands
constexpr int kMirrored = 1, kUpsideDown = 2;                   // bits of flips

void RequireImage(bool holds, const char* message) {
  if (!holds) throw py::value_error(message);
}

std::vector<Pixels> PixelsOf(const Arrays& images, size_t channels, const py::dtype& dtype, const std::string& flips) {
  RequireImage(flips.empty() || flips.size() == images.size(), "flips: expected a byte per image");
  std::vector<Pixels> pixels;
  for (const py::array& image : images) {
    RequireImage(image.ndim() == 3 && static_cast<size_t>(image.shape(2)) == channels && image.dtype().equal(dtype),
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

void RequireOut(const py::array& out, size_t images) {
  RequireImage(out.ndim() == 4 && (out.flags() & py::array::c_style) && static_cast<size_t>(out.shape(0)) == images,
               "out: expected a contiguous array of four dimensions, the first for images");
}

template <typename Enum>
Enum Numbered(int number, Enum last, const char* message) {
  RequireImage(number >= 0 && number <= static_cast<int>(last), message);
  return static_cast<Enum>(number);
}

Alignment AlignmentOf(int number) { return Numbered(number, Alignment::kCorners, "alignment: unknown number"); }

std::vector<Step> StepsOf(const Steps& steps, size_t channels) {
  std::vector<Step> result;
  for (const auto& [kind, operands] : steps) {
    RequireImage(operands.size() == channels, "steps: expected an operand per channel");
    result.push_back({Numbered(kind, Step::Kind::kSubtract, "steps: unknown number"), operands});
  }
  return result;
}

// `part` of the pixels is resized: (top, left, height, width). `window` is (height, width) of the resized images, and
// (top, left) of the window that `out` gets.
void Draw(const Arrays& images, py::array out, int method, int alignment, bool antialias, const std::string& flips,
          const Steps& before, const Steps& after, bool channels_first,
          const std::optional<std::array<size_t, 4>>& window, const std::optional<std::array<double, 4>>& part) {
  const py::dtype bytes = py::dtype::of<uint8_t>(), floats = py::dtype::of<float>();
  RequireOut(out, images.size());
  RequireImage(out.dtype().equal(bytes) || out.dtype().equal(floats), "out: expected uint8 or float32");
  const int last = channels_first ? 1 : 3, rows = channels_first ? 2 : 1;
  const auto length = [&](int axis) { return static_cast<size_t>(out.shape(axis)); };
  Drawing drawing;
  drawing.channels = length(last);
  drawing.method = Numbered(method, Method::kMitchellCubic, "method: unknown number");
  drawing.alignment = AlignmentOf(alignment);
  drawing.antialias = antialias;
  drawing.float_pixels = !images.empty() && images[0].dtype().kind() == 'f';
  drawing.float_results = out.dtype().equal(floats);
  drawing.channels_first = channels_first;
  drawing.before = StepsOf(before, drawing.channels);
  drawing.after = StepsOf(after, drawing.channels);
  std::vector<Pixels> pixels = PixelsOf(images, drawing.channels, drawing.float_pixels ? floats : bytes, flips);
  if (part) {
    for (Pixels& image : pixels) image.part = {(*part)[0], (*part)[1], (*part)[2], (*part)[3]};
  }
  ResizedWindow drawn = ResizedWindow::Whole(length(rows), length(rows + 1));
  if (window) drawn = {(*window)[0], (*window)[1], (*window)[2], (*window)[3], drawn.rows, drawn.columns};
  void* const data = out.mutable_data();
  RunWithoutGil([&] { return DrawImages(drawing, pixels, drawn, data, ResolveThreads(0)); });
}

void Nearest(const Arrays& images, py::array out, int alignment, const std::string& flips) {
  RequireOut(out, images.size());
  RequireImage(out.dtype().kind() != 'O', "out: objects can't be copied");
  const std::vector<Pixels> pixels = PixelsOf(images, static_cast<size_t>(out.shape(3)), out.dtype(), flips);
  const size_t size = static_cast<size_t>(out.shape(3) * out.itemsize());
  const size_t height = static_cast<size_t>(out.shape(1)), width = static_cast<size_t>(out.shape(2));
  const Alignment aligned = AlignmentOf(alignment);
  auto* const data = static_cast<uint8_t*>(out.mutable_data());
  RunWithoutGil([&] { return DrawNearest(aligned, size, pixels, height, width, data, ResolveThreads(0)); });
}

}  // namespace

void BindImages(py::module_& m) {
  m.def("draw_images", &Draw, py::arg("images"), py::arg("out").noconvert(), py::arg("method"), py::arg("alignment"),
        py::arg("antialias"), py::arg("flips"), py::arg("before"), py::arg("after"), py::arg("channels_first") = false,
        py::arg("window") = py::none(), py::arg("part") = py::none());
  m.def("draw_nearest", &Nearest, py::arg("images"), py::arg("out").noconvert(), py::arg("alignment"),
        py::arg("flips"));
  m.def("resize_backends", &ResizeBackends);
  m.def("resize_backend", &ResizeBackend);
  m.def("set_resize_backend", [](const std::string& name) {
    if (!SetResizeBackend(name.c_str())) throw py::value_error("no resize backend \"" + name + "\" on this processor");
  });
}

}  // namespace tfr
