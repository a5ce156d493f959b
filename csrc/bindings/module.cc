// The extension module tfrecord_fast._core: one Bind… call per room.

#include "bindings/bindings.h"

PYBIND11_MODULE(_core, m) {
  m.doc() = "The native core of tfrecord_fast. Private: use the public modules.";
  tfr::BindBuildInfo(m);
  tfr::BindCrc32c(m);
  tfr::BindRecordBatch(m);
  tfr::BindReader(m);
  tfr::BindWriter(m);
  tfr::BindBytesArray(m);
  tfr::BindParse(m);
  tfr::BindArrow(m);
  tfr::BindScan(m);
  tfr::BindVarint(m);
  tfr::BindEncode(m);
  tfr::BindEncodeOne(m);
  tfr::BindIndex(m);
}
