// Byte strings from Python objects and NumPy's fixed-width arrays; see bytes_views.h.

#include "bindings/bytes_views.h"

#include <pybind11/numpy.h>

#include <string>
#include <utility>

#include "bindings/bindings.h"
#include "bindings/gil.h"

namespace py = pybind11;

namespace tfr {
namespace {

using Index = py::array_t<int64_t, py::array::c_style | py::array::forcecast>;

// References to Python objects, which are dropped together, under the GIL.
struct HeldReferences {
  std::vector<PyObject*> objects;
  ~HeldReferences() {
    DropWithGil([this] {
      for (PyObject* object : objects) Py_DECREF(object);
    });
  }
};

// Views into bytes and str (as UTF-8) objects without a copy; of others a bytes object is made first. None becomes an
// empty string, and a 0 in the second result, which is None if no object is.
py::tuple OfObjects(const py::handle& objects) {
  py::object sequence = py::reinterpret_steal<py::object>(PySequence_Fast(objects.ptr(), "expected a sequence"));
  if (!sequence) throw py::error_already_set();
  const auto size = static_cast<size_t>(PySequence_Fast_GET_SIZE(sequence.ptr()));
  auto made = std::make_shared<BytesViews>();
  auto held = std::make_shared<HeldReferences>();
  made->views.resize(size);
  held->objects.reserve(size);
  py::object valid = py::none();
  uint8_t* valid_bytes = nullptr;
  for (size_t i = 0; i < size; ++i) {
    py::object item =
        py::reinterpret_borrow<py::object>(PySequence_Fast_GET_ITEM(sequence.ptr(), static_cast<Py_ssize_t>(i)));
    if (item.is_none()) {
      if (valid_bytes == nullptr) {
        py::array_t<uint8_t> array(static_cast<py::ssize_t>(size));
        valid_bytes = array.mutable_data();
        std::fill_n(valid_bytes, size, uint8_t{1});
        valid = std::move(array);
      }
      valid_bytes[i] = 0;
      continue;
    }
    if (PyUnicode_Check(item.ptr())) {
      Py_ssize_t length;
      const char* text = PyUnicode_AsUTF8AndSize(item.ptr(), &length);
      if (text == nullptr) throw py::error_already_set();
      made->views[i] = {reinterpret_cast<const uint8_t*>(text), static_cast<size_t>(length)};
    } else {
      if (!PyBytes_Check(item.ptr())) {
        if (!PyObject_CheckBuffer(item.ptr())) {
          throw py::type_error("element " + std::to_string(i) + " is " + Py_TYPE(item.ptr())->tp_name +
                               ", expected bytes or str");
        }
        item = py::reinterpret_steal<py::object>(PyBytes_FromObject(item.ptr()));
        if (!item) throw py::error_already_set();
      }
      made->views[i] = {reinterpret_cast<const uint8_t*>(PyBytes_AS_STRING(item.ptr())),
                        static_cast<size_t>(PyBytes_GET_SIZE(item.ptr()))};
    }
    held->objects.push_back(item.release().ptr());
  }
  made->owners.push_back(std::move(held));
  return py::make_tuple(std::move(made), std::move(valid));
}

// From a C-contiguous array of dtype 'S', whose strings end before the zeros that fill them up.
BytesViewsPtr OfFixed(const py::array& array) {
  const auto width = static_cast<size_t>(array.itemsize());
  const auto* data = static_cast<const uint8_t*>(array.data());
  auto made = std::make_shared<BytesViews>();
  made->views.resize(static_cast<size_t>(array.size()));
  for (size_t i = 0; i < made->views.size(); ++i) {
    size_t size = width;
    while (size > 0 && data[i * width + size - 1] == 0) --size;
    made->views[i] = {data + i * width, size};
  }
  made->owners.push_back(OwnerOfPython(array));
  return made;
}

BytesViewsPtr Take(const BytesViews& from, const Index& indices) {
  auto made = std::make_shared<BytesViews>();
  made->owners = from.owners;
  made->views.reserve(static_cast<size_t>(indices.size()));
  const int64_t* index = indices.data();
  for (py::ssize_t i = 0; i < indices.size(); ++i) {
    if (index[i] < 0 || static_cast<size_t>(index[i]) >= from.views.size()) {
      throw py::index_error("index " + std::to_string(index[i]) + " of " + std::to_string(from.views.size()) +
                            " strings");
    }
    made->views.push_back(from.views[static_cast<size_t>(index[i])]);
  }
  return made;
}

BytesViewsPtr Concatenate(const std::vector<BytesViewsPtr>& parts) {
  auto made = std::make_shared<BytesViews>();
  for (const BytesViewsPtr& part : parts) {
    made->views.insert(made->views.end(), part->views.begin(), part->views.end());
    made->owners.insert(made->owners.end(), part->owners.begin(), part->owners.end());
  }
  return made;
}

}  // namespace

void BindBytesViews(py::module_& m) {
  py::class_<BytesViews, BytesViewsPtr>(m, "BytesViews")
      .def("__len__", [](const BytesViews& self) { return self.views.size(); })
      .def("take", &Take, py::arg("indices"));
  m.def("views_of_objects", &OfObjects, py::arg("objects"));
  m.def("views_of_fixed", &OfFixed, py::arg("array"));
  m.def(
      "views_concatenate",
      [](const py::list& parts) {
        std::vector<BytesViewsPtr> views;
        for (const py::handle part : parts) views.push_back(part.cast<BytesViewsPtr>());
        return Concatenate(views);
      },
      py::arg("parts"));
}

}  // namespace tfr
