// Copies of what can change; see frozen.h.

#include "bindings/frozen.h"

#include <memory>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/bytes_array.h"

namespace tfr {
namespace {

bool IsFrozen(PyObject* object) {
  PyObject* const exporter = PyMemoryView_Check(object) ? PyMemoryView_GET_BASE(object) : object;
  return exporter != nullptr &&
         (PyBytes_Check(exporter) || PyUnicode_Check(exporter) || IsRecordView(exporter) || IsBytesView(exporter));
}

}  // namespace

void Freeze(pybind11::handle object, Bytes* bytes, Owner* owner) {
  if (IsFrozen(object.ptr())) return;
  auto copy = std::make_shared<std::vector<uint8_t>>(bytes->data, bytes->data + bytes->size);
  *bytes = {copy->data(), copy->size()};
  *owner = std::move(copy);
}

}  // namespace tfr
