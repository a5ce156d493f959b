// Figures of records for Python: what a part of some files has, and what all parts have together.

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <bit>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "base/float_mode.h"
#include "base/half.h"
#include "bindings/bindings.h"
#include "bindings/gil.h"
#include "bindings/named_tuple.h"
#include "bindings/numpy_api.h"
#include "bindings/owned_once.h"
#include "stats/collector.h"

namespace py = pybind11;

namespace tfr {
namespace {

// Numbers::Figures in Python's types; `points` are all values, or a sample, with their `weights`.
NamedTuple number_figures("tfrecord_fast._core.NumberFigures",
                          {"values", "nans", "positive_infinities", "negative_infinities", "zeros", "minimum",
                           "maximum", "mean", "std", "exact", "distinct", "count_error", "frequent", "points",
                           "weights"});

// Texts::Figures; `frequent` are (first bytes, size, count).
NamedTuple text_figures("tfrecord_fast._core.TextFigures", {"exact", "distinct", "count_error", "frequent", "sizes"});

// `…_features`: how many Features, or steps of a feature list, have each kind of list, or none.
NamedTuple feature_figures("tfrecord_fast._core.FeatureFigures",
                           {"key", "is_list", "present", "unset", "int64_features", "float_features", "bytes_features",
                            "unset_features", "lengths", "steps", "int64", "floats", "texts"});

// Repeats::Figures; `pairs` are (file, record, file, record).
NamedTuple repeat_figures("tfrecord_fast._core.RepeatFigures",
                          {"halvings", "different", "repeated", "copies", "most", "pairs"});

py::object Number(Numbers::Type type, uint64_t bits) {
  if (type == Numbers::Type::kInt64) return py::int_(static_cast<int64_t>(bits));
  return py::float_(FromFloat(static_cast<uint32_t>(bits)));
}

py::object FiguresOf(const Numbers& numbers) {
  const Numbers::Figures figures = numbers.Finish();
  const bool is_int = numbers.type() == Numbers::Type::kInt64;
  py::list frequent;
  for (const Counts::Entry& entry : figures.heavy) {
    frequent.append(py::make_tuple(Number(numbers.type(), entry.key), entry.count));
  }
  std::vector<int64_t> ints, weights;
  std::vector<float> floats;
  for (const auto& [key, weight] : figures.points) {
    const uint64_t bits = Numbers::BitsOf(numbers.type(), key);
    if (is_int) {
      ints.push_back(static_cast<int64_t>(bits));
    } else {
      floats.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
    }
    weights.push_back(static_cast<int64_t>(weight));
  }
  const std::vector<ptrdiff_t> shape = {static_cast<ptrdiff_t>(weights.size())};
  const py::object points = is_int ? CopyArray(ElementType::kInt64, shape, ints.data())
                                   : CopyArray(ElementType::kFloat32, shape, floats.data());
  py::object least = py::none(), most = py::none(), mean = py::none(), std = py::none();
  if (figures.has_extremes) {
    least = is_int ? py::object(py::int_(figures.least_int)) : py::object(py::float_(figures.least));
    most = is_int ? py::object(py::int_(figures.most_int)) : py::object(py::float_(figures.most));
  }
  if (figures.moments.count != 0) {
    const long double variance = figures.moments.squares / static_cast<long double>(figures.moments.count);
    mean = py::float_(static_cast<double>(figures.moments.mean));
    std = py::float_(static_cast<double>(std::sqrt(variance)));
  }
  return number_figures(figures.count, figures.nans, figures.positive_infinities, figures.negative_infinities,
                        figures.zeros, least, most, mean, std, figures.exact, figures.distinct, figures.error, frequent,
                        points, CopyArray(ElementType::kInt64, shape, weights.data()));
}

py::object FiguresOf(const Texts& texts) {
  const Texts::Figures figures = texts.Finish();
  py::list frequent;
  for (const Texts::Heavy& one : figures.heavy) {
    frequent.append(py::make_tuple(py::bytes(one.start), one.size, one.count));
  }
  return text_figures(figures.exact, figures.distinct, figures.error, frequent, FiguresOf(texts.sizes()));
}

template <typename Figures>
py::object OrNone(const Figures* figures) {
  return figures == nullptr ? py::none() : FiguresOf(*figures);
}

py::object FiguresOf(FeatureFigures* feature) {
  return feature_figures(py::bytes(feature->key()), feature->is_list(), feature->present(), feature->unset(),
                         feature->features(Kind::kInt64), feature->features(Kind::kFloat),
                         feature->features(Kind::kBytes), feature->features(Kind::kNone), FiguresOf(feature->lengths()),
                         feature->is_list() ? FiguresOf(feature->steps()) : py::none(), OrNone(feature->ints()),
                         OrNone(feature->floats()), OrNone(feature->texts()));
}

py::list Features(Collector& collector) {
  const SubnormalNumbers exact;
  collector.Flush();
  py::list made;
  for (const auto& feature : collector.features()) {
    if (feature->present() != 0 || feature->unset() != 0) made.append(FiguresOf(feature.get()));
  }
  return made;
}

// (what they look like, how many, file and number of the first)
py::list Others(const Collector& collector) {
  py::list made;
  for (const auto& [name, other] : collector.others()) {
    made.append(py::make_tuple(name, other.records, other.first.file, other.first.record));
  }
  return made;
}

py::list Sampled(const Collector& collector) {
  py::list made;
  for (const Sample::Drawn& drawn : collector.sample().Finish()) {
    made.append(py::make_tuple(drawn.id.file, drawn.id.record, py::bytes(drawn.record)));
  }
  return made;
}

py::object Repeated(Collector& collector) {
  const Repeats::Figures figures = [&] {
    GilReleased release;
    return collector.Repeated();
  }();
  py::list pairs;
  for (const auto& [first, again] : figures.pairs) {
    pairs.append(py::make_tuple(first.file, first.record, again.file, again.record));
  }
  return repeat_figures(figures.halvings, figures.different, figures.repeated, figures.copies, figures.most, pairs);
}

void AddRecords(Collector& collector, py::handle records) {
  const RecordBatchPtr batch = RecordsFromPython(records);
  GilReleased release;
  const SubnormalNumbers exact;
  collector.Add(*batch);
}

void Merge(Collector& collector, Collector& other) {
  GilReleased release;
  const SubnormalNumbers exact;
  collector.Merge(other);
}

}  // namespace

void BindStats(py::module_& m) {
  number_figures.Bind(m);
  text_figures.Bind(m);
  feature_figures.Bind(m);
  repeat_figures.Bind(m);
  m.attr("DISTINCT_ERROR") = Distinct::kStandardError;
  m.attr("MOST_FEATURES") = Collector::kMostFeatures;
  NewClass<Collector::Hints, std::shared_ptr<Collector::Hints>>(m, "StatsHints");
  NewClass<Collector>(m, "StatsCollector")
      .def(InitOf<Collector, uint32_t, uint64_t, std::vector<std::string>, std::shared_ptr<Collector::Hints>>(),
           py::arg("file"), py::arg("first_record"), py::arg("columns"),
           py::arg("hints") = std::shared_ptr<Collector::Hints>())
      .def("hints", &Collector::MakeHints)
      .def("add", &AddRecords, py::arg("records"))
      .def("merge", &Merge, py::arg("other"))
      .def("features", &Features)
      .def("others", &Others)
      .def("sample", &Sampled)
      .def("repeated", &Repeated)
      .def("sizes", [](Collector& collector) { return FiguresOf(collector.sizes()); })
      .def_property_readonly("passed_over", [](const Collector& one) { return one.sample().passed_over(); })
      .def_property_readonly("examples", &Collector::examples)
      .def_property_readonly("sequences", &Collector::sequences)
      .def_property_readonly("empty", &Collector::empty)
      .def_property_readonly("entries_left_out", &Collector::entries_left_out);
}

}  // namespace tfr
