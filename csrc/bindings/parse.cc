// Parsing from Python. The GIL line: specs are read and results wrapped under the GIL; records are parsed without it,
// except for one small record alone, where releasing it would cost more than parsing.

#include "parse/parse.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/boxed.h"
#include "bindings/bytes_array.h"
#include "bindings/bytes_like.h"
#include "bindings/gil.h"
#include "bindings/image_columns.h"
#include "bindings/named_tuple.h"
#include "bindings/numpy_api.h"
#include "bindings/owned_once.h"
#include "bindings/stream.h"
#include "parse/faults.h"
#include "parse/image_columns.h"
#include "parse/ranges.h"
#include "parse/single_example.h"

namespace py = pybind11;

namespace tfr {
namespace {

constexpr size_t kSmallRecord = 16 << 10;

// Rows of any length. Row i has values[splits[i]:splits[i + 1]]; the longest has `longest`. Here and below, `present`
// is None unless the spec requests it, and 0 for rows without the feature.
NamedTuple list_column("tfrecord_fast._core.ListColumn", {"values", "splits", "longest", "present"});
NamedTuple fixed_column("tfrecord_fast._core.FixedColumn", {"values", "present"});
// A feature list, padded: values[i, :lengths[i]] are the steps of row i.
NamedTuple padded_steps("tfrecord_fast._core.PaddedSteps", {"values", "lengths", "present"});
// A feature list. Row i has the steps row_steps[i] to row_steps[i + 1], step j has values[splits[j]:splits[j + 1]]. The
// longest step has `longest` values, the longest row `longest_row` steps.
NamedTuple list_steps("tfrecord_fast._core.ListSteps",
                      {"values", "splits", "row_steps", "longest", "longest_row", "present"});

Layout LayoutNamed(const std::string& name) {
  if (name == "fixed") return Layout::kFixed;
  if (name == "padded") return Layout::kPadded;
  if (name == "list") return Layout::kList;
  throw py::value_error("unknown layout '" + name + "'");
}

// `fallback`: bytes (numbers), a list of bytes (strings), or None.
std::unique_ptr<FeatureSpec> NewSpec(std::string key, const std::string& type, const std::string& layout,
                                     std::vector<int64_t> shape, const py::object& fallback, bool may_be_absent,
                                     std::string note, bool presence, const ImageSpec* image, bool takes_raw_bytes) {
  auto made = std::make_unique<FeatureSpec>();
  FeatureSpec& spec = *made;
  spec.key = std::move(key);
  if (!TypeNamed(type, &spec.type)) throw py::value_error("unknown column type '" + type + "'");
  spec.layout = LayoutNamed(layout);
  for (const int64_t size : shape) {
    if (size < 0 || __builtin_mul_overflow(spec.elements, static_cast<size_t>(size), &spec.elements)) {
      throw py::value_error("the shape of feature '" + spec.key + "' is out of range");
    }
  }
  spec.shape = std::move(shape);
  if (py::isinstance<py::bytes>(fallback)) {
    const auto raw = fallback.cast<std::string>();
    spec.default_values.assign(raw.begin(), raw.end());
  } else if (!fallback.is_none()) {
    spec.default_strings = fallback.cast<std::vector<std::string>>();
  }
  spec.may_be_absent = may_be_absent;
  spec.note = std::move(note);
  spec.presence = presence;
  if (image != nullptr) spec.image = *image;
  spec.takes_raw_bytes = takes_raw_bytes;
  if (spec.type == ElementType::kBFloat16) DtypeOf(spec.type);  // complain now if ml_dtypes is missing
  return made;
}

using Groups = std::vector<std::vector<uint32_t>>;

SchemaPtr SchemaOf(const py::list& specs, std::string only_these, Groups groups = {}) {
  std::vector<FeatureSpec> features;
  for (const py::handle spec : specs) features.push_back(spec.cast<const FeatureSpec&>());
  SchemaPtr schema;
  ThrowIfError(Schema::Compile(std::move(features), &schema, std::move(only_these), std::move(groups)));
  return schema;
}

using Shape = std::vector<ptrdiff_t>;

Shape WithInner(Shape outer, const FeatureSpec& spec) {
  outer.insert(outer.end(), spec.shape.begin(), spec.shape.end());
  return outer;
}

py::object WrapValues(const FeatureSpec& spec, const Block& block, Shape shape, const Columns& columns) {
  if (spec.type == ElementType::kBytes) {
    return WrapBytes({block.owner, block.as<Bytes>(), std::move(shape), columns.owners});
  }
  return WrapArray(spec.type, shape, block.data, block.owner);
}

py::object ArrayOfBlock(ElementType type, const Block& block) {
  return WrapArray(type, {static_cast<ptrdiff_t>(block.count)}, block.data, block.owner);
}

py::object WrapInts(const Block& block) { return ArrayOfBlock(ElementType::kInt64, block); }

py::object WrapPresent(const FeatureSpec& spec, const Column& column) {
  return spec.presence ? ArrayOfBlock(ElementType::kUInt8, column.present) : py::none();
}

// A column of Examples or contexts: the array, a FixedColumn if presence is requested, or a ListColumn.
py::object WrapColumn(const FeatureSpec& spec, const Column& column, const Columns& columns) {
  if (spec.image) return WrapImages(*spec.image, column, columns.rows);
  const auto rows = static_cast<ptrdiff_t>(columns.rows);
  switch (spec.layout) {
    case Layout::kFixed: {
      py::object values = WrapValues(spec, column.values, WithInner({rows}, spec), columns);
      return spec.presence ? fixed_column(std::move(values), WrapPresent(spec, column)) : values;
    }
    case Layout::kPadded:
      return WrapValues(spec, column.values, WithInner({rows, static_cast<ptrdiff_t>(column.longest)}, spec), columns);
    case Layout::kList:
      break;
  }
  return list_column(WrapValues(spec, column.values, {static_cast<ptrdiff_t>(column.values.count)}, columns),
                     WrapInts(column.splits), column.longest, WrapPresent(spec, column));
}

// A column of feature lists: PaddedSteps or ListSteps.
py::object WrapSteps(const FeatureSpec& spec, const Column& column, const Columns& columns) {
  if (spec.layout == Layout::kPadded) {
    const Shape shape = {static_cast<ptrdiff_t>(columns.rows), static_cast<ptrdiff_t>(column.longest)};
    return padded_steps(WrapValues(spec, column.values, WithInner(shape, spec), columns), WrapInts(column.lengths),
                        WrapPresent(spec, column));
  }
  return list_steps(WrapValues(spec, column.values, {static_cast<ptrdiff_t>(column.values.count)}, columns),
                    WrapInts(column.splits), WrapInts(column.row_steps), column.longest, column.longest_row,
                    WrapPresent(spec, column));
}

// The columns of features that are in no group, in the order of the specs, and then those of the groups.
py::list WrapColumns(const Schema& schema, const Columns& columns) {
  py::list wrapped(schema.num_columns());
  size_t at = 0;
  for (size_t f = 0; f < schema.size(); ++f) {
    if (!schema.is_grouped(f)) wrapped[at++] = WrapColumn(schema.features()[f], columns.columns[f], columns);
  }
  for (const std::vector<uint32_t>& group : schema.groups()) {
    const Shape shape = {static_cast<ptrdiff_t>(columns.rows), static_cast<ptrdiff_t>(group.size())};
    const Block& block = columns.columns[group[0]].values;
    wrapped[at++] = WrapArray(schema.features()[group[0]].type, shape, block.data, block.owner);
  }
  return wrapped;
}

py::list WrapFeatureLists(const Schema& schema, const Columns& columns) {
  py::list wrapped(schema.size());
  for (size_t f = 0; f < schema.size(); ++f) wrapped[f] = WrapSteps(schema.features()[f], columns.columns[f], columns);
  return wrapped;
}

// ---- One Example alone ----

struct PyExamplePlan {
  PyExamplePlan(const py::list& specs, std::string only_these, Groups groups)
      : plan(std::make_shared<ExamplePlan>(SchemaOf(specs, std::move(only_these), std::move(groups)))) {}
  std::shared_ptr<ExamplePlan> plan;
  // Guarded by the GIL. Null while a call uses it, which may release the GIL; another call then makes its own.
  std::unique_ptr<SingleExample> idle;
};

// Views of one record's strings, with what keeps them valid.
py::object CopyViews(const Bytes* views, Shape shape, const std::shared_ptr<const std::vector<Owner>>& owners) {
  if (shape.empty()) return WrapBytes({nullptr, views, {}, nullptr});
  size_t count = 1;
  for (const ptrdiff_t size : shape) count *= static_cast<size_t>(size);
  auto copy = std::make_shared<std::vector<Bytes>>(views, views + count);
  return WrapBytes({copy, copy->data(), std::move(shape), owners});
}

py::object WrapSingle(const FeatureSpec& spec, const ColumnTarget& target, const Growing* list,
                      const std::shared_ptr<const std::vector<Owner>>& owners) {
  Shape shape;
  const uint8_t* data = target.fixed;
  if (spec.layout != Layout::kFixed) {
    shape.push_back(static_cast<ptrdiff_t>(list->size() / (spec.layout == Layout::kPadded ? spec.elements : 1)));
    data = list->data();
  }
  if (spec.layout != Layout::kList) {
    for (const int64_t size : spec.shape) shape.push_back(size);
  }
  if (spec.type == ElementType::kBytes)
    return CopyViews(reinterpret_cast<const Bytes*>(data), std::move(shape), owners);
  return CopyArray(spec.type, shape, data);
}

// The values of one serialized Example, in the order of WrapColumns: scalars, arrays, BytesArrays; lists are 1-D.
py::list ParseOne(PyExamplePlan& self, py::handle record) {
  RecordBatchPtr batch;
  Bytes bytes;
  if (!PlainBytes(record.ptr(), &bytes)) {
    batch = RecordsFromPython(py::make_tuple(record));
    bytes = batch->records[0];
  }
  std::unique_ptr<SingleExample> state = std::move(self.idle);
  if (!state) state = std::make_unique<SingleExample>(self.plan->schema);
  size_t bad_row;
  Status status;
  {
    std::optional<GilReleased> release;
    if (bytes.size > kSmallRecord) release.emplace();
    status = state->parser.ParseRows(&bytes, 0, 1, state->targets.data(), ExampleRules::kSingle, &bad_row);
  }
  if (!status.ok()) ThrowIfError(InSingle(std::move(status)));
  const Schema& schema = *self.plan->schema;
  std::shared_ptr<const std::vector<Owner>> owners;  // made once a string array needs it
  py::list values(schema.num_columns());
  Py_ssize_t at = 0;
  for (size_t f = 0; f < schema.size(); ++f) {
    if (schema.is_grouped(f)) continue;
    const FeatureSpec& spec = schema.features()[f];
    if (spec.type == ElementType::kBytes && !owners && (spec.layout != Layout::kFixed || !spec.shape.empty())) {
      auto held = std::make_shared<std::vector<Owner>>();
      held->push_back(OwnerOfPython(py::reinterpret_borrow<py::object>(record)));
      if (batch) held->push_back(batch);
      held->push_back(self.plan->schema);
      owners = std::move(held);
    }
    const Growing* list = spec.layout == Layout::kFixed ? nullptr : &state->parser.values(f);
    PyList_SET_ITEM(values.ptr(), at++, WrapSingle(spec, state->targets[f], list, owners).release().ptr());
  }
  for (const std::vector<uint32_t>& group : schema.groups()) {
    const Shape shape = {static_cast<ptrdiff_t>(group.size())};
    const uint8_t* const data = state->targets[group[0]].fixed;
    PyList_SET_ITEM(values.ptr(), at++, CopyArray(schema.features()[group[0]].type, shape, data).release().ptr());
  }
  self.idle = std::move(state);
  return values;
}

// ---- Batches: the same for both kinds of plans ----

py::object Wrap(const ExamplePlan& plan, const Columns& columns) { return WrapColumns(*plan.schema, columns); }
py::object Wrap(const SequencePlan& plan, const SequenceColumns& columns) {
  return py::make_tuple(WrapColumns(*plan.context, columns.context), WrapFeatureLists(*plan.lists, columns.lists));
}

// Images are made for Examples only.
Status ParseWith(ExamplePlan& plan, const RecordBatch& batch, const ImageDraws& draws, Crew* crew, Columns* columns,
                 std::vector<LostImage>* lost) {
  if (plan.schema->has_images()) return ParseWithImages(batch, plan, draws, crew, columns, lost);
  return ParseBatch(batch, plan, crew, columns);
}
Status ParseWith(SequencePlan& plan, const RecordBatch& batch, const ImageDraws&, Crew* crew, SequenceColumns* columns,
                 std::vector<LostImage>*) {
  return ParseBatch(batch, plan, crew, columns);
}
Status ParseWith(ExamplePlan& plan, const RecordBatch& batch, const ImageDraws& draws, size_t num_threads,
                 Columns* columns, std::vector<LostImage>* lost) {
  if (!plan.schema->has_images()) return ParseBatch(batch, plan, num_threads, columns);
  OwnThreads threads(num_threads);
  return WithoutThrowing([&] { return ParseWithImages(batch, plan, draws, &threads, columns, lost); });
}
Status ParseWith(SequencePlan& plan, const RecordBatch& batch, const ImageDraws&, size_t num_threads,
                 SequenceColumns* columns, std::vector<LostImage>*) {
  return ParseBatch(batch, plan, num_threads, columns);
}

// Parses a batch for a stream. A stream's batches are parsed side by side, and large ones by several threads.
template <typename Plan>
Transform ParserOf(const std::shared_ptr<Plan>& plan, bool keeps_batch = false, uint64_t seed = 0) {
  return [plan, keeps_batch, seed](const RecordBatch& batch, Crew* crew, Transformed* parsed) {
    auto columns = std::make_shared<typename Plan::Parsed>();
    std::vector<LostImage> lost;
    TFR_RETURN_IF_ERROR(ParseWith(*plan, batch, {seed, nullptr}, crew, columns.get(), &lost));
    for (const LostImage& image : lost) parsed->skipped.push_back(SkippedOf(image));
    parsed->bytes = BytesHeld(*plan, *columns);
    parsed->keeps_batch = keeps_batch;
    parsed->value = std::move(columns);
    return Status();
  };
}

template <typename Plan>
StreamParser StreamParserBy(const std::shared_ptr<Plan>& plan, bool keeps_batch, uint64_t seed) {
  return {ParserOf(plan, keeps_batch, seed),
          [plan](const void* columns) { return Wrap(*plan, *static_cast<const typename Plan::Parsed*>(columns)); }};
}

// The columns of a batch that its stream has parsed by this plan, returned once. Otherwise null, and the stream
// learns the plan.
template <typename Plan>
std::shared_ptr<void> TakeParsed(py::handle records, const std::shared_ptr<Plan>& plan) {
  const PyRecordBatch* batch = UnwrapRecordBatch(records);
  if (batch == nullptr || !batch->parsed) return nullptr;
  std::shared_ptr<void> columns = batch->parsed->Take(plan.get());
  if (!columns) batch->parsed->ahead->Learn(plan, ParserOf(plan));
  return columns;
}

// The columns of images. `epochs` has those of the rows, or is None; to `lost`, unless it is None, tuples (path,
// offset, bytes, reason) are appended.
py::object ParseImages(PyExamplePlan& self, py::handle records, size_t num_threads, uint64_t seed,
                       const py::object& epochs, const py::object& lost) {
  const RecordBatchPtr batch = RecordsFromPython(records);
  std::vector<int64_t> epoch_of;
  if (!epochs.is_none()) {
    epoch_of = epochs.cast<std::vector<int64_t>>();
    if (epoch_of.size() != batch->size()) throw py::value_error("epochs: expected one for each record");
  }
  Columns columns;
  std::vector<LostImage> images;
  const ImageDraws draws = {seed, epochs.is_none() ? nullptr : epoch_of.data()};
  RunWithoutGil([&] { return ParseWith(*self.plan, *batch, draws, num_threads, &columns, &images); });
  if (!lost.is_none()) AppendLost(images, lost);
  return Wrap(*self.plan, columns);
}

template <typename PyPlan>
py::object ParseRecords(PyPlan& self, py::handle records, size_t num_threads) {
  auto& plan = *self.plan;
  using Parsed = typename std::decay_t<decltype(plan)>::Parsed;
  if (const auto columns = TakeParsed(records, self.plan)) {
    return Wrap(plan, *static_cast<const Parsed*>(columns.get()));
  }
  const RecordBatchPtr batch = RecordsFromPython(records);
  Parsed columns;
  std::vector<LostImage> lost;
  RunWithoutGil([&] { return ParseWith(plan, *batch, {}, num_threads, &columns, &lost); });
  return Wrap(plan, columns);
}

struct PySequencePlan {
  PySequencePlan(const py::list& context, const py::list& lists, const std::string& only_these)
      : plan(std::make_shared<SequencePlan>(SchemaOf(context, only_these), SchemaOf(lists, only_these))) {
    for (const FeatureSpec& spec : plan->lists->features()) {
      if (spec.layout == Layout::kFixed) throw py::value_error("a feature list cannot have the fixed layout");
    }
  }
  std::shared_ptr<SequencePlan> plan;
};

// True if two objects of one type that have the buffer interface hold the same bits in the same format and shape.
bool SameBits(PyObject* value, PyObject* frozen) {
  Py_buffer a, b;
  bool same = false;
  if (PyObject_GetBuffer(value, &a, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS) == 0) {
    if (PyObject_GetBuffer(frozen, &b, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS) == 0) {
      same = a.ndim == b.ndim && a.len == b.len && std::strcmp(a.format, b.format) == 0 &&
             std::equal(a.shape, a.shape + a.ndim, b.shape) && std::memcmp(a.buf, b.buf, a.len) == 0;
      PyBuffer_Release(&b);
    }
    PyBuffer_Release(&a);
  }
  PyErr_Clear();
  return same;
}

bool SameContent(PyObject* value, PyObject* frozen);

// Empty lists are the shapes of most features.
inline bool Same(PyObject* value, PyObject* frozen) {
  if (value == frozen) return true;
  if (PyList_CheckExact(value) && PyList_CheckExact(frozen) && Py_SIZE(value) == 0) return Py_SIZE(frozen) == 0;
  return SameContent(value, frozen);
}

// True if `value` has the content that `frozen`, of contents.py, had when it was made. Runs no Python code.
bool SameContent(PyObject* value, PyObject* frozen) {
  PyTypeObject* type = Py_TYPE(value);
  if (type != Py_TYPE(frozen)) return PyCell_Check(frozen) && value == PyCell_GET(frozen);
  if (PyTuple_Check(value) || PyList_CheckExact(value)) {
    const Py_ssize_t size = Py_SIZE(value);
    if (size != Py_SIZE(frozen)) return false;
    PyObject **items = PySequence_Fast_ITEMS(value), **frozen_items = PySequence_Fast_ITEMS(frozen);
    for (Py_ssize_t i = 0; i < size; ++i) {
      if (!Same(items[i], frozen_items[i])) return false;
    }
    return true;
  }
  if (PyFloat_CheckExact(value)) {
    const double a = PyFloat_AS_DOUBLE(value), b = PyFloat_AS_DOUBLE(frozen);
    return std::memcmp(&a, &b, sizeof a) == 0;
  }
  if (PyUnicode_CheckExact(value) || PyLong_CheckExact(value)) {
    return PyObject_RichCompareBool(value, frozen, Py_EQ) == 1;
  }
  return PyObject_CheckBuffer(value) && SameBits(value, frozen);
}

// The same of a dict and the tuple (key, value, key, value, …) that it is frozen as: only one of them is searched
// through, since this comes before every record that is parsed alone.
bool SameItems(PyObject* dict, PyObject* frozen) {
  if (!PyTuple_CheckExact(frozen) || PyTuple_GET_SIZE(frozen) != 2 * PyDict_GET_SIZE(dict)) return false;
  PyObject** items = PySequence_Fast_ITEMS(frozen);
  Py_ssize_t at = 0;
  PyObject *key, *item;
  for (; PyDict_Next(dict, &at, &key, &item); items += 2) {
    if (!Same(key, items[0]) || !Same(item, items[1])) return false;
  }
  return true;
}

// find(entries, *parts): the last item of the first entry, a tuple, whose other items have the content of `parts`; or
// None.
PyObject* Find(PyObject*, PyObject* const* args, Py_ssize_t count) {
  if (count < 1 || !PyTuple_Check(args[0])) {
    PyErr_SetString(PyExc_TypeError, "expected a tuple and the parts to find");
    return nullptr;
  }
  const auto same = [](PyObject* part, PyObject* frozen) {
    return PyDict_CheckExact(part) ? SameItems(part, frozen) : Same(part, frozen);
  };
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args[0]); ++i) {
    PyObject* entry = PyTuple_GET_ITEM(args[0], i);
    if (PyTuple_Check(entry) && PyTuple_GET_SIZE(entry) == count &&
        std::equal(args + 1, args + count, PySequence_Fast_ITEMS(entry), same)) {
      return Py_NewRef(PyTuple_GET_ITEM(entry, count - 1));
    }
  }
  Py_RETURN_NONE;
}

