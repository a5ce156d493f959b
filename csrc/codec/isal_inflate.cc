// Inflates GZIP (RFC 1952) and ZLIB (RFC 1950) with ISA-L. The wrappers' headers
// are read here, so that members follow each other and every damaged field is named; ISA-L decodes the deflate
// stream and checks the trailer.

#include <isa-l.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

#include "codec/deflate.h"

namespace tfr {
namespace {

constexpr size_t kMaxCall = size_t{1} << 30;  // ISA-L counts in 32 bits
// The library may count bytes as given that it has not written when it refuses a match: it counts before it looks how
// far the match reaches back, or whether there is such a symbol. What a match's ten bits can say is less than 800.
constexpr size_t kMaxUnwritten = 1024;

Status DeflateError(int code) {
  switch (code) {
    case ISAL_INVALID_BLOCK:
      return Status::DataLoss("deflate stream is damaged: invalid block");
    case ISAL_INVALID_SYMBOL:
      return Status::DataLoss("deflate stream is damaged: invalid symbol");
    case ISAL_INVALID_LOOKBACK:
      return Status::DataLoss("deflate stream is damaged: distance before the start");
    case ISAL_INCORRECT_CHECKSUM:
      return Status::DataLoss("checksum or length of the inflated data is wrong");
    default:
      return Status::DataLoss("deflate stream is damaged: ISA-L error " + std::to_string(code));
  }
}

// Reads one GZIP member header, a byte at a time: the end of the input buffer may cut it anywhere.
class GzipHeader {
 public:
  enum class Step : uint8_t { kMore, kDone };

  Status Take(uint8_t byte, Step* step) {
    *step = Step::kMore;
    if (field_ != Field::kHeaderCrc) crc_ = crc32_gzip_refl(crc_, &byte, 1);
    switch (field_) {
      case Field::kFixed:
        return TakeFixed(byte, step);
      case Field::kExtraLength:
        left_ |= static_cast<uint32_t>(byte) << (8 * position_++);
        if (position_ == 2) Enter(left_ > 0 ? Field::kExtra : After(Field::kExtra), step);
        return {};
      case Field::kExtra:
        if (--left_ == 0) Enter(After(Field::kExtra), step);
        return {};
      case Field::kName:
        if (byte == 0) Enter(After(Field::kName), step);
        return {};
      case Field::kComment:
        if (byte == 0) Enter(After(Field::kComment), step);
        return {};
      case Field::kHeaderCrc:
        if (byte != ((crc_ >> (8 * position_)) & 0xff)) return Status::DataLoss("GZIP header: its CRC is wrong");
        if (++position_ == 2) Enter(Field::kEnd, step);
        return {};
      case Field::kEnd:
        break;
    }
    return {};
  }

 private:
  enum class Field : uint8_t { kFixed, kExtraLength, kExtra, kName, kComment, kHeaderCrc, kEnd };
  enum Flag : uint8_t { kText = 1, kHasCrc = 2, kHasExtra = 4, kHasName = 8, kHasComment = 16, kReserved = 0xe0 };

  Status TakeFixed(uint8_t byte, Step* step) {
    const uint32_t at = position_++;
    if ((at == 0 && byte != 0x1f) || (at == 1 && byte != 0x8b)) {
      return Status::DataLoss("not a GZIP member: expected 1f 8b at its start");
    }
    if (at == 2 && byte != 8) {
      return Status::DataLoss("GZIP header: unknown compression method " + std::to_string(byte) + ", expected 8");
    }
    if (at == 3) {
      flags_ = byte;
      if (byte & kReserved) return Status::DataLoss("GZIP header: reserved flags are set");
    }
    if (at == 9) Enter(flags_ & kHasExtra ? Field::kExtraLength : After(Field::kExtra), step);
    return {};
  }

