// Looking at records from Python, to learn what features they hold.

#include "parse/survey.h"

#include <pybind11/pybind11.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/gil.h"
#include "bindings/named_tuple.h"
#include "bindings/owned_once.h"
#include "parse/looks_like.h"
#include "parse/unknown_fields.h"

namespace py = pybind11;

namespace tfr {
namespace {

NamedTuple key_summary("tfrecord_fast._core.KeySummary", {"key", "kind", "records", "fewest", "most", "unset"});

py::list Summaries(const std::vector<KeySummary>& keys) {
  py::list out;
  for (const KeySummary& key : keys) {
    out.append(key_summary(py::bytes(key.key), KindName(key.kind), key.records, std::min(key.fewest, key.most),
                           key.most, key.unset));
  }
  return out;
}

void Add(FeatureSurvey& survey, py::handle records) {
  const RecordBatchPtr batch = RecordsFromPython(records);
  RunWithoutGil([&] { return survey.Add(*batch); });
}

// The fields of UnknownFields.
py::tuple UnknownFieldsOf(py::handle records) {
  const RecordBatchPtr batch = RecordsFromPython(records);
  UnknownFields found;
  {
    GilReleased release;
    found = FindUnknownFields(*batch);
  }
  return py::make_tuple(found.records, found.first_row, found.field);
}

std::string LooksLikeOf(const py::bytes& record) {
  const std::string_view view = record;
  return LooksLike({reinterpret_cast<const uint8_t*>(view.data()), view.size()});
}

}  // namespace

void BindSurvey(py::module_& m) {
  key_summary.Bind(m);
  NewClass<FeatureSurvey>(m, "FeatureSurvey")
      .def(InitOf<FeatureSurvey>())
      .def("add", &Add)
      .def("features", [](const FeatureSurvey& survey) { return Summaries(survey.features()); })
      .def("lists", [](const FeatureSurvey& survey) { return Summaries(survey.lists()); })
      .def_property_readonly("records", &FeatureSurvey::records)
      .def_property_readonly("has_lists", &FeatureSurvey::has_lists);
  m.def("unknown_fields", &UnknownFieldsOf, py::arg("records"));
  m.def("looks_like", &LooksLikeOf, py::arg("record"));
}

}  // namespace tfr
