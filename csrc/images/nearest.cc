// The nearest pixel for each result, of any size; see resize.h.

#include <cstring>

#include "base/parallel.h"
#include "images/axis.h"
#include "images/resize.h"

namespace tfr {
namespace {

template <size_t kSize>
void CopyRow(const uint8_t* row, const std::vector<size_t>& columns, size_t size, uint8_t* out) {
  const size_t bytes = kSize != 0 ? kSize : size;
  for (size_t x = 0; x < columns.size(); ++x, out += bytes) std::memcpy(out, row + columns[x] * bytes, bytes);
}

using RowCopier = void (*)(const uint8_t*, const std::vector<size_t>&, size_t, uint8_t*);

RowCopier Copier(size_t size) {
  switch (size) {
    case 1:
      return CopyRow<1>;
    case 3:
      return CopyRow<3>;
    case 4:
      return CopyRow<4>;
    case 12:
      return CopyRow<12>;
    default:
      return CopyRow<0>;
  }
}

}  // namespace

Status DrawNearest(Alignment alignment, size_t size, const std::vector<Pixels>& images, size_t height, size_t width,
                   uint8_t* out, size_t num_threads) {
  const size_t row_size = width * size;
  if (height * row_size == 0) return Status();
  const RowCopier copy = Copier(size);
  return ParallelTry(images.size(), num_threads, [&](size_t i) -> Status {
    const Pixels& image = images[i];
    TFR_RETURN_IF_ERROR(CheckSizes(image, alignment, height, width));
    const auto nearest = [&](size_t length, size_t results, bool reversed) {
      return NearestPixels({length, 0, static_cast<double>(length), results, 0, results, reversed}, alignment);
    };
    const std::vector<size_t> columns = nearest(image.width, width, image.mirrored);
    const std::vector<size_t> rows = nearest(image.height, height, image.upside_down);
    uint8_t* row = out + i * height * row_size;
    for (size_t y = 0; y < height; ++y, row += row_size) {
      if (y > 0 && rows[y] == rows[y - 1]) {
        std::memcpy(row, row - row_size, row_size);
      } else {
        copy(image.data + static_cast<ptrdiff_t>(rows[y]) * image.stride, columns, size, row);
      }
    }
    return Status();
  });
}

}  // namespace tfr
