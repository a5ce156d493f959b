// Parsing from Python. The GIL line: specs are read, results are wrapped under the GIL; records are parsed without
// it, except one small record alone, for which letting go would cost more than it takes.

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/boxed.h"
#include "bindings/bytes_array.h"
#include "bindings/numpy_api.h"
#include "bindings/parse_ahead.h"
#include "bindings/parse.h"
#include "parse/parse.h"
#include "parse/ranges.h"

namespace py = pybind11;

namespace tfr {
namespace {

constexpr size_t kSmallRecord = 16 << 10;

ColumnType TypeNamed(const std::string& name) {
  for (int i = 0; i <= static_cast<int>(ColumnType::kFloat64); ++i) {
    const auto type = static_cast<ColumnType>(i);
    if (name == TypeName(type)) return type;
  }
  throw py::value_error("no column type '" + name + "'");
}

Layout LayoutNamed(const std::string& name) {
  if (name == "fixed") return Layout::kFixed;
  if (name == "padded") return Layout::kPadded;
  if (name == "list") return Layout::kList;
  throw py::value_error("no layout '" + name + "'");
}

// (key bytes, type, layout, shape, default: bytes | list of bytes | None, may be absent, note)
FeatureSpec SpecOf(const py::tuple& tuple) {
  FeatureSpec spec;
  spec.key = tuple[0].cast<std::string>();
  spec.type = TypeNamed(tuple[1].cast<std::string>());
  spec.layout = LayoutNamed(tuple[2].cast<std::string>());
  spec.shape = tuple[3].cast<std::vector<int64_t>>();
  size_t elements = 1;
  for (const int64_t size : spec.shape) {
    if (size < 0 || __builtin_mul_overflow(elements, static_cast<size_t>(size), &elements)) {
      throw py::value_error("the shape of feature '" + spec.key + "' is out of range");
    }
  }
  spec.elements = elements;
  if (py::isinstance<py::bytes>(tuple[4])) {
    const auto raw = tuple[4].cast<std::string>();
    spec.default_values.assign(raw.begin(), raw.end());
  } else if (!tuple[4].is_none()) {
    spec.default_strings = tuple[4].cast<std::vector<std::string>>();
  }
  spec.may_be_absent = tuple[5].cast<bool>();
  spec.note = tuple[6].cast<std::string>();
  if (spec.type == ColumnType::kBFloat16) DtypeOf(spec.type);  // say now that ml_dtypes is missing
  return spec;
}

SchemaPtr SchemaOf(const py::list& specs) {
  std::vector<FeatureSpec> features;
  for (const py::handle spec : specs) features.push_back(SpecOf(py::reinterpret_borrow<py::tuple>(spec)));
  SchemaPtr schema;
  ThrowIfError(Schema::Compile(std::move(features), &schema));
  return schema;
}

using Shape = std::vector<ptrdiff_t>;

Shape WithInner(Shape outer, const FeatureSpec& spec) {
  outer.insert(outer.end(), spec.shape.begin(), spec.shape.end());
  return outer;
}

py::object WrapValues(const FeatureSpec& spec, const Block& block, Shape shape, const Columns& columns) {
  if (spec.type == ColumnType::kBytes) {
    return WrapBytes({block.owner, block.as<Bytes>(), std::move(shape), columns.owners});
  }
  return WrapArray(spec.type, shape, block.data, block.owner);
}

py::object WrapInts(const Block& block) {
  return WrapArray(ColumnType::kInt64, {static_cast<ptrdiff_t>(block.count)}, block.data, block.owner);
}

// Of an Example or a context: the array, or (values, row splits, longest row) of a list.
py::object WrapColumn(const FeatureSpec& spec, const Column& column, const Columns& columns) {
  const auto rows = static_cast<ptrdiff_t>(columns.rows);
  switch (spec.layout) {
    case Layout::kFixed:
      return WrapValues(spec, column.values, WithInner({rows}, spec), columns);
    case Layout::kPadded:
      return WrapValues(spec, column.values, WithInner({rows, static_cast<ptrdiff_t>(column.longest)}, spec), columns);
    case Layout::kList:
      break;
  }
  return py::make_tuple(WrapValues(spec, column.values, {static_cast<ptrdiff_t>(column.values.count)}, columns),
                        WrapInts(column.splits), column.longest);
}

// Of a feature list: (array, lengths), or (values, step splits, row steps, longest step, longest row).
py::object WrapListColumn(const FeatureSpec& spec, const Column& column, const Columns& columns) {
  if (spec.layout == Layout::kPadded) {
    const Shape shape = {static_cast<ptrdiff_t>(columns.rows), static_cast<ptrdiff_t>(column.longest)};
    return py::make_tuple(WrapValues(spec, column.values, WithInner(shape, spec), columns), WrapInts(column.lengths));
  }
  return py::make_tuple(WrapValues(spec, column.values, {static_cast<ptrdiff_t>(column.values.count)}, columns),
                        WrapInts(column.splits), WrapInts(column.row_steps), column.longest, column.longest_row);
}

py::list WrapAll(const Schema& schema, const Columns& columns, bool lists) {
  py::list wrapped(schema.size());
  for (size_t f = 0; f < schema.size(); ++f) {
    const FeatureSpec& spec = schema.features()[f];
    wrapped[f] = lists ? WrapListColumn(spec, columns.columns[f], columns) : WrapColumn(spec, columns.columns[f], columns);
  }
  return wrapped;
}

// ---- One Example alone ----

// What parsing one Example needs besides the plan, kept from call to call. Guarded by the GIL: `busy` says that a
// call which let go of it, or ran into itself through Python, is using this.
struct SingleState {
  explicit SingleState(const ExamplePlan& plan) : parser(plan.schema) {
    targets.resize(plan.schema->size());
    size_t bytes = 0;
    for (const FeatureSpec& spec : plan.schema->features()) {
      if (spec.layout == Layout::kFixed) bytes += (spec.elements * ItemSize(spec.type) + 15) / 16 * 16;
    }
    fixed.resize(bytes / 8 + 2);
    ends.resize(2 * plan.schema->size());
    size_t offset = 0;
    for (size_t f = 0; f < targets.size(); ++f) {
      const FeatureSpec& spec = plan.schema->features()[f];
      if (spec.layout == Layout::kFixed) {
        targets[f].fixed = reinterpret_cast<uint8_t*>(fixed.data()) + offset;
        offset += (spec.elements * ItemSize(spec.type) + 15) / 16 * 16;
      } else {
        targets[f].splits = &ends[2 * f];
      }
    }
  }

