// Indexes and random access as Python types.
//
// Arguments become C++ values while the GIL is held; files are read without it.

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/gil.h"
#include "bindings/named_tuple.h"
#include "bindings/owned_once.h"
#include "bindings/python_io.h"
#include "index/permutation.h"
#include "index/random_reader.h"
#include "index/record_index.h"
#include "io/draft.h"

namespace py = pybind11;

namespace tfr {
namespace {

using Int64Array = py::array_t<int64_t, py::array::c_style>;

// pybind11 holds objects by pointers to non-const, though nothing in an index ever changes.
using SharedIndex = std::shared_ptr<RecordIndex>;
SharedIndex Wrapped(RecordIndexPtr index) { return std::const_pointer_cast<RecordIndex>(std::move(index)); }

using Most = std::optional<uint64_t>;  // max_record_bytes
uint64_t Limit(const Most& given) { return std::min(given.value_or(kMaxRecordBytes), kMaxRecordBytes); }

template <typename Make>
SharedIndex MakeIndex(Make make) {
  RecordIndexPtr index;
  RunWithoutGil([&] { return make(&index); });
  return Wrapped(std::move(index));
}

SharedIndex IndexOfArrays(const Int64Array& offsets, const Int64Array& sizes) {
  std::vector<int64_t> offset_values(offsets.data(), offsets.data() + offsets.size());
  std::vector<int64_t> size_values(sizes.data(), sizes.data() + sizes.size());
  return MakeIndex([&](RecordIndexPtr* index) {
    return RecordIndex::Make(std::move(offset_values), std::move(size_values), index);
  });
}

// A read-only array that looks into the index and keeps it alive.
py::array ArrayOver(const std::vector<int64_t>& values, py::handle owner) {
  py::array_t<int64_t> array(static_cast<py::ssize_t>(values.size()), values.data(), owner);
  array.attr("flags").attr("writeable") = false;
  return array;
}

std::vector<SharedIndex> OpenAll(const std::vector<IndexOrigin>& origins, size_t num_threads, const Most& most,
                                 const std::shared_ptr<FetchQueue>& fetches, bool inflate) {
  for (const IndexOrigin& origin : origins) {
    if (origin.object && !fetches) throw py::type_error("objects require `fetches`");
  }
  std::vector<RecordIndexPtr> indexes;
  RunWithoutGil([&] { return OpenIndexes(origins, Limit(most), num_threads, fetches, inflate, &indexes); });
  std::vector<SharedIndex> wrapped;
  for (RecordIndexPtr& index : indexes) wrapped.push_back(Wrapped(std::move(index)));
  return wrapped;
}

std::unique_ptr<RandomReader> NewReader(const std::vector<std::string>& paths, const std::vector<SharedIndex>& indexes,
                                        bool verify_crc, size_t num_threads, size_t max_open_files, bool map_files,
                                        const Most& most, size_t max_idle_bytes, const std::vector<py::object>& objects,
                                        std::shared_ptr<FetchQueue> fetches) {
  if (paths.size() != indexes.size()) throw py::value_error("expected one index for each file");
  std::vector<Path> shared_paths;
  for (const std::string& path : paths) shared_paths.push_back(std::make_shared<const std::string>(path));
  RandomReaderOptions options;
  options.verify_data = verify_crc;
  options.num_threads = num_threads;
  options.max_open_files = max_open_files;
  options.map_files = map_files;
  options.max_record_bytes = Limit(most);
  options.max_idle_bytes = max_idle_bytes;
  for (const py::object& object : objects) {
    options.remote.objects.push_back(RemoteObjectOf(object));
    const bool wanting = options.remote.objects.back() && (!fetches || options.remote.objects.back()->size < 0);
    if (wanting) throw py::type_error("objects require `fetches` and known sizes");
  }
  options.remote.fetches = std::move(fetches);
  return std::make_unique<RandomReader>(std::move(shared_paths),
                                        std::vector<RecordIndexPtr>(indexes.begin(), indexes.end()), options);
}

// Counts a negative number from the end; throws IndexError if it is out of range.
int64_t Resolve(int64_t number, int64_t size) {
  const int64_t resolved = number < 0 ? number + size : number;
  if (resolved >= 0 && resolved < size) return resolved;
  throw py::index_error("record index " + std::to_string(number) + " is out of range for " + std::to_string(size) +
                        " records");
}

py::object TakeRecords(const RandomReader& reader, const Int64Array& numbers) {
  std::vector<int64_t> resolved(numbers.data(), numbers.data() + numbers.size());
  for (int64_t& number : resolved) number = Resolve(number, reader.size());
  RecordBatchPtr batch;
  RunWithoutGil([&] { return reader.Take(resolved.data(), resolved.size(), &batch); });
  return WrapRecordBatch(std::move(batch));
}

// Reads into the bytes object itself, which has no other user yet.
py::bytes Record(const RandomReader& reader, py::handle key) {
  if (!PyIndex_Check(key.ptr())) {
    throw py::type_error(std::string("record indices are integers or slices, not ") + Py_TYPE(key.ptr())->tp_name);
  }
  const Py_ssize_t asked = PyNumber_AsSsize_t(key.ptr(), PyExc_IndexError);
  if (asked == -1 && PyErr_Occurred()) throw py::error_already_set();
  const int64_t number = Resolve(asked, reader.size());
  size_t size = 0;
  Status status;
  if (reader.KnowsSizeOf(number)) {
    status = reader.SizeOf(number, &size);
  } else {
    GilReleased no_gil;
    status = reader.SizeOf(number, &size);
  }
  ThrowIfError(status);
  auto record = py::reinterpret_steal<py::bytes>(PyBytes_FromStringAndSize(nullptr, static_cast<py::ssize_t>(size)));
  if (!record) throw py::error_already_set();
  auto* data = reinterpret_cast<uint8_t*>(PyBytes_AS_STRING(record.ptr()));
  {
    GilReleased no_gil;
    status = reader.Read(number, data);
  }
  ThrowIfError(status);
  return record;
}

std::unique_ptr<Permutation> NewPermutation(int64_t size, const std::array<uint64_t, Permutation::kRounds>& keys) {
  if (size < 2 || size > Permutation::kMostNumbers) throw py::value_error("expected a size from 2 to 2**62");
  return std::make_unique<Permutation>(size, keys);
}

// From a place that is not there, a walk may never come back.
Int64Array NumbersAt(const Permutation& permutation, const Int64Array& places) {
  const auto count = static_cast<size_t>(places.size());
  const int64_t* const from = places.data();
  const auto inside = [&](int64_t place) { return place >= 0 && place < permutation.size(); };
  if (!std::all_of(from, from + count, inside)) throw py::index_error("a place is out of range");
  Int64Array numbers(places.size());
  int64_t* const to = numbers.mutable_data();
  {
    GilReleased no_gil;
    permutation.At(from, count, to);
  }
  return numbers;
}

// Target; `draft` is None if the path itself is written.
NamedTuple write_target("tfrecord_fast._core.WriteTarget", {"path", "draft"});

py::object FindTargetOf(const std::string& path) {
  Target target;
  ThrowIfError(FindTarget(path, &target));
  return write_target(py::bytes(target.path),
                      target.draft.empty() ? py::object(py::none()) : py::object(py::bytes(target.draft)));
}

}  // namespace

void BindIndex(py::module_& m) {
  write_target.Bind(m);
  m.def("find_target", &FindTargetOf, py::arg("path"));
  m.def("remove_abandoned_drafts", &RemoveAbandonedDrafts, py::arg("paths"), py::call_guard<GilReleased>());
  NewClass<RecordIndex, SharedIndex>(m, "RecordIndex")
      .def(py::init(&IndexOfArrays), py::arg("offsets"), py::arg("sizes"))
      .def_static(
          "build",
          [](const std::string& path, const Most& most, int64_t spacing) {
            return MakeIndex([&](RecordIndexPtr* index) { return BuildIndex(path, Limit(most), spacing, index); });
          },
          py::arg("path"), py::arg("max_record_bytes") = py::none(), py::arg("spacing") = CheckpointLog::kSpacing)
      .def_static(
          "load",
          [](const std::string& path) {
            return MakeIndex([&](RecordIndexPtr* index) { return LoadIndex(path, index); });
          },
          py::arg("path"))
      .def_static(
          "parse",
          [](std::string_view text) {
            return MakeIndex([&](RecordIndexPtr* index) {
              return ParseIndex({reinterpret_cast<const uint8_t*>(text.data()), text.size()}, index);
            });
          },
          py::arg("text"))
      .def("pack",
           [](const RecordIndex& index) {
             if (!index.checkpoints()) throw py::value_error("only the index of a compressed file is packed");
             std::string bytes;
             RunWithoutGil([&] { return PackIndex(index, &bytes); });
             return py::bytes(bytes);
           })
      .def("checkpoint_before",
           [](const RecordIndex& index, int64_t offset) {
             std::string bytes;
             if (!index.checkpoints() || offset < 0) throw py::value_error("no checkpoint");
             index.checkpoints()->Only(offset)->Write(&bytes);
             return py::bytes(bytes);
           })
      .def("checkpoints",
           [](const RecordIndex& index) { return index.checkpoints() ? index.checkpoints()->places().size() : 0; })
      .def("file_bytes",
           [](const RecordIndex& index) {
             return index.checkpoints() ? index.checkpoints()->identity().bytes : index.end();
           })
      .def(
          "save",
          [](const RecordIndex& index, const std::string& path) {
            RunWithoutGil([&] { return SaveIndex(index, path); });
          },
          py::arg("path"))
      .def("end", &RecordIndex::end)
      .def("__len__", &RecordIndex::size)
      .def("offsets", [](py::object self) { return ArrayOver(self.cast<const RecordIndex&>().offsets(), self); })
      .def("sizes", [](py::object self) { return ArrayOver(self.cast<const RecordIndex&>().sizes(), self); })
      .def(
          "equals",
          [](const RecordIndex& a, const RecordIndex& b) {
            const CheckpointsPtr& c = a.checkpoints();
            const CheckpointsPtr& d = b.checkpoints();
            const bool same_file = !c || !d ? c == d : c->identity() == d->identity();
            return same_file && a.offsets() == b.offsets() && a.sizes() == b.sizes();
          },
          py::arg("other"));
  NewClass<IndexOrigin>(m, "IndexOrigin")
      .def(py::init([](std::string path, std::optional<std::string> index_path, const py::object& object) {
             return std::make_unique<IndexOrigin>(
                 IndexOrigin{std::move(path), std::move(index_path), RemoteObjectOf(object)});
           }),
           py::kw_only(), py::arg("path"), py::arg("index_path") = py::none(), py::arg("object") = py::none());
  m.def("open_indexes", &OpenAll, py::arg("origins"), py::arg("num_threads"), py::arg("max_record_bytes") = py::none(),
        py::arg("fetches") = std::shared_ptr<FetchQueue>(), py::kw_only(), py::arg("inflate") = true);
  NewClass<RandomReader>(m, "RandomReader")
      .def(py::init(&NewReader), py::arg("paths"), py::arg("indexes"), py::kw_only(), py::arg("verify_crc"),
           py::arg("num_threads"), py::arg("max_open_files") = RandomReaderOptions().max_open_files,
           py::arg("map_files") = true, py::arg("max_record_bytes") = py::none(),
           py::arg("max_idle_bytes") = RandomReaderOptions().max_idle_bytes,
           py::arg("objects") = std::vector<py::object>(), py::arg("fetches") = std::shared_ptr<FetchQueue>())
      .def("__len__", &RandomReader::size)
      .def("take", &TakeRecords, py::arg("numbers"))
      .def("record", &Record, py::arg("key"));
  NewClass<Permutation>(m, "Permutation")
      .def(py::init(&NewPermutation), py::arg("size"), py::arg("keys"))
      .def("at", &NumbersAt, py::arg("places"));
}

}  // namespace tfr