  Field After(Field field) const {
    if (field < Field::kName && (flags_ & kHasName)) return Field::kName;
    if (field < Field::kComment && (flags_ & kHasComment)) return Field::kComment;
    if (field < Field::kHeaderCrc && (flags_ & kHasCrc)) return Field::kHeaderCrc;
    return Field::kEnd;
  }

  void Enter(Field field, Step* step) {
    field_ = field;
    position_ = 0;
    if (field == Field::kEnd) *step = Step::kDone;
  }

  Field field_ = Field::kFixed;
  uint32_t position_ = 0;  // in the field
  uint32_t left_ = 0;      // bytes of the extra field
  uint32_t crc_ = 0;
  uint8_t flags_ = 0;
};

class ZlibHeader {
 public:
  using Step = GzipHeader::Step;

  Status Take(uint8_t byte, Step* step) {
    *step = Step::kMore;
    if (position_++ == 0) {
      first_ = byte;
      return {};
    }
    if ((first_ & 0x0f) != 8 || (first_ >> 4) > 7 || (first_ * 256 + byte) % 31 != 0) {
      return Status::DataLoss("not a ZLIB stream: incorrect header check");
    }
    if (byte & 0x20) return Status::DataLoss("ZLIB stream needs a preset dictionary");
    *step = Step::kDone;
    return {};
  }

 private:
  uint32_t position_ = 0;
  uint8_t first_ = 0;
};

template <typename Header>
class IsalDecompressor : public Decompressor {
 public:
  explicit IsalDecompressor(uint32_t wrapper) : wrapper_(wrapper) { isal_inflate_init(&state_); }

  Status Decompress(const uint8_t* in, size_t in_size, uint8_t* out, size_t out_size, Progress* progress) override {
    Status status = Run(in, in_size, out, out_size, progress);
    taken_ += static_cast<int64_t>(progress->consumed);
    return status;
  }

  int64_t part_begin() const override { return part_begin_; }

  void StopAtRestart() override { restart_wanted_ = true; }
  Restart restart() const override { return restart_; }

  void BeginInside(uint8_t first_byte, int bits, Bytes window) override {
    window_.assign(window.data, window.data + window.size);
    first_bits_ = bits > 0 ? first_byte >> (8 - bits) : 0;
    first_bits_length_ = bits;
    in_body_ = is_first_ = is_inside_ = true;
    between_ = false;
    BeginBody();
  }

 private:
  Status Run(const uint8_t* in, size_t in_size, uint8_t* out, size_t out_size, Progress* progress) {
    *progress = {};
    bool may_search = true;
    while (true) {
      if (!in_body_) {
        if (restart_wanted_ && between_) return StopHere({8 * overread_bytes_}, progress);
        while (!in_body_ && (overread_bytes_ > 0 || progress->consumed < in_size)) {
          if (between_) part_begin_ = taken_ + static_cast<int64_t>(progress->consumed - overread_bytes_);
          between_ = false;
          auto step = Header::Step::kMore;
          const uint8_t byte = overread_bytes_ > 0 ? TakeOverread() : in[progress->consumed++];
          TFR_RETURN_IF_ERROR(header_.Take(byte, &step));
          if (step == Header::Step::kDone) StartBody();
        }
        progress->between_parts = between_;
        if (!in_body_) return {};
      }
      const size_t in_now = std::min(in_size - progress->consumed, kMaxCall);
      size_t out_now = std::min(out_size - progress->produced, kMaxCall);
      if (out_now == 0) return {};
      if (restart_wanted_ && may_search && !is_searching_) {
        if (state_.block_state == ISAL_BLOCK_NEW_HDR) return StopInside(progress);
        BeginSearch();
      }
      if (is_searching_) out_now = std::min(out_now, pending() - std::min<size_t>(pending(), 1));
      if (!is_first_) KeepState();
      const Call call = {in + progress->consumed, in_now, out + progress->produced, out_now};
      int code = Inflate(call);
      if (code == ISAL_INCORRECT_CHECKSUM && is_inside_) code = ISAL_DECOMP_OK;  // of a part whose start was not seen
      const size_t took = in_now - state_.avail_in;
      size_t gave = out_now - state_.avail_out;
      if (code == ISAL_INVALID_LOOKBACK || code == ISAL_INVALID_SYMBOL) gave = Written(call, gave);
      is_first_ = false;
      progress->consumed += took;
      progress->produced += gave;
      if (code < 0) return DeflateError(code);
      if (is_searching_ && state_.block_state == ISAL_BLOCK_INPUT_DONE) {
        EndSearch(ISAL_BLOCK_NEW_HDR);
        KeepWindow();
        return StopInside(progress);
      }
      if (state_.block_state == ISAL_BLOCK_FINISH) {
        in_body_ = false;
        between_ = true;
        is_inside_ = false;
        window_.clear();
        header_ = Header();
        KeepOverread();
        progress->between_parts = overread_bytes_ == 0;
        if (progress->consumed == in_size && overread_bytes_ == 0) return {};
      } else if (took == 0 && gave == 0) {
        if (!is_searching_) return {};
        EndSearch(state_.block_state);  // what is pending has to go out before more input comes
        may_search = false;
      }
    }
  }

