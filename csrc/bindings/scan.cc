// Looking at records from Python: what features they hold.

#include <pybind11/pybind11.h>

#include "bindings/bindings.h"
#include "parse/scan.h"

namespace py = pybind11;

namespace tfr {
namespace {

// (key, kind, records with it, fewest values, most values, fewest steps, most steps)
py::list Summaries(const std::vector<KeySummary>& keys) {
  py::list out;
  for (const KeySummary& key : keys) {
    const bool any = key.fewest <= key.most;
    const bool steps = key.fewest_steps <= key.most_steps;
    out.append(py::make_tuple(py::bytes(key.key), KindName(key.kind), key.records, any ? key.fewest : 0, key.most,
                              steps ? key.fewest_steps : 0, key.most_steps));
  }
  return out;
}

void Add(FeatureScanner& scanner, py::handle records) {
  const RecordBatchPtr batch = RecordsFromPython(records);
  Status status;
  {
    py::gil_scoped_release release;
    status = scanner.Add(*batch);
  }
  ThrowIfError(status);
}

}  // namespace

void BindScan(py::module_& m) {
  py::class_<FeatureScanner>(m, "FeatureScanner")
      .def(py::init<>())
      .def("add", &Add)
      .def("features", [](const FeatureScanner& scanner) { return Summaries(scanner.features()); })
      .def("lists", [](const FeatureScanner& scanner) { return Summaries(scanner.lists()); })
      .def_property_readonly("records", &FeatureScanner::records)
      .def_property_readonly("has_lists", &FeatureScanner::has_lists);
}

}  // namespace tfr
