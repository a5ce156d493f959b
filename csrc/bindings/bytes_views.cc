// Byte strings from Python objects and NumPy's fixed-width arrays, as a RecordBatch for the encoder.

#include <pybind11/numpy.h>

#include <algorithm>
#include <string>
#include <utility>

#include "bindings/bindings.h"
#include "bindings/bytes_like.h"
#include "bindings/encode.h"

namespace py = pybind11;

namespace tfr {
namespace {

// Numbers in an array are not text, even where they are bytes: an Example keeps them as numbers.
HeldBytes ElementOf(py::handle item, size_t i) {
  try {
    if (!IsNumericArray(item)) return BytesOfPython(item, "it");
  } catch (const py::type_error&) {  // which does not know what an Example takes
  }
  throw py::type_error("element " + std::to_string(i) + " is " + Py_TYPE(item.ptr())->tp_name +
                       ", expected bytes or str");
}

// Views into byte strings without a copy. None becomes an empty string, and a 0 in the second result, which is None if
// no object is.
py::tuple OfObjects(const py::handle& objects) {
  py::object sequence = py::reinterpret_steal<py::object>(PySequence_Fast(objects.ptr(), "expected a sequence"));
  if (!sequence) throw py::error_already_set();
  const auto size = static_cast<size_t>(PySequence_Fast_GET_SIZE(sequence.ptr()));
  auto batch = std::make_shared<RecordBatch>();
  auto held = std::make_shared<HeldObjects>();
  batch->records.resize(size);
  held->objects.reserve(size);
  py::object valid = py::none();
  uint8_t* valid_bytes = nullptr;
  for (size_t i = 0; i < size; ++i) {
    if (static_cast<size_t>(PySequence_Fast_GET_SIZE(sequence.ptr())) != size) {
      throw py::value_error("the list changed size while it was read");  // by what one of its objects did
    }
    PyObject* const item = PySequence_Fast_GET_ITEM(sequence.ptr(), static_cast<Py_ssize_t>(i));
    Bytes& view = batch->records[i];
    if (PlainBytes(item, &view)) {
      held->objects.push_back(Py_NewRef(item));
    } else if (item == Py_None) {
      if (valid_bytes == nullptr) {
        py::array_t<uint8_t> array(static_cast<py::ssize_t>(size));
        valid_bytes = array.mutable_data();
        std::fill_n(valid_bytes, size, uint8_t{1});
        valid = std::move(array);
      }
      valid_bytes[i] = 0;
    } else {
      HeldBytes other = ElementOf(py::reinterpret_borrow<py::object>(item), i);
      view = other.bytes;
      batch->owners.push_back(std::move(other.owner));
    }
  }
  batch->owners.push_back(std::move(held));
  return py::make_tuple(WrapRecordBatch(std::move(batch)), std::move(valid));
}

// From a C-contiguous array of dtype 'S', whose strings end before the zeros that fill them up.
py::object OfFixed(const py::array& array) {
  const auto width = static_cast<size_t>(array.itemsize());
  const auto* data = static_cast<const uint8_t*>(array.data());
  auto batch = std::make_shared<RecordBatch>();
  batch->records.resize(static_cast<size_t>(array.size()));
  for (size_t i = 0; i < batch->size(); ++i) {
    size_t size = width;
    while (size > 0 && data[i * width + size - 1] == 0) --size;
    batch->records[i] = {data + i * width, size};
  }
  batch->owners.push_back(OwnerOfPython(array));
  return WrapRecordBatch(std::move(batch));
}

}  // namespace

void BindBytesViews(py::module_& m) {
  m.def("views_of_objects", &OfObjects, py::arg("objects"));
  m.def("views_of_fixed", &OfFixed, py::arg("array"));
}

}  // namespace tfr