  // The library does not tell where a block ends. A block that is said to be the last is one at whose end it stops; as
  // long as there is output that it has not given out, it leaves it at that and does not read a trailer.
  void BeginSearch() {
    const bool in_block = state_.block_state == ISAL_BLOCK_CODED || state_.block_state == ISAL_BLOCK_TYPE0;
    if (!in_block || state_.bfinal != 0) return;
    state_.bfinal = 1;
    is_searching_ = true;
  }

  void EndSearch(isal_block_state state) {
    is_searching_ = false;
    state_.bfinal = 0;
    state_.block_state = state;
  }

  size_t pending() const { return static_cast<size_t>(state_.tmp_out_valid - state_.tmp_out_processed); }

  // Does what the library does after a call that does not end a stream: moves its window to the front of its memory.
  void KeepWindow() {
    const int32_t shift = std::min(state_.tmp_out_valid - ISAL_DEF_HIST_SIZE, state_.tmp_out_processed);
    if (shift <= 0) return;
    std::memmove(state_.tmp_out_buffer, state_.tmp_out_buffer + shift,
                 static_cast<size_t>(state_.tmp_out_valid - shift));
    state_.tmp_out_valid -= shift;
    state_.tmp_out_processed -= shift;
  }

  Status StopInside(Progress* progress) {
    const auto filled = static_cast<size_t>(state_.tmp_out_valid);
    const size_t size = std::min<size_t>(filled, ISAL_DEF_HIST_SIZE);
    const Bytes window = {state_.tmp_out_buffer + filled - size, size};
    return StopHere({static_cast<size_t>(state_.read_in_length), pending(), true, window}, progress);
  }

  Status StopHere(const Restart& restart, Progress* progress) {
    restart_ = restart;
    restart_wanted_ = false;
    progress->at_restart = true;
    return {};
  }

  struct Call {
    const uint8_t* in;
    size_t in_size;
    uint8_t* out;
    size_t out_size;
  };

  int Inflate(const Call& call) {
    state_.next_in = const_cast<uint8_t*>(call.in);
    state_.avail_in = static_cast<uint32_t>(call.in_size);
    state_.next_out = call.out;
    state_.avail_out = static_cast<uint32_t>(call.out_size);
    return isal_inflate(&state_);
  }

  // The library resumes from this: a whole state, but only the filled part of its window.
  static void Keep(const inflate_state& from, inflate_state* to) {
    std::memcpy(to, &from, offsetof(inflate_state, tmp_out_buffer));
    std::memcpy(to->tmp_out_buffer, from.tmp_out_buffer, static_cast<size_t>(from.tmp_out_valid));
  }

