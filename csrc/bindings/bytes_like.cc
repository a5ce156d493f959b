// Byte strings and batches of records from Python objects; see bytes_like.h and bindings.h.

#include "bindings/bytes_like.h"

#include <pybind11/numpy.h>

#include <memory>
#include <utility>
#include <vector>

#include "bindings/bytes_array.h"
#include "bindings/bytes_sequence.h"

namespace py = pybind11;

namespace tfr {
namespace {

PyTypeObject* numpy_scalar = nullptr;  // numpy.generic; lives as long as the module

// The recursion that Python's own limit ends: an object array may hold itself.
class Recursion {
 public:
  Recursion() {
    if (Py_EnterRecursiveCall(" in a bytes-like object") != 0) throw py::error_already_set();
  }
  ~Recursion() { Py_LeaveRecursiveCall(); }
  Recursion(const Recursion&) = delete;
  Recursion& operator=(const Recursion&) = delete;
};

bool IsArray(py::handle object) { return py::isinstance<py::array>(object); }

char KindOf(const py::array& array) { return array.dtype().kind(); }

bool IsBytes(const py::array& array) {
  const char kind = KindOf(array);
  return (kind == 'u' || kind == 'i') && array.itemsize() == 1;
}

bool IsOfStrings(const py::array& array) {
  const char kind = KindOf(array);
  return kind == 'S' || kind == 'U' || kind == 'O' || kind == 'T';
}

std::string TypeOf(py::handle object) {
  std::string name = Py_TYPE(object.ptr())->tp_name;
  if (IsArray(object)) {
    const auto array = py::reinterpret_borrow<py::array>(object);
    name += " of " + py::str(array.dtype()).cast<std::string>() + ", shape " +
            py::str(array.attr("shape")).cast<std::string>();
  }
  return name;
}

[[noreturn]] void ThrowNotBytes(py::handle object, const std::string& what) {
  const char* fix = py::hasattr(object, "SerializeToString") ? "; pass the bytes of its SerializeToString()"
                    : py::isinstance<py::dict>(object)       ? "; ExampleWriter writes dicts of columns"
                                                             : "";
  throw py::type_error(what + " is not bytes-like: " + TypeOf(object) + fix);
}

void RefuseMasked(const py::array& array, const std::string& what) {
  if (Py_TYPE(array.ptr()) == py::detail::npy_api::get().PyArray_Type_) return;
  if (!py::hasattr(array, "mask") || !py::hasattr(array, "filled")) return;
  if (array.attr("mask").attr("any")().cast<bool>()) throw py::type_error(what + " is masked: " + TypeOf(array));
}

bool IsNumpyScalar(py::handle object) { return PyObject_TypeCheck(object.ptr(), numpy_scalar); }

// The array in another library's tensor; a null object for any other object.
py::object OfTensor(py::handle object) {
  if (IsArray(object) || IsNumpyScalar(object) || PyType_Check(object.ptr())) return {};
  const auto method = py::reinterpret_steal<py::object>(PyObject_GetAttrString(object.ptr(), "numpy"));
  if (!method) {
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) throw py::error_already_set();
    PyErr_Clear();
    return {};
  }
  return PyCallable_Check(method.ptr()) != 0 ? method() : py::object();
}

// True for memory that no one can write to. Being read-only is not enough: others may write through another view.
bool IsFrozen(PyObject* object) {
  PyObject* const exporter = PyMemoryView_Check(object) ? PyMemoryView_GET_BASE(object) : object;
  return exporter != nullptr && (PyBytes_Check(exporter) || PyUnicode_Check(exporter) || IsBytesView(exporter));
}

// Replaces memory that may change by a copy: parsing counts before it fills, and framing takes a check sum before it
// copies.
void Freeze(py::handle object, Bytes* bytes, Owner* owner) {
  if (IsFrozen(object.ptr())) return;
  auto copy = std::make_shared<std::vector<uint8_t>>(bytes->data, bytes->data + bytes->size);
  *bytes = {copy->data(), copy->size()};
  *owner = std::move(copy);
}

HeldBytes OfBuffer(py::handle object, const std::string& what, Memory memory) {
  HeldBytes held;
  held.owner = HoldBuffer(object, &held.bytes);
  if (!held.owner) {
    throw py::type_error(what + " is not bytes-like: " + TypeOf(object) + " that is not contiguous, or not of bytes");
  }
  if (memory == Memory::kFrozen) Freeze(object, &held.bytes, &held.owner);
  return held;
}

HeldBytes OfArray(const py::array& array, const std::string& what, Memory memory) {
  RefuseMasked(array, what);
  if (IsBytes(array)) {
    auto contiguous = py::reinterpret_steal<py::array>(
        py::detail::npy_api::get().PyArray_FromAny_(array.ptr(), nullptr, 0, 0, py::array::c_style, nullptr));
    if (!contiguous) throw py::error_already_set();
    return OfBuffer(contiguous, what, memory);
  }
  if (!IsOfStrings(array) || array.ndim() > 0) ThrowNotBytes(array, what);
  return BytesOfPython(array.attr("item")(), what, memory);
}

// Bytes objects and what else has bytes, in the order in which they are added.
class BatchMaker {
 public:
  explicit BatchMaker(size_t expected) {
    batch_->records.reserve(expected);
    held_->objects.reserve(expected);
  }

  void Add(PyObject* item) {
    Bytes bytes;
    if (PlainBytes(item, &bytes)) [[likely]] {
      batch_->records.push_back(bytes);
      held_->objects.push_back(Py_NewRef(item));
      return;
    }
    const auto kept = py::reinterpret_borrow<py::object>(item);
    HeldBytes held = BytesOfPython(kept, "record " + std::to_string(batch_->records.size()));
    batch_->records.push_back(held.bytes);
    batch_->owners.push_back(std::move(held.owner));
  }