  ExampleParser parser;
  std::vector<ColumnTarget> targets;
  std::vector<uint64_t> fixed;
  std::vector<int64_t> ends;
};

struct PyExamplePlan {
  explicit PyExamplePlan(const py::list& specs) : plan(std::make_shared<ExamplePlan>(SchemaOf(specs))) {}
  std::shared_ptr<ExamplePlan> plan;
  std::unique_ptr<SingleState> idle;  // null while a call uses it
};

// Views of one record's strings, together with what they look into.
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
  if (spec.layout != Layout::kList) shape.insert(shape.end(), spec.shape.begin(), spec.shape.end());
  if (spec.type == ColumnType::kBytes) return CopyViews(reinterpret_cast<const Bytes*>(data), std::move(shape), owners);
  return CopyArray(spec.type, shape, data);
}

// The values of one serialized Example, in the order of the specs: scalars, arrays, BytesArrays; lists are 1-D.
py::list ParseOne(PyExamplePlan& self, py::handle record) {
  RecordBatchPtr batch;
  Bytes bytes;
  if (PyBytes_Check(record.ptr())) [[likely]] {
    bytes = {reinterpret_cast<const uint8_t*>(PyBytes_AS_STRING(record.ptr())),
             static_cast<size_t>(PyBytes_GET_SIZE(record.ptr()))};
  } else {
    batch = RecordsFromPython(py::make_tuple(record));
    bytes = batch->records[0];
  }
  std::unique_ptr<SingleState> state = std::move(self.idle);
  if (!state) state = std::make_unique<SingleState>(*self.plan);
  size_t bad_row;
  Status status;
  {
    std::unique_ptr<py::gil_scoped_release> release;
    if (bytes.size > kSmallRecord) release = std::make_unique<py::gil_scoped_release>();
    status = state->parser.ParseRows(&bytes, 0, 1, state->targets.data(), true, &bad_row);
  }
  ThrowIfError(status);
  const Schema& schema = *self.plan->schema;
  std::shared_ptr<const std::vector<Owner>> owners;  // made when a string array needs it
  py::list values(schema.size());
  for (size_t f = 0; f < schema.size(); ++f) {
    const FeatureSpec& spec = schema.features()[f];
    if (spec.type == ColumnType::kBytes && !owners && (spec.layout != Layout::kFixed || !spec.shape.empty())) {
      auto held = std::make_shared<std::vector<Owner>>();
      held->push_back(OwnerOfPython(py::reinterpret_borrow<py::object>(record)));
      if (batch) held->push_back(batch);
      held->push_back(self.plan->schema);
      owners = std::move(held);
    }
    const Growing* list = spec.layout == Layout::kFixed ? nullptr : &state->parser.values(f);
    PyList_SET_ITEM(values.ptr(), static_cast<Py_ssize_t>(f),
                    WrapSingle(spec, state->targets[f], list, owners).release().ptr());
  }
  self.idle = std::move(state);
  return values;
}

// Parses a batch for a stream, whose batches are parsed side by side, and large ones by several threads.
Transform ParserOf(const std::shared_ptr<ExamplePlan>& plan, bool keeps_batch = false) {
  return [plan, keeps_batch](const RecordBatch& batch, Crew* crew, Transformed* made) {
    auto columns = std::make_shared<Columns>();
    TFR_RETURN_IF_ERROR(ParseExamples(batch, *plan, crew, columns.get()));
    made->bytes = BytesHeld(*plan->schema, *columns);
    made->keeps_batch = keeps_batch;
    made->value = std::move(columns);
    return Status();
  };
}

Transform ParserOf(const std::shared_ptr<SequencePlan>& plan, bool keeps_batch = false);

// The columns of a batch that came parsed by this plan, once. Otherwise null, and the batch's stream learns the plan.
template <typename Plan>
std::shared_ptr<void> TakeParsed(py::handle records, const std::shared_ptr<Plan>& plan) {
  RecordWindow window;
  if (!UnwrapRecordBatch(records, &window) || !window.parsed) return nullptr;
  std::shared_ptr<void> columns = window.parsed->Take(plan.get());
  if (!columns) window.parsed->ahead->Learn(plan.get(), ParserOf(plan));
  return columns;
}

py::list ParseBatch(PyExamplePlan& self, py::handle records, size_t num_threads) {
  if (const auto columns = TakeParsed(records, self.plan)) {
    return WrapColumns(*self.plan->schema, *static_cast<const Columns*>(columns.get()));
  }
  const RecordBatchPtr batch = RecordsFromPython(records);
  Columns columns;
  Status status;
  {
    py::gil_scoped_release release;
    status = ParseExamples(*batch, *self.plan, num_threads, &columns);
  }
  ThrowIfError(status);
  return WrapColumns(*self.plan->schema, columns);
}

struct PySequencePlan {
  PySequencePlan(const py::list& context, const py::list& lists)
      : plan(std::make_shared<SequencePlan>(SchemaOf(context), SchemaOf(lists))) {
    for (const FeatureSpec& spec : plan->lists->features()) {
      if (spec.layout == Layout::kFixed) throw py::value_error("a feature list has no fixed layout");
    }
  }
  std::shared_ptr<SequencePlan> plan;
};

struct SequenceColumns {
  Columns context, lists;
};

py::tuple WrapSequence(const SequencePlan& plan, const SequenceColumns& columns) {
  return py::make_tuple(WrapAll(*plan.context, columns.context, false), WrapAll(*plan.lists, columns.lists, true));
}

Transform ParserOf(const std::shared_ptr<SequencePlan>& plan, bool keeps_batch) {
  return [plan, keeps_batch](const RecordBatch& batch, Crew* crew, Transformed* made) {
    auto columns = std::make_shared<SequenceColumns>();
    TFR_RETURN_IF_ERROR(ParseSequenceExamples(batch, *plan, crew, &columns->context, &columns->lists));
    made->bytes = BytesHeld(*plan->context, columns->context) + BytesHeld(*plan->lists, columns->lists);
    made->keeps_batch = keeps_batch;
    made->value = std::move(columns);
    return Status();
  };
}

py::tuple ParseSequenceBatch(PySequencePlan& self, py::handle records, size_t num_threads) {
  if (const auto columns = TakeParsed(records, self.plan)) {
    return WrapSequence(*self.plan, *static_cast<const SequenceColumns*>(columns.get()));
  }
  const RecordBatchPtr batch = RecordsFromPython(records);
  SequenceColumns columns;
  Status status;
  {
    py::gil_scoped_release release;
    status = ParseSequenceExamples(*batch, *self.plan, num_threads, &columns.context, &columns.lists);
  }
  ThrowIfError(status);
  return WrapSequence(*self.plan, columns);
}


// True if `features` still is what `snapshot` (key, value, key, value, …) was taken of, by identity.
PyObject* Unchanged(PyObject*, PyObject* const* args, Py_ssize_t count) {
  if (count != 2 || !PyDict_Check(args[0]) || !PyTuple_Check(args[1])) {
    PyErr_SetString(PyExc_TypeError, "expected a dict and a tuple");
    return nullptr;
  }
  PyObject* snapshot = args[1];
  if (2 * PyDict_GET_SIZE(args[0]) != PyTuple_GET_SIZE(snapshot)) Py_RETURN_FALSE;
  Py_ssize_t position = 0, i = 0;
  PyObject *key, *value;
  while (PyDict_Next(args[0], &position, &key, &value)) {
    if (PyTuple_GET_ITEM(snapshot, i) != key || PyTuple_GET_ITEM(snapshot, i + 1) != value) Py_RETURN_FALSE;
    i += 2;
  }
  Py_RETURN_TRUE;
}

PyMethodDef unchanged = {"_unchanged", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(Unchanged)), METH_FASTCALL,
                         nullptr};

}  // namespace

