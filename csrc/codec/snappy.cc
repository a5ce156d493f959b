// The codec SNAPPY, as TensorFlow frames it, with libsnappy, the only file that includes it. A stream is blocks:
//
//   block := length:u32be  snappy:byte[length]
//
// where `snappy` is in Snappy's raw format (format_description.txt of Snappy): the number of bytes that it inflates to,
// as a varint, then literals and copies. It has neither a magic number nor a checksum nor an end marker.

#include <snappy.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "base/buffer.h"
#include "codec/block_compressor.h"
#include "codec/codec.h"

namespace tfr {
namespace {

constexpr size_t kLengthBytes = 4;
constexpr size_t kMaxPreamble = 5;  // a varint of 32 bits

// TensorFlow's reader takes blocks of up to 256 KiB, compressed and uncompressed. This many bytes stay below that even
// if they don't get smaller: 192 KiB is at most 229,408 bytes compressed.
constexpr size_t kBlockBytes = 192 << 10;

// Memory beyond this is not kept for the next block.
constexpr size_t kKeptBytes = 4 << 20;

size_t LoadLength(const uint8_t* data) {
  return static_cast<size_t>(data[0]) << 24 | static_cast<size_t>(data[1]) << 16 | static_cast<size_t>(data[2]) << 8 |
         data[3];
}

void StoreLength(uint8_t* data, size_t length) {
  for (size_t i = 0; i < kLengthBytes; ++i) data[i] = static_cast<uint8_t>(length >> (24 - 8 * i));
}

// Reads the preamble, of which `size` bytes, at most kMaxPreamble, are given. False if it, or the block's length
// together with it, can't be right: a literal of one byte takes at most six bytes, and a copy of three bytes gives at
// most 64. So what a block inflates to is at most 22 times what it takes in the file, whatever it claims.
bool ReadPreamble(const uint8_t* data, size_t size, size_t length, size_t* inflated) {
  if (!snappy::GetUncompressedLength(reinterpret_cast<const char*>(data), size, inflated)) return false;
  return *inflated <= 22 * length && length <= kMaxPreamble + 6 * *inflated;
}

// A buffer that grows.
class Room {
 public:
  uint8_t* data() const { return buffer_->data(); }

  // Makes room for `size` bytes, of which the first `kept` stay as they are. False if out of memory.
  bool Reserve(size_t size, size_t kept) {
    if (buffer_ && buffer_->capacity() >= size) return true;
    std::shared_ptr<Buffer> larger = Buffer::Allocate(size);
    if (!larger) return false;
    if (kept > 0) std::memcpy(larger->data(), buffer_->data(), kept);
    buffer_ = std::move(larger);
    return true;
  }

  void ReleaseIfLarge() {
    if (buffer_ && buffer_->capacity() > kKeptBytes) buffer_.reset();
  }

 private:
  std::shared_ptr<Buffer> buffer_;
};

class SnappyDecompressor : public Decompressor {
 public:
  Status Decompress(const uint8_t* in, size_t in_size, uint8_t* out, size_t out_size, Progress* progress) override {
    *progress = {};
    while (true) {
      Give(out, out_size, progress);
      if (given_ < inflated_) return {};
      if (restart_wanted_ && head_bytes_ == 0) {
        restart_wanted_ = false;
        progress->at_restart = progress->between_parts = true;
        return {};
      }
      const uint8_t* rest = in + progress->consumed;
      const size_t left = in_size - progress->consumed;
      if (head_bytes_ < head_wanted_) {
        if (left == 0) break;
        const size_t now = std::min(left, head_wanted_ - head_bytes_);
        std::memcpy(head_ + head_bytes_, rest, now);
        head_bytes_ += now;
        progress->consumed += now;
        if (head_bytes_ == head_wanted_) TFR_RETURN_IF_ERROR(TakeHead());
        continue;
      }
      if (taken_ < length_) {
        if (left == 0) break;
        const size_t now = std::min(left, length_ - taken_);
        TFR_RETURN_IF_ERROR(Take(rest, now));
        progress->consumed += now;
        continue;
      }
      TFR_RETURN_IF_ERROR(Inflate(out, out_size, progress));
    }
    progress->between_parts = head_bytes_ == 0;
    return {};
  }

  void StopAtRestart() override { restart_wanted_ = true; }

