// Windows of batches; see records.h.

#include "base/records.h"

#include <utility>

namespace tfr {

void AppendOrigins(const RecordWindow& window, size_t first, std::vector<Origin>* origins) {
  const std::vector<Origin>& known = window.batch->origins;
  if (known.empty() || window.step <= 0) {
    for (size_t i = 0; i < window.size && !known.empty(); ++i) {
      Origin origin = OriginOfRow(*window.batch, window.start - i * static_cast<size_t>(-window.step));
      origin.first_row = first + i;
      origins->push_back(std::move(origin));
    }
    if (known.empty() && !origins->empty()) origins->push_back({first, nullptr, -1});
    return;
  }
  const size_t step = static_cast<size_t>(window.step);
  size_t i = 0;
  for (size_t run = 0; run < known.size() && i < window.size; ++run) {
    const size_t end = run + 1 < known.size() ? known[run + 1].first_row : window.batch->size();
    const size_t row = window.start + i * step;
    if (row >= end) continue;
    // Each run is looked at once: an interleaved batch has one for every few records.
    Origin origin = row < known[run].first_row ? Origin{row, nullptr, -1} : OriginOfRow(known[run], row);
    origin.first_row = first + i;
    origin.stride = known[run].stride * window.step;
    origins->push_back(std::move(origin));
    i += (end - row + step - 1) / step;
  }
}

RecordBatchPtr BatchOf(const RecordWindow& window) {
  if (window.start == 0 && window.step == 1 && window.size == window.batch->size()) return window.batch;
  auto rows = std::make_shared<RecordBatch>();
  rows->records.reserve(window.size);
  const auto start = static_cast<ptrdiff_t>(window.start);
  for (size_t i = 0; i < window.size; ++i) {
    rows->records.push_back(
        window.batch->records[static_cast<size_t>(start + static_cast<ptrdiff_t>(i) * window.step)]);
  }
  AppendOrigins(window, 0, &rows->origins);
  rows->owners = window.batch->owners;
  return rows;
}

}  // namespace tfr
