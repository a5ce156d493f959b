// The form of an index with checkpoints; see record_index.h.
//
//   "TFRINDEX"  version:u32le  crc32c of what follows:u32le  checkpoints  records:varint  sizes…
//
// The sizes are varints, compressed together. The first record begins at byte 0, each other one where the one before it
// ends.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/endian.h"
#include "crc32c/crc32c.h"
#include "index/record_index.h"

namespace tfr {
namespace {

constexpr uint32_t kVersion = 1;
constexpr size_t kHead = kPackedMagic.size() + 4 + 4;

Status Damaged() { return Status::InvalidArgument("the index is damaged: build it again"); }

uint32_t ChecksumOf(std::string_view bytes) {
  return crc32c::Value(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

}  // namespace

Status PackIndex(const RecordIndex& index, std::string* bytes) {
  std::string sizes;
  for (const int64_t size : index.sizes()) WriteVarint(static_cast<uint64_t>(size), &sizes);
  bytes->assign(kPackedMagic);
  bytes->resize(kHead);
  index.checkpoints()->Write(bytes);
  WriteVarint(index.size(), bytes);
  WriteVarint(sizes.size(), bytes);
  TFR_RETURN_IF_ERROR(WritePacked({reinterpret_cast<const uint8_t*>(sizes.data()), sizes.size()}, bytes));
  StoreLE32(bytes->data() + kPackedMagic.size(), kVersion);
  StoreLE32(bytes->data() + kHead - 4, ChecksumOf(std::string_view(*bytes).substr(kHead)));
  return {};
}

Status UnpackIndex(std::string_view bytes, RecordIndexPtr* index) {
  if (bytes.size() < kHead || !bytes.starts_with(kPackedMagic)) return Damaged();
  const uint32_t version = LoadLE32(bytes.data() + kPackedMagic.size());
  if (version != kVersion) {
    return Status::InvalidArgument("the index has version " + std::to_string(version) + ", expected " +
                                   std::to_string(kVersion) + ": build it again");
  }
  const uint32_t checksum = LoadLE32(bytes.data() + kHead - 4);
  bytes.remove_prefix(kHead);
  if (ChecksumOf(bytes) != checksum) return Damaged();
  CheckpointsPtr checkpoints;
  TFR_RETURN_IF_ERROR(Checkpoints::Read(&bytes, &checkpoints));
  uint64_t records = 0;
  uint64_t size = 0;
  std::string sizes;
  if (!ReadVarint(&bytes, &records) || !ReadVarint(&bytes, &size) || size > INT64_MAX) return Damaged();
  TFR_RETURN_IF_ERROR(Unpack(bytes, static_cast<size_t>(size), &sizes));
  IndexBuilder builder;
  std::string_view rest = sizes;
  int64_t offset = 0;
  for (; records > 0; --records) {
    if (!ReadVarint(&rest, &size) || size > INT64_MAX) return Damaged();
    if (!builder.Add(offset, static_cast<int64_t>(size)).empty()) return Damaged();
    offset += static_cast<int64_t>(size);
  }
  if (!rest.empty() || offset != checkpoints->out_bytes()) return Damaged();
  *index = builder.Finish(std::move(checkpoints));
  return {};
}

}  // namespace tfr
