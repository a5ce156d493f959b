// Private hooks on the CRC32C room, for tests and for what build_info() reports of it.

#include "crc32c/crc32c.h"

#include <pybind11/stl.h>

#include <string>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/bytes_like.h"

namespace py = pybind11;

namespace tfr {
namespace {

uint32_t ExtendBuffer(const py::handle& data, uint32_t crc) {
  const HeldBytes held = BytesOfPython(data, "data");
  return crc32c::Extend(crc, held.bytes.data, held.bytes.size);
}

std::vector<std::string> Crc32cBackendNames() {
  std::vector<std::string> names;
  for (const crc32c::Backend& backend : crc32c::Backends()) names.emplace_back(backend.name);
  return names;
}

}  // namespace

void BindCrc32c(py::module_& m) {
  m.def("crc32c", &ExtendBuffer, py::arg("data"), py::arg("crc") = 0);
  m.def("crc32c_backends", &Crc32cBackendNames);
  m.def("crc32c_backend", &crc32c::BackendName);
  m.def("set_crc32c_backend", [](const std::string& name) {
    if (!crc32c::SetBackend(name)) throw py::value_error("no CRC32C backend \"" + name + "\" on this processor");
  });
}

}  // namespace tfr
