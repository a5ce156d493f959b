// Private hooks on the varint room, for its tests and for build_info().
//
// They hand the caller's memory to the core as it is, so that a test can put a guard page after it.

#include "varint/varint.h"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <string>
#include <utility>
#include <vector>

#include "bindings/bindings.h"

namespace py = pybind11;

namespace tfr {
namespace {

using Int64Array = py::array_t<int64_t, py::array::c_style>;

struct Run {
  const uint8_t* begin;
  const uint8_t* end;
};

Run BytesOf(const py::buffer_info& info) {
  const auto* begin = static_cast<const uint8_t*>(info.ptr);
  return {begin, begin + info.size * info.itemsize};
}

size_t Size(const Int64Array& array) { return static_cast<size_t>(array.size()); }

size_t CountBuffer(py::buffer data) {
  const py::buffer_info info = data.request();
  const Run run = BytesOf(info);
  size_t count;
  if (!CountVarints(run.begin, run.end, &count)) throw py::value_error("the run ends inside a varint");
  return count;
}

Int64Array DecodeBuffer(py::buffer data) {
  const py::buffer_info info = data.request();
  const Run run = BytesOf(info);
  const size_t count = CountVarints(run.begin, run.end);
  Int64Array out(static_cast<py::ssize_t>(count));
  if (DecodeVarints(run.begin, run.end, out.mutable_data(), count) != run.end)
    throw py::value_error("malformed varints");
  return out;
}

// (values written to the front of `out`, bytes used)
std::pair<size_t, size_t> DecodeInto(py::buffer data, py::array out) {
  if (!Int64Array::check_(out)) throw py::type_error("out must be a contiguous int64 array");
  const py::buffer_info info = data.request();
  const Run run = BytesOf(info);
  size_t count;
  const uint8_t* after = DecodeVarintRun(run.begin, run.end, static_cast<int64_t*>(out.mutable_data()),
                                         static_cast<size_t>(out.size()), &count);
  if (after == nullptr) throw py::value_error("malformed varints");
  return {count, static_cast<size_t>(after - run.begin)};
}

// The value if `size` bytes from `start` on are one varint, else None. Bytes from the start of `data` on may be read.
py::object DecodeOne(py::buffer data, size_t start, size_t size) {
  const py::buffer_info info = data.request();
  const Run run = BytesOf(info);
  const size_t available = static_cast<size_t>(run.end - run.begin);
  if (start > available || size > available - start) throw py::value_error("outside of the data");
  int64_t value;
  if (!DecodeOneVarint(run.begin, run.begin + start, size, &value)) return py::none();
  return py::int_(value);
}

py::bytes EncodeArray(Int64Array values) {
  const size_t size = EncodedVarintsSize(values.data(), Size(values));
  py::bytes out(nullptr, size);
  auto* begin = reinterpret_cast<uint8_t*>(PyBytes_AS_STRING(out.ptr()));
  if (EncodeVarints(values.data(), Size(values), begin, begin + size) != begin + size) {
    throw py::value_error("sizes disagree");
  }
  return out;
}

size_t EncodeInto(Int64Array values, py::buffer out) {
  const py::buffer_info info = out.request(/*writable=*/true);
  auto* begin = static_cast<uint8_t*>(info.ptr);
  const uint8_t* const after = EncodeVarints(values.data(), Size(values), begin, begin + info.size * info.itemsize);
  if (after == nullptr) throw py::value_error("out is too small");
  return static_cast<size_t>(after - begin);
}

}  // namespace

void BindVarint(py::module_& m) {
  m.def("decode_varints", &DecodeBuffer, py::arg("data"));
  m.def("decode_varints_into", &DecodeInto, py::arg("data"), py::arg("out"));
  m.def("decode_one_varint", &DecodeOne, py::arg("data"), py::arg("start"), py::arg("size"));
  m.def("count_varints", &CountBuffer, py::arg("data"));
  m.def("encode_varints", &EncodeArray, py::arg("values"));
  m.def("encode_varints_into", &EncodeInto, py::arg("values"), py::arg("out"));
  m.def("varint_backends", &VarintBackends);
  m.def("varint_backend", &VarintBackend);
  m.def("set_varint_backend", [](const std::string& name) {
    if (!SetVarintBackend(name.c_str())) throw py::value_error("no varint backend \"" + name + "\" on this processor");
  });
}

}  // namespace tfr
