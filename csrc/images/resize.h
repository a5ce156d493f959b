// Resizes images: decoded pixels in another size, mirrored, and with scaled values, in one pass over each image.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/status.h"

namespace tfr {

// How new pixels are computed. The weights are those of tf.image.resize.
enum class Method : uint8_t {
  kBilinear,
  kNearest,
  kBicubic,
  kArea,
  kLanczos3,
  kLanczos5,
  kGaussian,
  kMitchellCubic,
};

// How the pixels of two sizes are aligned.
enum class Alignment : uint8_t {
  kSameSize,    // the sizes are equal: pixels are copied, whatever the method
  kHalfPixels,  // by their outer edges
  kTopLeft,     // by the centres of the first pixels, with a scale of one size to the other (TensorFlow 1)
  kCorners,     // by the centres of the outermost pixels
};

// A window of pixels whose borders may lie between them.
struct PixelPart {
  double top = 0;
  double left = 0;
  double height = 0;  // 0: all pixels
  double width = 0;
};

// The pixels of an image, or of a crop of it: rows of adjacent pixels, `stride` bytes apart. uint8 or float32; those
// need not be aligned.
struct Pixels {
  const uint8_t* data = nullptr;
  ptrdiff_t stride = 0;
  size_t height = 0;
  size_t width = 0;
  bool mirrored = false;     // left and right
  bool upside_down = false;  // both after resizing
  PixelPart part = {};       // that is resized, with kHalfPixels; pixels around it count near its borders
};

// A step of arithmetic on float32 values, with an operand per channel.
struct Step {
  enum class Kind : uint8_t { kMultiply, kDivide, kAdd, kSubtract };
  Kind kind = Kind::kMultiply;
  std::vector<float> operands = {};
};

// The properties that all images of a call share.
struct Drawing {
  size_t channels = 0;
  Method method = Method::kBilinear;
  Alignment alignment = Alignment::kHalfPixels;  // methods besides those of TensorFlow 1 have half pixels only
  bool antialias = false;                        // not for kNearest and kArea
  bool float_pixels = false;                     // float32; otherwise uint8
  bool float_results = true;      // float32; otherwise uint8: rounded, ties to even, and clipped to 0 … 255
  bool channels_first = false;    // results are [channels, height, width]
  std::vector<Step> before = {};  // on the pixels that are resized
  std::vector<Step> after = {};   // on the results
};

// The size that an image is resized to, and the window of it that is drawn.
struct ResizedWindow {
  size_t height = 0;  // of the whole image
  size_t width = 0;
  size_t top = 0;  // of the window
  size_t left = 0;
  size_t rows = 0;
  size_t columns = 0;

  static ResizedWindow Whole(size_t height, size_t width) { return {height, width, 0, 0, height, width}; }
};

// Where results are written.
struct Canvas {
  void* data = nullptr;
  ptrdiff_t row = 0;    // bytes from one row to the next
  ptrdiff_t plane = 0;  // bytes from one channel to the next, with channels_first
};

// Draws one image after another on one thread. Memory is used again, and so are weights, between images of equal sizes.
class Resizer {
 public:
  explicit Resizer(const Drawing& drawing);
  ~Resizer();

  // Draws `image` into `canvas`. kInvalidArgument: the image has no pixels, the part is not within it, the window is
  // not within the resized image, the sizes differ with kSameSize, or the method has no such alignment.
  Status Draw(const Pixels& image, const ResizedWindow& window, const Canvas& canvas);

  // The same, into contiguous memory: [rows, columns, channels], or [channels, rows, columns].
  Status Draw(const Pixels& image, const ResizedWindow& window, void* out);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// Draws the same window of each image into `out`, contiguous [images, rows, columns, channels] or
// [images, channels, rows, columns], on several threads.
Status DrawImages(const Drawing& drawing, const std::vector<Pixels>& images, const ResizedWindow& window, void* out,
                  size_t num_threads);

// Copies the nearest pixel for each result, of `size` bytes, whatever its values: into `out`, [images, height, width].
Status DrawNearest(Alignment alignment, size_t size, const std::vector<Pixels>& images, size_t height, size_t width,
                   uint8_t* out, size_t num_threads);

// ---- Backends of the loops over rows ----

// The backends that this processor can run, fastest first; "portable" is always among them. All compute the same
// values. The first use takes the fastest, or the one that the environment variable TFRECORD_FAST_RESIZE names.
std::vector<const char*> ResizeBackends();

const char* ResizeBackend();

// Returns false and changes nothing if this processor lacks the backend.
bool SetResizeBackend(const char* name);

}  // namespace tfr