std::shared_ptr<ExamplePlan> UnwrapExamplePlan(py::handle object) {
  return py::isinstance<PyExamplePlan>(object) ? object.cast<PyExamplePlan&>().plan : nullptr;
}

py::list WrapColumns(const Schema& schema, const Columns& columns) { return WrapAll(schema, columns, false); }

StreamParser StreamParserOf(py::handle object, bool keeps_batch) {
  if (py::isinstance<PyExamplePlan>(object)) {
    const std::shared_ptr<ExamplePlan> plan = object.cast<PyExamplePlan&>().plan;
    return {ParserOf(plan, keeps_batch), [plan](const void* columns) -> py::object {
              return WrapColumns(*plan->schema, *static_cast<const Columns*>(columns));
            }};
  }
  const std::shared_ptr<SequencePlan> plan = object.cast<PySequencePlan&>().plan;
  return {ParserOf(plan, keeps_batch), [plan](const void* columns) -> py::object {
            return WrapSequence(*plan, *static_cast<const SequenceColumns*>(columns));
          }};
}

void BindParse(py::module_& m) {
  m.def("_fail_at", [](py::handle records, size_t row, const std::string& message) {
    ThrowIfError(Locate(Status::InvalidArgument(message), *RecordsFromPython(records), row));
  }, py::arg("records"), py::arg("row"), py::arg("message"));
  py::class_<PyExamplePlan>(m, "ExamplePlan")
      .def(py::init<const py::list&>())
      .def("parse", &ParseBatch, py::arg("records"), py::arg("num_threads") = 0)
      .def("parse_one", &ParseOne);
  py::class_<PySequencePlan>(m, "SequencePlan")
      .def(py::init<const py::list&, const py::list&>())
      .def("parse", &ParseSequenceBatch, py::arg("records"), py::arg("num_threads") = 0);
  m.attr("_unchanged") = py::reinterpret_steal<py::object>(PyCFunction_New(&unchanged, nullptr));
}

}  // namespace tfr
