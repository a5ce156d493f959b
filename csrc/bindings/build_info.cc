// Facts about the build: the compiler, pybind11, sanitizers, and the codecs with their libraries.

#include "bindings/bindings.h"
#include "bindings/named_tuple.h"
#include "codec/codec.h"

// .ci/sbom.py finds this text in the core of a wheel.
#define TFR_TEXT PYBIND11_TOSTRING
#define TFR_PYBIND11                                                                                \
  ", pybind11 " TFR_TEXT(PYBIND11_VERSION_MAJOR) "." TFR_TEXT(PYBIND11_VERSION_MINOR) "." TFR_TEXT( \
      PYBIND11_VERSION_PATCH)

namespace py = pybind11;

namespace tfr {
namespace {

// `appends`: TensorFlow reads what is appended to a file. `libraries`: their versions by name.
NamedTuple codec_type("tfrecord_fast._core.Codec", {"name", "extension", "appends", "libraries"});

py::list AllCodecs() {
  py::list codecs;
  for (const Codec* codec : Codecs()) {
    py::dict versions;
    for (const CodecLibrary& library : codec->libraries) versions[library.name] = library.version();
    codecs.append(codec_type(codec->name, codec->extension, codec->appending == Codec::Appending::kAllowed, versions));
  }
  return codecs;
}

}  // namespace

void BindBuildInfo(py::module_& m) {
#if defined(__clang__)
  m.attr("compiler") = "clang " __clang_version__ TFR_PYBIND11;
#else
  m.attr("compiler") = "gcc " __VERSION__ TFR_PYBIND11;
#endif
#ifdef TFRECORD_FAST_SANITIZE
  m.attr("sanitizers") = TFRECORD_FAST_SANITIZE;
#else
  m.attr("sanitizers") = "";
#endif
  codec_type.Bind(m);
  m.def("codecs", &AllCodecs);
}

}  // namespace tfr
