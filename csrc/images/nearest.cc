// The nearest pixel for each result; see draw.h.

#include <cstring>

#include "base/parallel.h"
#include "images/draw.h"
#include "images/taps.h"

namespace tfr {
namespace {

template <size_t kSize>
void CopyRow(const uint8_t* row, const std::vector<size_t>& columns, size_t size, uint8_t* out) {
  const size_t bytes = kSize != 0 ? kSize : size;
  for (size_t x = 0; x < columns.size(); ++x, out += bytes) std::memcpy(out, row + columns[x], bytes);
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

Status DrawNearest(const Drawing& drawing, const std::vector<Pixels>& images, uint8_t* out, size_t num_threads) {
  const size_t row_size = drawing.width * drawing.channels;
  if (drawing.height * row_size == 0) return Status();
  for (const Pixels& image : images) TFR_RETURN_IF_ERROR(CheckSize(drawing, image));
  const RowCopier copy = Copier(drawing.channels);
  return ParallelTry(images.size(), num_threads, [&](size_t i) {
    const Pixels& image = images[i];
    const std::vector<size_t> columns =
        MakeNearest(image.width, drawing.width, drawing.alignment, image.mirrored, drawing.channels);
    const std::vector<size_t> rows = MakeNearest(image.height, drawing.height, drawing.alignment, image.upside_down, 1);
    uint8_t* row = out + i * drawing.height * row_size;
    for (size_t y = 0; y < drawing.height; ++y, row += row_size) {
      if (y > 0 && rows[y] == rows[y - 1]) {
        std::memcpy(row, row - row_size, row_size);
      } else {
        copy(image.data + static_cast<ptrdiff_t>(rows[y]) * image.stride, columns, drawing.channels, row);
      }
    }
    return Status();
  });
}

}  // namespace tfr