PyMethodDef find = {"find", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(Find)), METH_FASTCALL, nullptr};

}  // namespace

StreamParser StreamParserOf(py::handle object, bool keeps_batch, uint64_t seed) {
  if (py::isinstance<PyExamplePlan>(object)) {
    return StreamParserBy(object.cast<PyExamplePlan&>().plan, keeps_batch, seed);
  }
  return StreamParserBy(object.cast<PySequencePlan&>().plan, keeps_batch, seed);
}

void BindParse(py::module_& m) {
  BindImageSpec(m);
  m.def(
      "fail_at",
      [](py::handle records, size_t row, const std::string& message) {
        ThrowIfError(Locate(Status::InvalidArgument(message), *RecordsFromPython(records), row));
      },
      py::arg("records"), py::arg("row"), py::arg("message"));
  m.def("set_tensorflow_words", &SetTensorFlowWords, py::arg("on"));
  list_column.Bind(m);
  fixed_column.Bind(m);
  padded_steps.Bind(m);
  list_steps.Bind(m);
  NewClass<FeatureSpec>(m, "FeatureSpec")
      .def(py::init(&NewSpec), py::kw_only(), py::arg("key"), py::arg("type"), py::arg("layout"),
           py::arg("shape") = std::vector<int64_t>(), py::arg("default") = py::none(), py::arg("may_be_absent") = false,
           py::arg("note") = "", py::arg("presence") = false, py::arg("image") = py::none(),
           py::arg("takes_raw_bytes") = false);
  NewClass<PyExamplePlan>(m, "ExamplePlan")
      .def(InitOf<PyExamplePlan, const py::list&, std::string, Groups>(), py::arg("specs"), py::kw_only(),
           py::arg("only_these") = "", py::arg("groups") = Groups())
      .def("parse", &ParseRecords<PyExamplePlan>, py::arg("records"), py::arg("num_threads") = 0)
      .def("parse_images", &ParseImages, py::arg("records"), py::arg("num_threads"), py::kw_only(), py::arg("seed"),
           py::arg("epochs") = py::none(), py::arg("lost") = py::none())
      .def("parse_one", &ParseOne);
  NewClass<PySequencePlan>(m, "SequencePlan")
      .def(InitOf<PySequencePlan, const py::list&, const py::list&, const std::string&>(), py::arg("context"),
           py::arg("lists"), py::kw_only(), py::arg("only_these") = "")
      .def("parse", &ParseRecords<PySequencePlan>, py::arg("records"), py::arg("num_threads") = 0);
  m.attr("find") = py::reinterpret_steal<py::object>(PyCFunction_New(&find, nullptr));
}

}  // namespace tfr