 private:
  static Status NoMemory(size_t size) {
    return Status::OutOfMemory("SNAPPY: no memory for a block of " + std::to_string(size) + " bytes");
  }

  // Bytes that were inflated before and did not fit.
  void Give(uint8_t* out, size_t out_size, Progress* progress) {
    const size_t now = std::min(out_size - progress->produced, inflated_ - given_);
    if (now == 0) return;
    std::memcpy(out + progress->produced, block_.data() + given_, now);
    progress->produced += now;
    given_ += now;
    if (given_ == inflated_) block_.ReleaseIfLarge();
  }

  // The block's length, then as much as its preamble takes at most.
  Status TakeHead() {
    if (head_bytes_ == kLengthBytes) {
      length_ = LoadLength(head_);
      if (length_ == 0) return Status::DataLoss("an empty block");
      head_wanted_ += std::min(length_, kMaxPreamble);
      return {};
    }
    const size_t preamble = head_bytes_ - kLengthBytes;
    if (!ReadPreamble(head_ + kLengthBytes, preamble, length_, &claim_)) {
      return Status::DataLoss("a block of " + std::to_string(length_) + " bytes can't hold what it claims");
    }
    taken_ = 0;
    return Take(head_ + kLengthBytes, preamble);
  }

  // The memory grows with what has been read, not with what the length claims.
  Status Take(const uint8_t* data, size_t size) {
    if (!compressed_.Reserve(std::min(length_, std::max(2 * taken_, taken_ + size)), taken_)) return NoMemory(length_);
    std::memcpy(compressed_.data() + taken_, data, size);
    taken_ += size;
    return {};
  }

  // A whole block: straight to `out` if it fits.
  Status Inflate(uint8_t* out, size_t out_size, Progress* progress) {
    const bool fits = claim_ <= out_size - progress->produced;
    if (!fits && !block_.Reserve(claim_, 0)) return NoMemory(claim_);
    uint8_t* to = fits ? out + progress->produced : block_.data();
    const auto* from = reinterpret_cast<const char*>(compressed_.data());
    if (!snappy::RawUncompress(from, length_, reinterpret_cast<char*>(to))) {
      return Status::DataLoss("a block of " + std::to_string(length_) + " bytes is damaged");
    }
    if (fits) progress->produced += claim_;
    inflated_ = fits ? 0 : claim_;
    given_ = 0;
    head_bytes_ = 0;
    head_wanted_ = kLengthBytes;
    compressed_.ReleaseIfLarge();
    return {};
  }

  // The block that is being read: its length, and as many bytes as its preamble may take.
  uint8_t head_[kLengthBytes + kMaxPreamble];
  size_t head_bytes_ = 0;
  size_t head_wanted_ = kLengthBytes;
  size_t length_ = 0;
  size_t claim_ = 0;  // how many bytes it inflates to
  Room compressed_;
  size_t taken_ = 0;
  // The block that was inflated last, if it did not fit.
  Room block_;
  size_t inflated_ = 0;
  size_t given_ = 0;
  bool restart_wanted_ = false;
};

class SnappyBlockCompressor : public BlockCompressor {
 public:
  Status Compress(Bytes block, Content, std::shared_ptr<Buffer>* part, size_t* size) override {
    const size_t count = (block.size + kBlockBytes - 1) / kBlockBytes;
    *part = Buffer::Allocate(std::max<size_t>(1, count * (kLengthBytes + snappy::MaxCompressedLength(kBlockBytes))));
    if (!*part) return Status::OutOfMemory("no memory to compress " + std::to_string(block.size) + " bytes");
    uint8_t* out = (*part)->data();
    for (size_t begin = 0; begin < block.size; begin += kBlockBytes) {
      const auto* from = reinterpret_cast<const char*>(block.data + begin);
      size_t length = 0;
      snappy::RawCompress(from, std::min(kBlockBytes, block.size - begin), reinterpret_cast<char*>(out + kLengthBytes),
                          &length);
      StoreLength(out, length);
      out += kLengthBytes + length;
    }
    *size = static_cast<size_t>(out - (*part)->data());
    return {};
  }
};

Status NewBlockCompressor(int level, std::unique_ptr<BlockCompressor>* made) {
  if (level != CompressionOptions::kUnset) {
    return Status::InvalidArgument("compression_level " + std::to_string(level) + ": SNAPPY has no levels");
  }
  *made = std::make_unique<SnappyBlockCompressor>();
  return {};
}

std::unique_ptr<Decompressor> NewDecompressor() { return std::make_unique<SnappyDecompressor>(); }

// Inflates the first bytes of the first block by hand, one element after the other: the library wants whole blocks.
class Peeker {
 public:
  Peeker(const uint8_t* head, size_t size, uint8_t* out, size_t wanted)
      : head_(head), size_(size), out_(out), wanted_(wanted) {}

