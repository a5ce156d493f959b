"""Mistakes in csrc/images: positions, weights, and loops over rows of pixels."""

from tools.mutation.native import Mutant

NATIVE = "core/test_images_native"
PIXELS = "tensorflow/test_image_pixels"


def axis(old, new, why, tests=PIXELS):
    return Mutant("images/axis.cc", old, new, why, tests)


def resizer(old, new, why):
    return Mutant("images/resizer.cc", old, new, why, NATIVE)


MUTANTS = [
    axis("(number + 0.5f) * step + start - centre", "number * step + start - centre", "half pixels"),
    axis("Within(before + 1, axis.length)", "Within(before, axis.length)", "the pixel after a position"),
    axis("antialias ? std::max(step, 1.0f) : 1.0f", "antialias ? step : 1.0f", "antialiasing when sizes grow"),
    axis("std::max(step, 1.0f) : 1.0f", "std::max(step, 1.0f) : std::max(step, 1.0f)", "no antialiasing"),
    axis("const float radius = kernel.radius * stretch;", "const float radius = kernel.radius;", "a stretched kernel"),
    axis("if (is_open && pixel != before + i) continue;", "", "pixels beyond the border of Keys's cubic kernel"),
    axis("is_open ? -0.5 : -0.75", "-0.5", "the cubic kernel of TensorFlow 1"),
    axis("std::nearbyint(share * kTable) / kTable", "share", "positions that are rounded to 1/1024"),
    axis("if (step == 0) {", "if (false) {", "an area without a width"),
    axis("share = right > end ? step : right - begin;", "share = right - begin;", "an area within one pixel"),
    axis("axis.reversed ? axis.count - 1 - i : i", "i", "flips", NATIVE),
    axis("axis.first + i);", "i);", "windows", NATIVE),
    axis("std::min(spans_.first, pixel)", "pixel", "the columns that sums need", NATIVE),
    axis(
        "position = (static_cast<float>(result) + 0.5f) * step + static_cast<float>(axis.start);",
        "position = (static_cast<float>(result) + 0.5f) * step;",
        "parts",
        NATIVE,
    ),
    resizer(
        "if (table != nullptr && key == axis) return table;", "if (table != nullptr) return table;", "sizes of tables"
    ),
    resizer(
        "const size_t slot = number % rows->longest;", "const size_t slot = 0;", "rows after steps that come before"
    ),
    resizer("numbers_.assign(converts", "numbers_.resize(converts", "rows of the image before"),
    resizer("plane[x] = row[x * channels + channel];", "plane[x] = row[x * channels];", "planes"),
    resizer("start >= 0 && extent > 0 &&", "extent > 0 &&", "a part that begins outside"),
    resizer("first <= length && count <= length - first", "count <= length - first", "a window that begins outside"),
    Mutant("images/avx2.cc", "sums[j] = _mm256_add_ps(sums[j], ", "sums[j] = _mm256_sub_ps(sums[j], ", "sums", NATIVE),
    Mutant("images/avx2.cc", "0, 4, 1, 5, 2, 6, 3, 7", "0, 1, 2, 3, 4, 5, 6, 7", "the order of bytes", NATIVE),
    Mutant(
        "images/avx2.cc",
        "_mm256_max_ps(_mm256_loadu_ps(row), _mm256_setzero_ps())",
        "_mm256_max_ps(_mm256_setzero_ps(), _mm256_loadu_ps(row))",
        "NaN as a byte",
        NATIVE,
    ),
    Mutant("images/row_ops.h", "positive < 255 ? positive : 255", "positive < 256 ? positive : 255", "255.5", NATIVE),
    Mutant("images/row_ops.h", "(clipped + kWhole) - kWhole", "clipped + 0.5f", "ties", NATIVE),
]
