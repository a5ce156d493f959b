// The extension module tfrecord_fast._core: one Bind… call per room.

#include "bindings/bindings.h"

// pybind11 writes the function that Python calls first; it becomes another function's name, since it would wait for
// ever in a subinterpreter up to CPython 3.11.
#define PyInit__core InitCore
PYBIND11_MODULE(_core, m) {
  m.doc() = "The native core of tfrecord_fast. Private: use the public modules.";
  tfr::BindErrors(m);
  tfr::BindBuildInfo(m);
  tfr::BindCrc32c(m);
  tfr::BindRecordBatch(m);
  tfr::BindFetches(m);
  tfr::BindReader(m);
  tfr::BindIteration(m);
  tfr::BindWriter(m);
  tfr::BindBytesArray(m);
  tfr::BindParse(m);
  tfr::BindArrow(m);
  tfr::BindSurvey(m);
  tfr::BindStats(m);
  tfr::BindVarint(m);
  tfr::BindEncode(m);
  tfr::BindEncodeOne(m);
  tfr::BindIndex(m);
  tfr::BindRows(m);
  tfr::BindImages(m);
  tfr::BindImageFiles(m);
}
#undef PyInit__core

extern "C" PYBIND11_EXPORT PyObject* PyInit__core() {
  if (PyInterpreterState_Get() == PyInterpreterState_Main()) return InitCore();
  PyErr_SetString(PyExc_ImportError, "tfrecord_fast can be imported in the main interpreter only");
  return nullptr;
}
