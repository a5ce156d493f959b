// Merging ranges and asking for them; see remote_take.h.

#include "index/remote_take.h"

#include <utility>

namespace tfr {
namespace {

// Up to this distance two frames are fetched together: a request of its own would take longer.
constexpr int64_t kMaxGap = 128 << 10;

}  // namespace

std::shared_ptr<RemoteFile> RemoteObjects::Open(size_t file, std::vector<ByteRange> ranges) const {
  auto opened = std::make_shared<RemoteFile>(fetches, *objects[file], RemoteFile::kLater);
  opened->Expect(std::move(ranges));
  return opened;
}

RemoteTake::RemoteTake(const TakePlan& plan, const RemoteObjects& objects) : plan_(plan), fetches_(objects.fetches) {
  std::map<size_t, std::vector<ByteRange>> ranges;
  for (const FrameBlock& block : plan.blocks) {
    if (!objects.has(block.file)) continue;
    std::vector<ByteRange>& of_file = ranges[block.file];
    for (size_t i = block.begin; i < block.end; ++i) {
      const Frame& frame = plan.frames[i];
      if (of_file.empty() || frame.offset - of_file.back().end > kMaxGap) of_file.push_back({frame.offset, 0});
      of_file.back().end = frame.offset + frame.size;
    }
  }
  for (auto& [file, wanted] : ranges) {
    files_[file] = objects.Open(file, std::move(wanted));
    auto opened = std::make_shared<OpenFile>();
    opened->file = files_[file];
    opened_[file] = std::move(opened);
  }
  Continue();
}

std::shared_ptr<const OpenFile> RemoteTake::file(size_t number) const {
  const auto found = opened_.find(number);
  return found == opened_.end() ? nullptr : found->second;
}

void RemoteTake::Continue() {
  if (files_.empty()) return;
  std::lock_guard<std::mutex> lock(mutex_);
  auto file = files_.begin();
  while (file != files_.end() && fetches_->HasRoom(fetches_->options().block_bytes)) {
    if (!file->second->AskNext()) ++file;
  }
}

void RemoteTake::Done(size_t block) {
  const FrameBlock& done = plan_.blocks[block];
  const auto found = files_.find(done.file);
  if (found == files_.end()) return;
  const Frame& last = plan_.frames[done.end - 1];
  const bool follows = block + 1 < plan_.blocks.size() && plan_.blocks[block + 1].file == done.file;
  const int64_t end = follows ? plan_.frames[done.end].offset : last.offset + last.size;
  found->second->Pass(plan_.frames[done.begin].offset, end);
  Continue();
}

}  // namespace tfr
