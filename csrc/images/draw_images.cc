// Many images on several threads; see resize.h.

#include <mutex>
#include <utility>

#include "base/parallel.h"
#include "images/resize.h"

namespace tfr {
namespace {

// Resizers that no thread uses.
class Idle {
 public:
  explicit Idle(const Drawing& drawing) : drawing_(drawing) {}

  std::unique_ptr<Resizer> Take() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (resizers_.empty()) return std::make_unique<Resizer>(drawing_);
    std::unique_ptr<Resizer> resizer = std::move(resizers_.back());
    resizers_.pop_back();
    return resizer;
  }

  void Return(std::unique_ptr<Resizer> resizer) {
    const std::lock_guard<std::mutex> lock(mutex_);
    resizers_.push_back(std::move(resizer));
  }

 private:
  const Drawing& drawing_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Resizer>> resizers_;
};

}  // namespace

Status DrawImages(const Drawing& drawing, const std::vector<Pixels>& images, const ResizedWindow& window, void* out,
                  size_t num_threads) {
  const size_t size = window.rows * window.columns * drawing.channels * (drawing.float_results ? sizeof(float) : 1);
  Idle idle(drawing);
  return ParallelTry(images.size(), num_threads, [&](size_t i) {
    std::unique_ptr<Resizer> resizer = idle.Take();
    const Status status = resizer->Draw(images[i], window, static_cast<uint8_t*>(out) + i * size);
    idle.Return(std::move(resizer));
    return status;
  });
}

}  // namespace tfr
