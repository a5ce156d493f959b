// Facts about the build: the compiler, sanitizers, and the codecs with their libraries.

#include <pybind11/stl.h>

#include <vector>

#include "bindings/bindings.h"
#include "codec/codec.h"

namespace py = pybind11;

namespace tfr {
namespace {

// A codec of the table, for Python. The table is constant, so there is nothing to own.
struct CodecRecord {
  const Codec* codec;

  py::dict libraries() const {
    py::dict versions;
    for (const CodecLibrary& library : codec->libraries) versions[library.name] = library.version();
    return versions;
  }
};

std::vector<CodecRecord> CodecRecords() {
  std::vector<CodecRecord> records;
  for (const Codec* codec : Codecs()) records.push_back({codec});
  return records;
}

}  // namespace

void BindBuildInfo(py::module_& m) {
#if defined(__clang__)
  m.attr("compiler") = "clang " __clang_version__;
#else
  m.attr("compiler") = "gcc " __VERSION__;
#endif
#ifdef TFRECORD_FAST_SANITIZE
  m.attr("sanitizers") = TFRECORD_FAST_SANITIZE;
#else
  m.attr("sanitizers") = "";
#endif
  py::class_<CodecRecord>(m, "Codec", "A way to compress files.")
      .def_property_readonly(
          "name", [](const CodecRecord& self) { return self.codec->name; }, "str: its compression_type.")
      .def_property_readonly(
          "extension", [](const CodecRecord& self) { return self.codec->extension; },
          "str: the usual one, such as \".gz\"; \"\" if there is none.")
      .def_property_readonly(
          "appends", [](const CodecRecord& self) { return self.codec->appending == Codec::Appending::kAllowed; },
          "bool: whether TensorFlow reads what is appended to a file.")
      .def_property_readonly("libraries", &CodecRecord::libraries,
                             "dict: the libraries it works with, to their versions.");
  m.def("codecs", &CodecRecords, "All codecs, as the core lists them.");
}

}  // namespace tfr
