// Noting, keeping and writing down places where decompression can begin; see checkpoints.h.

#include "seek/checkpoints.h"

#include <algorithm>
#include <utility>

#include "base/endian.h"
#include "codec/block_compressor.h"
#include "crc32c/crc32c.h"

namespace tfr {
namespace {

constexpr size_t kEndBytes = 4 << 10;
constexpr size_t kMaxWindow = 32 << 10;
constexpr int kLevel = 3;  // of ZSTD
constexpr size_t kMaxVarint = 10;

const Codec& Zstd() { return *FindCompression("ZSTD")->codec(); }

Status Malformed() { return Status::InvalidArgument("the index of a compressed file is damaged"); }

Status AddEnd(const File& file, int64_t offset, uint32_t* crc) {
  uint8_t bytes[kEndBytes];
  size_t got = 0;
  TFR_RETURN_IF_ERROR(file.ReadFullyAt(offset, bytes, sizeof bytes, &got));
  *crc = crc32c::Extend(*crc, bytes, got);
  return {};
}

// A source of what follows a place.
Status OpenAt(const Checkpoint& place, Bytes window, Compression compression, std::shared_ptr<const File> file,
              std::unique_ptr<Source>* source) {
  std::unique_ptr<Decompressor> decompressor = compression.codec()->new_decompressor();
  if (!decompressor) return Status::OutOfMemory("a decompressor");
  int64_t byte = place.bit / 8;
  if (place.inside) {
    uint8_t first = 0;
    const int bits = static_cast<int>((8 - place.bit % 8) % 8);
    if (bits > 0) {
      size_t got = 0;
      TFR_RETURN_IF_ERROR(file->ReadFullyAt(byte++, &first, 1, &got));
    }
    decompressor->BeginInside(first, bits, window);
  }
  *source = NewDecompressingSource(std::make_unique<FileSource>(std::move(file), byte), compression, byte,
                                   std::move(decompressor));
  return {};
}

}  // namespace

Status Identify(const File& file, FileIdentity* identity) {
  identity->bytes = file.opened_size();
  identity->ends = 0;
  TFR_RETURN_IF_ERROR(AddEnd(file, 0, &identity->ends));
  return AddEnd(file, std::max<int64_t>(identity->bytes - static_cast<int64_t>(kEndBytes), 0), &identity->ends);
}

void WriteVarint(uint64_t value, std::string* to) {
  for (; value >= 0x80; value >>= 7) to->push_back(static_cast<char>(value | 0x80));
  to->push_back(static_cast<char>(value));
}

bool ReadVarint(std::string_view* from, uint64_t* value) {
  *value = 0;
  const size_t most = std::min(from->size(), kMaxVarint);
  for (size_t i = 0; i < most; ++i) {
    const auto byte = static_cast<uint8_t>((*from)[i]);
    *value |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if (byte >= 0x80) continue;
    from->remove_prefix(i + 1);
    return true;
  }
  return false;
}

Status WritePacked(Bytes bytes, std::string* to) {
  std::unique_ptr<BlockCompressor> compressor;
  TFR_RETURN_IF_ERROR(Zstd().new_block_compressor(kLevel, &compressor));
  std::shared_ptr<Buffer> part;
  size_t size = 0;
  TFR_RETURN_IF_ERROR(compressor->Compress(bytes, Content::kBytes, &part, &size));
  to->append(reinterpret_cast<const char*>(part->data()), size);
  return {};
}

Status Unpack(std::string_view packed, size_t size, std::string* bytes) {
  const std::unique_ptr<Decompressor> decompressor = Zstd().new_decompressor();
  if (!decompressor) return Status::OutOfMemory();
  const auto* in = reinterpret_cast<const uint8_t*>(packed.data());
  size_t taken = 0;
  bytes->clear();
  Progress progress;
  do {
    // Room for what is there, not for what is claimed; one byte more than expected shows that it is too much.
    const size_t used = bytes->size();
    bytes->resize(std::min(size + 1, used + std::max<size_t>(used, 64 << 10)));
    Status status =
        decompressor->Decompress(in + taken, packed.size() - taken, reinterpret_cast<uint8_t*>(bytes->data()) + used,
                                 bytes->size() - used, &progress);
    bytes->resize(used + progress.produced);
    taken += progress.consumed;
    if (!status.ok() || bytes->size() > size) return Malformed();
  } while (progress.consumed > 0 || progress.produced > 0);
  return bytes->size() == size && progress.between_parts ? Status() : Malformed();
}

size_t Checkpoints::Before(int64_t out) const {
  const auto after = std::upper_bound(places_.begin(), places_.end(), out,
                                      [](int64_t value, const Checkpoint& place) { return value < place.out; });
  return static_cast<size_t>(after - places_.begin()) - 1;
}

Status Checkpoints::Open(size_t number, const std::shared_ptr<const File>& file,
                         std::unique_ptr<Source>* source) const {
  const Checkpoint& place = places_[number];
  std::string window;
  if (place.inside) {
    const size_t begin = number == 0 ? 0 : places_[number - 1].window_end;
    std::string_view packed = std::string_view(windows_).substr(begin, place.window_end - begin);
    uint64_t size = 0;
    if (!packed_) {
      return OpenAt(place, {reinterpret_cast<const uint8_t*>(packed.data()), packed.size()}, compression_, file,
                    source);
    }
    if (!ReadVarint(&packed, &size) || size > kMaxWindow) return Malformed();
    TFR_RETURN_IF_ERROR(Unpack(packed, static_cast<size_t>(size), &window));
  }
  return OpenAt(place, {reinterpret_cast<const uint8_t*>(window.data()), window.size()}, compression_, file, source);
}

int64_t Checkpoints::longest() const {
  int64_t longest = out_bytes_ - places_.back().out;
  for (size_t i = 1; i < places_.size(); ++i) longest = std::max(longest, places_[i].out - places_[i - 1].out);
  return longest;
}

CheckpointsPtr Checkpoints::Only(int64_t out) const {
  auto only = std::make_shared<Checkpoints>();
  only->compression_ = compression_;
  only->identity_ = identity_;
  only->out_bytes_ = out_bytes_;
  only->packed_ = packed_;
  const size_t number = Before(out);
  if (number > 0) {
    const size_t begin = places_[number - 1].window_end;
    only->windows_ = windows_.substr(begin, places_[number].window_end - begin);
    only->places_.push_back({places_[number].bit, places_[number].out, places_[number].inside, only->windows_.size()});
  }
  return only;
}

void Checkpoints::Write(std::string* to) const {
  const std::string_view name = CompressionName(compression_);
  std::string text;
  WriteVarint(name.size(), &text);
  text += name;
  for (const uint64_t value : {static_cast<uint64_t>(identity_.bytes), static_cast<uint64_t>(identity_.ends),
                               static_cast<uint64_t>(out_bytes_), static_cast<uint64_t>(places_.size())}) {
    WriteVarint(value, &text);
  }
  Checkpoint last;
  for (const Checkpoint& place : places_) {
    WriteVarint(static_cast<uint64_t>(place.bit - last.bit), &text);
    WriteVarint(static_cast<uint64_t>(place.out - last.out), &text);
    WriteVarint(place.inside ? 1 : 0, &text);
    WriteVarint(place.window_end - last.window_end, &text);
    last = place;
  }
  text += windows_;
  WriteVarint(text.size(), to);
  *to += text;
}

Status Checkpoints::Read(std::string_view* from, CheckpointsPtr* checkpoints) {
  uint64_t size = 0;
  if (!ReadVarint(from, &size) || size > from->size()) return Malformed();
  std::string_view text = from->substr(0, static_cast<size_t>(size));
  from->remove_prefix(static_cast<size_t>(size));
  if (!ReadVarint(&text, &size) || size > text.size()) return Malformed();
  const std::optional<Compression> compression = FindCompression(text.substr(0, static_cast<size_t>(size)));
  if (!compression || *compression == Compression::kNone) return Malformed();
  text.remove_prefix(static_cast<size_t>(size));

  auto read = std::make_shared<Checkpoints>();
  read->compression_ = *compression;
  uint64_t bytes = 0;
  uint64_t ends = 0;
  uint64_t out = 0;
  uint64_t count = 0;
  const bool whole =
      ReadVarint(&text, &bytes) && ReadVarint(&text, &ends) && ReadVarint(&text, &out) && ReadVarint(&text, &count);
  if (!whole || bytes > INT64_MAX / 8 || ends > UINT32_MAX || out > INT64_MAX || count == 0) return Malformed();
  read->identity_ = {static_cast<int64_t>(bytes), static_cast<uint32_t>(ends)};
  read->out_bytes_ = static_cast<int64_t>(out);
  read->places_.clear();
  Checkpoint place;
  for (; count > 0; --count) {
    uint64_t bit = 0;
    uint64_t further = 0;
    uint64_t inside = 0;
    uint64_t window = 0;
    if (!ReadVarint(&text, &bit) || !ReadVarint(&text, &further) || !ReadVarint(&text, &inside) ||
        !ReadVarint(&text, &window)) {
      return Malformed();
    }
    const bool fits = bit <= 8 * bytes - static_cast<uint64_t>(place.bit) &&
                      further <= out - static_cast<uint64_t>(place.out) && inside <= 1 && window <= text.size();
    const bool starts = !read->places_.empty() || (bit == 0 && further == 0 && inside == 0);
    if (!fits || !starts || (inside == 0 && (window > 0 || (place.bit + static_cast<int64_t>(bit)) % 8 != 0))) {
      return Malformed();
    }
    place = {place.bit + static_cast<int64_t>(bit), place.out + static_cast<int64_t>(further), inside == 1,
             place.window_end + static_cast<size_t>(window)};
    read->places_.push_back(place);
  }
  if (place.window_end != text.size()) return Malformed();
  read->windows_ = text;
  *checkpoints = std::move(read);
  return {};
}

CheckpointLog::CheckpointLog(std::shared_ptr<const File> file, Compression compression, int64_t spacing,
                             Windows windows, size_t most)
    : file_(std::move(file)), made_(std::make_shared<Checkpoints>()), spacing_(spacing), most_(most), next_(spacing) {
  made_->compression_ = compression;
  made_->packed_ = windows == Windows::kPacked;
}

Status CheckpointLog::Add(int64_t bit, int64_t out, bool inside, Bytes window) {
  TFR_RETURN_IF_ERROR(KeepWindow());
  next_ = out + spacing_;
  made_->places_.push_back({bit, out, inside, made_->windows_.size()});
  if (inside) window_.assign(window.data, window.data + window.size);
  return {};
}

// Compresses the window of the last place, of which the bytes that nothing refers to are cleared.
Status CheckpointLog::KeepWindow() {
  Checkpoint& last = made_->places_.back();
  if (!last.inside) return {};
  if (!made_->packed_) {
    made_->windows_.append(reinterpret_cast<const char*>(window_.data()), window_.size());
    last.window_end = made_->windows_.size();
    if (made_->windows_.size() > most_) Thin();
    return {};
  }
  std::vector<uint8_t> used(window_.size());
  TFR_RETURN_IF_ERROR(FindUsed(last, &used));
  for (size_t i = 0; i < window_.size(); ++i) {
    if (used[i] == 0) window_[i] = 0;
  }
  WriteVarint(window_.size(), &made_->windows_);
  TFR_RETURN_IF_ERROR(WritePacked({window_.data(), window_.size()}, &made_->windows_));
  last.window_end = made_->windows_.size();
  return {};
}

// Drops every other place, and notes half as many from now on.
void CheckpointLog::Thin() {
  const std::vector<Checkpoint> all = std::exchange(made_->places_, {});
  const std::string windows = std::exchange(made_->windows_, {});
  for (size_t i = 0; i < all.size(); i += 2) {
    const size_t begin = i == 0 ? 0 : all[i - 1].window_end;
    made_->windows_.append(windows, begin, all[i].window_end - begin);
    made_->places_.push_back({all[i].bit, all[i].out, all[i].inside, made_->windows_.size()});
  }
  spacing_ *= 2;
}

// Marks the bytes of the window that what follows refers to. A window of other bytes shows them: the output differs
// where it comes from the window, and a window that holds its own positions tells from where.
Status CheckpointLog::FindUsed(const Checkpoint& place, std::vector<uint8_t>* used) const {
  enum Kind { kLow, kInverted, kHigh, kKinds };
  std::vector<uint8_t> window(used->size());
  std::vector<uint8_t> outputs[kKinds];
  size_t got = 0;
  for (int kind = 0; kind < kKinds; ++kind) {
    for (size_t i = 0; i < window.size(); ++i) {
      const auto low = static_cast<uint8_t>(i);
      window[i] = kind == kLow ? low : kind == kInverted ? static_cast<uint8_t>(~low) : static_cast<uint8_t>(i >> 8);
    }
    std::unique_ptr<Source> source;
    TFR_RETURN_IF_ERROR(OpenAt(place, {window.data(), window.size()}, made_->compression_, file_, &source));
    outputs[kind].resize(kMaxWindow);
    if (!ReadFully(source.get(), outputs[kind].data(), kMaxWindow, &got).ok()) {
      used->assign(used->size(), 1);  // damage, which whoever reads the file through will meet
      return {};
    }
  }
  for (size_t i = 0; i < got; ++i) {
    if (outputs[kLow][i] == outputs[kInverted][i]) continue;
    const size_t from = outputs[kLow][i] | (static_cast<size_t>(outputs[kHigh][i]) << 8);
    if (from < used->size()) (*used)[from] = 1;
  }
  return {};
}

Status CheckpointLog::Finish(int64_t out_bytes, CheckpointsPtr* checkpoints) {
  TFR_RETURN_IF_ERROR(KeepWindow());
  TFR_RETURN_IF_ERROR(Identify(*file_, &made_->identity_));
  made_->out_bytes_ = out_bytes;
  std::vector<Checkpoint>& places = made_->places_;
  if (places.size() > 1 && places.back().out >= out_bytes && !places.back().inside) places.pop_back();
  *checkpoints = std::move(made_);
  return {};
}

}  // namespace tfr
