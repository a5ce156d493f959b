// Rows of several arrays copied into one, for blocks of datasets.

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <cstring>
#include <string>
#include <vector>

#include "base/block.h"
#include "base/element_type.h"
#include "bindings/bindings.h"
#include "bindings/gil.h"
#include "bindings/numpy_api.h"

namespace py = pybind11;

namespace tfr {
namespace {

using Int64Array = py::array_t<int64_t, py::array::c_style>;

py::object Wrap(const Block& block, size_t rows, size_t row_bytes) {
  return WrapArray(ElementType::kUInt8, {static_cast<ptrdiff_t>(rows), static_cast<ptrdiff_t>(row_bytes)}, block.data,
                   block.owner);
}

// Memory from the pool of the columns: of large arrays that are new each time, the pages cost more than the copy.
py::object Room(size_t rows, size_t row_bytes) {
  Block block;
  if (!AllocateBlock(rows, row_bytes, 0, &block)) throw std::bad_alloc();
  return Wrap(block, rows, row_bytes);
}

// The rows `rows[i]` of the arrays `sources[i]`, as bytes. All arrays are contiguous, with rows of one size.
py::object GatherRows(const std::vector<py::buffer>& arrays, const Int64Array& sources, const Int64Array& rows) {
  struct Source {
    const uint8_t* data;
    int64_t count;
  };
  std::vector<py::buffer_info> infos;
  std::vector<Source> from;
  size_t row_bytes = 0;
  for (const py::buffer& array : arrays) {
    infos.push_back(array.request());
    const py::buffer_info& info = infos.back();
    if (info.ndim == 0) throw py::value_error("rows of a scalar");
    const int64_t count = info.shape[0];
    const size_t bytes = count == 0 ? row_bytes : static_cast<size_t>(info.size / count * info.itemsize);
    if (row_bytes != 0 && count != 0 && bytes != row_bytes) throw py::value_error("the rows differ in size");
    row_bytes = count == 0 ? row_bytes : bytes;
    py::ssize_t stride = info.itemsize;
    for (py::ssize_t axis = info.ndim; axis-- > 0; stride *= info.shape[axis]) {
      if (info.shape[axis] > 1 && info.strides[axis] != stride) throw py::value_error("an array is not contiguous");
    }
    from.push_back({static_cast<const uint8_t*>(info.ptr), count});
  }
  if (sources.size() != rows.size()) throw py::value_error("as many sources as rows are needed");
  const auto count = static_cast<size_t>(rows.size());
  const int64_t* source = sources.data();
  const int64_t* row = rows.data();
  for (size_t i = 0; i < count; ++i) {
    const bool known = source[i] >= 0 && source[i] < static_cast<int64_t>(from.size());
    if (!known || row[i] < 0 || row[i] >= from[static_cast<size_t>(source[i])].count) {
      throw py::index_error("a row that no array has");
    }
  }
  Block block;
  if (!AllocateBlock(count, row_bytes, 0, &block)) throw std::bad_alloc();
  {
    GilReleased no_gil;
    for (size_t i = 0; i < count; ++i) {
      const uint8_t* begin = from[static_cast<size_t>(source[i])].data + static_cast<size_t>(row[i]) * row_bytes;
      std::memcpy(block.data + i * row_bytes, begin, row_bytes);
    }
  }
  return Wrap(block, count, row_bytes);
}

// For each i, the `sizes[i]` items from number `starts[i]` on, and copies of `filling` up to `longest` items; without
// `filling`, the items alone, one row after the other. An item has as many bytes as `filling`.
py::object JoinRows(const py::buffer& flat, const Int64Array& starts, const Int64Array& sizes, size_t item_bytes,
                    int64_t longest, const py::bytes& filling) {
  const py::buffer_info info = flat.request();
  if (info.ndim != 1 || info.itemsize != 1 || (info.size > 1 && info.strides[0] != 1) || item_bytes == 0) {
    throw py::value_error("contiguous bytes are needed");
  }
  if (starts.size() != sizes.size()) throw py::value_error("as many starts as sizes are needed");
  const auto count = static_cast<size_t>(sizes.size());
  const int64_t items = static_cast<int64_t>(static_cast<size_t>(info.size) / item_bytes);
  const std::string fill = filling;
  const bool pads = longest >= 0;
  if (pads && fill.size() != item_bytes) throw py::value_error("the filling must have the size of an item");
  size_t total = 0;
  for (size_t i = 0; i < count; ++i) {
    const int64_t start = starts.data()[i];
    const int64_t size = sizes.data()[i];
    if (start < 0 || size < 0 || start > items || size > items - start || (pads && size > longest)) {
      throw py::index_error("items that do not exist");
    }
    total += static_cast<size_t>(size);
  }
  const size_t rows = pads ? count : 1;
  const size_t row_bytes = (pads ? static_cast<size_t>(longest) : total) * item_bytes;
  Block block;
  if (!AllocateBlock(rows, row_bytes, 0, &block)) throw std::bad_alloc();
  {
    GilReleased no_gil;
    const bool is_zero = fill.find_first_not_of('\0') == std::string::npos;
    uint8_t* out = block.data;
    for (size_t i = 0; i < count; ++i) {
      const size_t bytes = static_cast<size_t>(sizes.data()[i]) * item_bytes;
      const uint8_t* begin = static_cast<const uint8_t*>(info.ptr) + static_cast<size_t>(starts.data()[i]) * item_bytes;
      if (bytes > 0) std::memcpy(out, begin, bytes);
      out += bytes;
      if (!pads) continue;
      const size_t left = row_bytes - bytes;
      if (is_zero && left > 0) std::memset(out, 0, left);
      for (size_t at = 0; !is_zero && at < left; at += item_bytes) std::memcpy(out + at, fill.data(), item_bytes);
      out += left;
    }
  }
  return Wrap(block, rows, row_bytes);
}

}  // namespace

void BindRows(py::module_& module) {
  module.def("room", &Room, py::arg("rows"), py::arg("row_bytes"));
  module.def("join_rows", &JoinRows, py::arg("flat"), py::arg("starts"), py::arg("sizes"), py::arg("item_bytes"),
             py::arg("longest") = -1, py::arg("filling") = py::bytes());
  module.def("gather_rows", &GatherRows, py::arg("arrays"), py::arg("sources"), py::arg("rows"));
}

}  // namespace tfr
