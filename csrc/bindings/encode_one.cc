// Encodes one Example from a dict of plain values: numbers, text, bytes, lists of one kind of them, NumPy's arrays and
// scalars. Anything else, or anything wrong, is left to encode_examples, which handles every form and every error.

#include <pybind11/pybind11.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "encode/row_encoder.h"

namespace py = pybind11;

namespace tfr {
namespace {

// The element type of a buffer's format; false if it has none (or another byte order).
bool ElementTypeOfFormat(const Py_buffer& view, ElementType* type) {
  constexpr ElementType kSigned[] = {ElementType::kInt8, ElementType::kInt16, ElementType::kInt32, ElementType::kInt64};
  constexpr ElementType kUnsigned[] = {ElementType::kUInt8, ElementType::kUInt16, ElementType::kUInt32,
                                       ElementType::kUInt64};
  if (view.format == nullptr || view.format[0] == 0 || view.format[1] != 0) return false;
  const char code = view.format[0];
  const int size = std::countr_zero(static_cast<size_t>(view.itemsize));  // integers have 1, 2, 4 or 8 bytes
  if (std::strchr("bhilq", code) != nullptr) {
    *type = kSigned[size];
  } else if (std::strchr("BHILQ", code) != nullptr) {
    *type = kUnsigned[size];
  } else {
    *type = code == '?' ? ElementType::kBool : code == 'f' ? ElementType::kFloat32 : ElementType::kFloat64;
    return code == '?' || code == 'f' || code == 'd';
  }
  return true;
}

// True if float32 changes one of the values by half or more; see check_rounding in tfrecord_fast/examples/encoding.
bool Spoils(const double* values, size_t count) {
  // Below 2^23 none does. Without an exit, so that this loop vectorises: upper halves of magnitudes are ordered alike.
  constexpr uint32_t kLeast = std::bit_cast<uint64_t>(0x1p23) >> 32;
  uint32_t large = 0;  // its first bit
  for (size_t i = 0; i < count; ++i) {
    large |= kLeast - 1 - (static_cast<uint32_t>(std::bit_cast<uint64_t>(values[i]) >> 32) & 0x7fffffff);
  }
  if (large >> 31 == 0) return false;
  return std::any_of(values, values + count, [](double value) {
    return std::fabs(value) < 0x1p53 && std::fabs(value - static_cast<double>(static_cast<float>(value))) >= 0.5;
  });
}

// The columns of one row, and the memory of their values.
class OneRow {
 public:
  explicit OneRow(bool allow_rounding) : allow_rounding_(allow_rounding) {}

  ~OneRow() {
    for (Py_buffer& view : views_) PyBuffer_Release(&view);
  }

  // False, with no error set, for what is not plain.
  bool Add(PyObject* key, PyObject* value) {
    if (value == Py_None) return true;
    Bytes name;
    if (!PyUnicode_CheckExact(key) || !TextOf(key, &name)) return false;
    EncodeColumn column;
    column.key.assign(reinterpret_cast<const char*>(name.data), name.size);
    if (!Fill(value, &column)) return false;
    if (!allow_rounding_ && column.type == ElementType::kFloat64 &&
        Spoils(static_cast<const double*>(column.values), column.value_count)) {
      return false;
    }
    column.count = column.value_count;
    columns_.push_back(std::move(column));
    return true;
  }

  std::vector<EncodeColumn> TakeColumns() { return std::move(columns_); }

 private:
  static bool TextOf(PyObject* text, Bytes* bytes) {
    Py_ssize_t size;
    const char* data = PyUnicode_AsUTF8AndSize(text, &size);
    if (data == nullptr) PyErr_Clear();  // lone surrogates
    *bytes = {reinterpret_cast<const uint8_t*>(data), static_cast<size_t>(size)};
    return data != nullptr;
  }

  static bool BytesOf(PyObject* value, Bytes* bytes) {
    if (PyUnicode_Check(value)) return TextOf(value, bytes);
    if (!PyBytes_Check(value)) return false;
    *bytes = {reinterpret_cast<const uint8_t*>(PyBytes_AS_STRING(value)), static_cast<size_t>(PyBytes_GET_SIZE(value))};
    return true;
  }

  static bool IntegerOf(PyObject* value, int64_t* integer) {
    if (!PyLong_Check(value)) return false;
    int overflow;
    *integer = PyLong_AsLongLongAndOverflow(value, &overflow);
    return overflow == 0;
  }