  // How many of the bytes that a failed call has counted as given were written by it, and are not what was there
  // before, no one's or those of another file: they are the same when the call is made again, over ones and over zeros.
  size_t Written(const Call& call, size_t gave) {
    const size_t tail = std::min(gave, kMaxUnwritten);
    uint8_t* const doubtful = call.out + gave - tail;
    uint8_t over_zeros[kMaxUnwritten];
    InflateOver(0, call, doubtful, tail);
    std::memcpy(over_zeros, doubtful, tail);
    InflateOver(0xff, call, doubtful, tail);
    return gave - tail + static_cast<size_t>(std::mismatch(doubtful, doubtful + tail, over_zeros).first - doubtful);
  }

  void InflateOver(uint8_t fill, const Call& call, uint8_t* doubtful, size_t size) {
    is_first_ ? BeginBody() : Keep(*before_, &state_);
    const auto filled = static_cast<size_t>(state_.tmp_out_valid);
    std::memset(state_.tmp_out_buffer + filled, fill, sizeof state_.tmp_out_buffer - filled);
    std::memset(doubtful, fill, size);
    (void)Inflate(call);  // the same error
  }

  void KeepState() {
    if (!before_) before_.reset(new inflate_state);
    Keep(state_, before_.get());
  }

  void BeginBody() {
    isal_inflate_reset(&state_);
    state_.crc_flag = wrapper_;
    state_.read_in = first_bits_;
    state_.read_in_length = first_bits_length_;
    if (window_.empty()) return;
    (void)isal_inflate_set_dict(&state_, window_.data(), static_cast<uint32_t>(window_.size()));
  }

  void StartBody() {
    first_bits_ = overread_;
    first_bits_length_ = static_cast<int32_t>(8 * overread_bytes_);
    overread_bytes_ = 0;
    in_body_ = true;
    is_first_ = true;
    BeginBody();
  }

  // ISA-L takes input into a register of 64 bits. Whole bytes in it that follow a trailer begin the next part;
  // bits above those it counts mean nothing.
  void KeepOverread() {
    const auto bits = static_cast<uint32_t>(state_.read_in_length);
    overread_bytes_ = std::min<size_t>(bits / 8, 7);
    overread_ = (state_.read_in >> (bits % 8)) & ((uint64_t{1} << (8 * overread_bytes_)) - 1);
  }

  uint8_t TakeOverread() {
    const auto byte = static_cast<uint8_t>(overread_);
    overread_ >>= 8;
    --overread_bytes_;
    return byte;
  }

  const uint32_t wrapper_;
  inflate_state state_;  // not zeroed: a match is held against what is filled of its window
  // The state that the last call resumed from: null if it was the first of its body, and none has been another yet.
  std::unique_ptr<inflate_state> before_;
  bool is_first_ = false;    // of its body
  uint64_t first_bits_ = 0;  // that it has from what came before the body
  int32_t first_bits_length_ = 0;
  Header header_;
  uint64_t overread_ = 0;  // the first byte lowest
  size_t overread_bytes_ = 0;
  int64_t taken_ = 0;  // by the calls before this one
  int64_t part_begin_ = 0;
  std::vector<uint8_t> window_;  // of the restart inside a part from which this one goes on
  bool is_inside_ = false;
  bool restart_wanted_ = false;
  bool is_searching_ = false;  // the block being read is said to be the last
  Restart restart_;
  bool in_body_ = false;
  bool between_ = true;  // true at the very start: an empty file is an empty stream
};

}  // namespace

namespace internal {

std::unique_ptr<Decompressor> NewInflater(Wrapper wrapper) {
  if (wrapper == Wrapper::kGzip) return std::make_unique<IsalDecompressor<GzipHeader>>(ISAL_GZIP_NO_HDR_VER);
  return std::make_unique<IsalDecompressor<ZlibHeader>>(ISAL_ZLIB_NO_HDR_VER);
}

std::string IsalVersion() {
  return std::to_string(ISAL_MAJOR_VERSION) + "." + std::to_string(ISAL_MINOR_VERSION) + "." +
         std::to_string(ISAL_PATCH_VERSION);
}

}  // namespace internal
}  // namespace tfr