  RecordBatchPtr Take() {
    if (!held_->objects.empty()) batch_->owners.push_back(std::move(held_));
    return std::move(batch_);
  }

 private:
  std::shared_ptr<RecordBatch> batch_ = std::make_shared<RecordBatch>();
  std::shared_ptr<HeldObjects> held_ = std::make_shared<HeldObjects>();
};

// True for objects that yield their keys when iterated: a dict, another mapping, a frame (but a pandas Series
// yields its values); and for sets, which have no order.
bool IsNoSequence(py::handle object) {
  if (PyDict_Check(object.ptr()) || PyAnySet_Check(object.ptr()) || !py::hasattr(object, "__iter__")) return true;
  return py::hasattr(object, "keys") && !py::getattr(object, "ndim", py::int_(0)).equal(py::int_(1));
}

RecordBatchPtr OfIterable(py::handle object) {
  const auto sequence =
      py::reinterpret_steal<py::object>(PySequence_Fast(object.ptr(), "expected a sequence of bytes-like records"));
  if (!sequence) throw py::error_already_set();
  BatchMaker maker(static_cast<size_t>(PySequence_Fast_GET_SIZE(sequence.ptr())));
  // The list may change while one of its objects returns its bytes.
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(sequence.ptr()); ++i) {
    maker.Add(PySequence_Fast_GET_ITEM(sequence.ptr(), i));
  }
  return maker.Take();
}

RecordBatchPtr OfArrayOfRecords(const py::array& array) {
  RefuseMasked(array, "records");
  if (IsOfStrings(array) && array.ndim() > 0) return OfIterable(array.attr("ravel")().attr("tolist")());
  if (IsBytes(array) && array.ndim() > 1) return OfIterable(array);
  ThrowNotBytes(array, "a sequence of records");
}

RecordBatchPtr OfBytesArray(py::handle object, const BytesArray& array) {
  auto batch = std::make_shared<RecordBatch>();
  batch->records.assign(array.views, array.views + array.size());
  batch->owners.push_back(OwnerOfPython(py::reinterpret_borrow<py::object>(object)));
  return batch;
}

// The bytes object itself, or a copy.
py::object AsBytes(py::object object, const std::string& what) {
  if (PyBytes_CheckExact(object.ptr())) return object;
  const HeldBytes held = BytesOfPython(object, what);
  PyObject* made = PyBytes_FromStringAndSize(reinterpret_cast<const char*>(held.bytes.data),
                                             static_cast<Py_ssize_t>(held.bytes.size));
  if (made == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(made);
}

}  // namespace

bool PlainBytes(PyObject* object, Bytes* bytes) {
  if (PyBytes_Check(object)) {
    *bytes = {reinterpret_cast<const uint8_t*>(PyBytes_AS_STRING(object)),
              static_cast<size_t>(PyBytes_GET_SIZE(object))};
    return true;
  }
  if (!PyUnicode_Check(object)) return false;
  Py_ssize_t size;
  const char* text = PyUnicode_AsUTF8AndSize(object, &size);
  if (text == nullptr) throw py::error_already_set();
  *bytes = {reinterpret_cast<const uint8_t*>(text), static_cast<size_t>(size)};
  return true;
}

bool IsNumericArray(py::handle object) {
  return IsArray(object) && !IsOfStrings(py::reinterpret_borrow<py::array>(object));
}

HeldBytes BytesOfPython(py::handle object, const std::string& what, Memory memory) {
  Bytes bytes;
  if (PlainBytes(object.ptr(), &bytes)) return {bytes, OwnerOfPython(py::reinterpret_borrow<py::object>(object))};
  if (PyByteArray_Check(object.ptr()) || PyMemoryView_Check(object.ptr())) return OfBuffer(object, what, memory);
  const Recursion recursion;
  if (IsArray(object)) return OfArray(py::reinterpret_borrow<py::array>(object), what, memory);
  if (const py::object value = OfTensor(object)) return BytesOfPython(value, what, memory);
  // A NumPy number has a buffer, of the number's memory.
  if (PyObject_CheckBuffer(object.ptr()) && !IsNumpyScalar(object)) return OfBuffer(object, what, memory);
  ThrowNotBytes(object, what);
}

RecordBatchPtr RecordsFromPython(py::handle object) {
  if (const PyRecordBatch* batch = UnwrapRecordBatch(object)) return BatchOf(*batch);
  if (PyList_CheckExact(object.ptr()) || PyTuple_CheckExact(object.ptr())) return OfIterable(object);
  if (const BytesArray* array = UnwrapBytes(object)) return OfBytesArray(object, *array);
  const Recursion recursion;
  if (IsArray(object)) return OfArrayOfRecords(py::reinterpret_borrow<py::array>(object));
  if (const py::object value = OfTensor(object)) return RecordsFromPython(value);
  if (PyUnicode_Check(object.ptr()) || PyObject_CheckBuffer(object.ptr()) || IsNoSequence(object)) {
    throw py::type_error("expected a RecordBatch or a sequence of bytes-like records, got " + TypeOf(object));
  }
  return OfIterable(object);
}

void BindBytesLike(py::module_& m) {
  const py::object scalar = py::module_::import("numpy").attr("generic");
  numpy_scalar = reinterpret_cast<PyTypeObject*>(scalar.inc_ref().ptr());
  m.def("as_bytes", &AsBytes, py::arg("value"), py::arg("what") = "the value");
}

}  // namespace tfr