  bool Fill(PyObject* value, EncodeColumn* column) {
    if (PyBytes_Check(value) || PyUnicode_Check(value) || PyLong_Check(value) || PyFloat_Check(value)) {
      return FillFrom(&value, 1, column);
    }
    if (PyList_CheckExact(value) || PyTuple_CheckExact(value)) {
      return FillFrom(PySequence_Fast_ITEMS(value), static_cast<size_t>(PySequence_Fast_GET_SIZE(value)), column);
    }
    // Not everything that has a buffer: bytearray and memoryview are bytes, not numbers, and so look NumPy's dates.
    const char* const type = Py_TYPE(value)->tp_name;
    return std::strncmp(type, "numpy.", 6) == 0 && std::strcmp(type, "numpy.datetime64") != 0 &&
           std::strcmp(type, "numpy.timedelta64") != 0 && FillFromBuffer(value, column);
  }

  // Values of one kind, which is that of the first.
  bool FillFrom(PyObject** values, size_t count, EncodeColumn* column) {
    if (count == 0) return false;
    column->value_count = count;
    if (PyFloat_Check(values[0])) {
      std::vector<double>& floats = floats_.emplace_back(count);
      for (size_t i = 0; i < count; ++i) {
        if (!PyFloat_Check(values[i])) return false;
        floats[i] = PyFloat_AS_DOUBLE(values[i]);
      }
      column->type = ElementType::kFloat64;
      column->values = floats.data();
    } else if (PyLong_Check(values[0])) {
      std::vector<int64_t>& integers = integers_.emplace_back(count);
      for (size_t i = 0; i < count; ++i) {
        if (PyBool_Check(values[i]) != PyBool_Check(values[0]) || !IntegerOf(values[i], &integers[i])) return false;
      }
      column->type = ElementType::kInt64;
      column->values = integers.data();
    } else {
      std::vector<Bytes>& texts = texts_.emplace_back(count);
      for (size_t i = 0; i < count; ++i) {
        if (PyUnicode_Check(values[i]) != PyUnicode_Check(values[0]) || !BytesOf(values[i], &texts[i])) return false;
      }
      column->type = ElementType::kBytes;
      column->values = texts.data();
    }
    return true;
  }

  bool FillFromBuffer(PyObject* value, EncodeColumn* column) {
    Py_buffer view;
    if (PyObject_GetBuffer(value, &view, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS) != 0) {
      PyErr_Clear();
      return false;
    }
    views_.push_back(view);
    column->values = view.buf;
    column->value_count = view.itemsize > 0 ? static_cast<size_t>(view.len / view.itemsize) : 0;
    return column->value_count > 0 && ElementTypeOfFormat(view, &column->type) &&
           reinterpret_cast<uintptr_t>(view.buf) % static_cast<size_t>(view.itemsize) == 0;
  }

  const bool allow_rounding_;
  std::vector<EncodeColumn> columns_;
  std::vector<Py_buffer> views_;
  std::deque<std::vector<double>> floats_;
  std::deque<std::vector<int64_t>> integers_;
  std::deque<std::vector<Bytes>> texts_;
};

py::object EncodeOne(const py::handle& example, bool allow_rounding) {
  if (!PyDict_CheckExact(example.ptr())) return py::none();
  OneRow row(allow_rounding);
  Py_ssize_t position = 0;
  PyObject *key, *value;
  while (PyDict_Next(example.ptr(), &position, &key, &value)) {
    if (!row.Add(key, value)) return py::none();
  }
  RowEncoder encoder;
  uint64_t size;
  if (!encoder.Init(MessageType::kExample, row.TakeColumns(), {}, 1).ok() || !encoder.Check(0, 1, &size).ok())
    return py::none();
  encoder.Size({0, 1}, &size);
  auto record = py::reinterpret_steal<py::object>(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size)));
  if (!record) throw py::error_already_set();
  if (!encoder.Write(0, size, reinterpret_cast<uint8_t*>(PyBytes_AS_STRING(record.ptr())))) {
    return py::none();  // someone is writing to an array
  }
  return record;
}

}  // namespace

void BindEncodeOne(py::module_& m) {
  m.def("encode_one", &EncodeOne, py::arg("example"), py::arg("allow_rounding") = true);
}

}  // namespace tfr
