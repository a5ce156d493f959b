// Inflating a GZIP member: the libraries alone, and this project's reader over them; see measure.h, csrc/codec/codec.h.
//
// FILE is uncompressed; it is packed here as TensorFlow's writer packs it (zlib, level 6). "ISA-L alone" and "zlib
// alone" stream into 1 MiB, "libdeflate, whole" knows the size and needs all of it in memory. Speeds are of
// uncompressed bytes on one core.

#include <isa-l.h>
#include <libdeflate.h>
#include <zlib.h>

#include <algorithm>
#include <memory>

#include "codec/codec.h"
#include "measure.h"

namespace {

using measure::Require;
using Data = std::vector<uint8_t>;

constexpr size_t kBlock = 1 << 20;

Data Pack(const Data& data) {
  z_stream stream = {};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY);
  Data out(deflateBound(&stream, data.size()));
  stream.next_in = const_cast<uint8_t*>(data.data());
  stream.avail_in = static_cast<unsigned>(data.size());
  stream.next_out = out.data();
  stream.avail_out = static_cast<unsigned>(out.size());
  Require(deflate(&stream, Z_FINISH) == Z_STREAM_END, "packing");
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

// Each of the following gives every block to `take`, which checks the answer.
template <typename TakeBlock>
void Isal(const Data& packed, Data* block, TakeBlock take) {
  static inflate_state state;
  isal_inflate_init(&state);
  state.crc_flag = ISAL_GZIP;
  state.next_in = const_cast<uint8_t*>(packed.data());
  state.avail_in = static_cast<uint32_t>(packed.size());
  do {
    state.next_out = block->data();
    state.avail_out = static_cast<uint32_t>(block->size());
    Require(isal_inflate(&state) == ISAL_DECOMP_OK, "ISA-L");
    take(block->data(), block->size() - state.avail_out);
  } while (state.block_state != ISAL_BLOCK_FINISH);
}

template <typename TakeBlock>
void Zlib(const Data& packed, Data* block, TakeBlock take) {
  z_stream stream = {};
  inflateInit2(&stream, 15 + 16);
  stream.next_in = const_cast<uint8_t*>(packed.data());
  stream.avail_in = static_cast<unsigned>(packed.size());
  for (int status = Z_OK; status != Z_STREAM_END;) {
    stream.next_out = block->data();
    stream.avail_out = static_cast<unsigned>(block->size());
    status = inflate(&stream, Z_NO_FLUSH);
    Require(status == Z_OK || status == Z_STREAM_END, "zlib");
    take(block->data(), block->size() - stream.avail_out);
  }
  inflateEnd(&stream);
}

template <typename TakeBlock>
void Ours(const Data& packed, Data* block, TakeBlock take) {
  auto memory = std::make_unique<tfr::MemorySource>(tfr::Bytes{packed.data(), packed.size()}, nullptr);
  const auto source = tfr::NewDecompressingSource(std::move(memory), *tfr::FindCompression("GZIP"));
  for (;;) {
    size_t got = 0;
    Require(source->Read(block->data(), block->size(), &got), "our reader");
    if (got == 0) return;
    take(block->data(), got);
  }
}

template <typename Inflate>
void Row(const Data& data, const char* how, Inflate inflate) {
  Data all;
  inflate([&](const uint8_t* p, size_t size) { all.insert(all.end(), p, p + size); });
  Require(all == data, how);
  measure::Row("GZIP", how, "MB/s", 1e-6 * static_cast<double>(data.size()),
               [&] { inflate([](const uint8_t* p, size_t) { measure::Keep(p); }); });
}

}  // namespace

int main(int argc, char** argv) {
  const Data data = measure::ReadFile(measure::Arguments(argc, argv, 1).front());
  const Data packed = Pack(data);
  Data block(kBlock), whole(data.size());
  Row(data, "this project's source", [&](auto take) { Ours(packed, &block, take); });
  Row(data, "ISA-L alone", [&](auto take) { Isal(packed, &block, take); });
  Row(data, "zlib alone", [&](auto take) { Zlib(packed, &block, take); });
  libdeflate_decompressor* const made = libdeflate_alloc_decompressor();
  Row(data, "libdeflate, whole", [&](auto take) {
    size_t got = 0;
    Require(libdeflate_gzip_decompress(made, packed.data(), packed.size(), whole.data(), whole.size(), &got) ==
                LIBDEFLATE_SUCCESS,
            "libdeflate");
    take(whole.data(), got);
  });
  libdeflate_free_decompressor(made);
}