  Peeked Run() {
    bool is_block = Start();
    while (is_block && made_ < std::min(wanted_, claim_)) is_block = TakeElement();
    return {made_, needed_};
  }

 private:
  // True if the first `bytes` of the file are given; else they are needed, if the block reaches that far.
  bool Has(size_t bytes, size_t end) {
    if (bytes > end) return false;
    if (bytes > size_) needed_ = bytes;
    return bytes <= size_;
  }

  bool Start() {
    if (!Has(kLengthBytes + 1, kLengthBytes + 1)) return false;
    const size_t length = LoadLength(head_);
    end_ = kLengthBytes + length;
    at_ = kLengthBytes;
    do {
      if (at_ == kLengthBytes + kMaxPreamble || !Has(at_ + 1, end_)) return false;
    } while (head_[at_++] & 0x80);
    return ReadPreamble(head_ + kLengthBytes, at_ - kLengthBytes, length, &claim_);
  }

  bool TakeElement() {
    if (!Has(at_ + 1, end_)) return false;
    const uint8_t tag = head_[at_];
    const size_t upper = tag >> 2;
    // How many bytes follow the tag: of the literal's length if it is not in the tag; of the copy's offset.
    const size_t kind = tag & 3;
    const size_t extra = kind == 0 ? (upper < 60 ? 0 : upper - 59) : kind == 3 ? 4 : kind;
    if (!Has(at_ + 1 + extra, end_)) return false;
    size_t value = 0;
    for (size_t i = 0; i < extra; ++i) value |= static_cast<size_t>(head_[at_ + 1 + i]) << (8 * i);
    at_ += 1 + extra;
    if (kind == 0) return TakeLiteral((extra == 0 ? upper : value) + 1);
    if (kind == 1) return TakeCopy(4 + (upper & 7), (upper >> 3) << 8 | value);
    return TakeCopy(upper + 1, value);
  }

  bool TakeLiteral(size_t length) {
    const size_t now = std::min(length, wanted_ - made_);
    if (length > claim_ - made_ || length > end_ - at_ || !Has(at_ + now, end_)) return false;
    std::memcpy(out_ + made_, head_ + at_, now);
    at_ += length;
    made_ += now;
    return true;
  }

  bool TakeCopy(size_t length, size_t offset) {
    if (length > claim_ - made_ || offset == 0 || offset > made_) return false;
    for (const size_t stop = made_ + std::min(length, wanted_ - made_); made_ < stop; ++made_) {
      out_[made_] = out_[made_ - offset];
    }
    return true;
  }

  const uint8_t* const head_;
  const size_t size_;
  uint8_t* const out_;
  const size_t wanted_;
  size_t at_ = 0;
  size_t end_ = 0;  // of the block
  size_t claim_ = 0;
  size_t made_ = 0;
  size_t needed_ = 0;
};

Peeked Peek(const uint8_t* head, size_t size, uint8_t* out, size_t wanted) {
  return Peeker(head, size, out, wanted).Run();
}

std::string Version() {
  return std::to_string(SNAPPY_MAJOR) + "." + std::to_string(SNAPPY_MINOR) + "." + std::to_string(SNAPPY_PATCHLEVEL);
}

constexpr CodecLibrary kLibraries[] = {{"snappy", Version}};

}  // namespace

namespace internal {

extern constinit const Codec kSnappy = {
    .name = "SNAPPY",
    .extension = ".snappy",
    .peek = Peek,
    .new_decompressor = NewDecompressor,
    .truncated = "a block is incomplete",
    .blocks = Codec::Blocks::kAlways,
    .new_block_compressor = NewBlockCompressor,
    .libraries = kLibraries,
};

}  // namespace internal
}  // namespace tfr
