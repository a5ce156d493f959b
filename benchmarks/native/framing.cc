// The frame: hopping over headers, checking them, checking data, the reader, the writer; see measure.h, docs/format.md.
//
// Records of one size lie one after the other in 8 MiB of memory. "hop" reads lengths and checks nothing: what no
// reader can do without. GB/s are of framed bytes on one core; hops touch no data, so theirs are numbers of records.
// No file and no other thread takes part.

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>

#include "framing/format.h"
#include "framing/reader.h"
#include "framing/scan.h"
#include "framing/writer.h"
#include "measure.h"

namespace {

using measure::Require;
using tfr::Bytes;

constexpr size_t kTotal = 8 << 20;
constexpr size_t kSizes[] = {58, 600, 100'000};

// Takes bytes, and counts or keeps them.
class Take : public tfr::Sink {
 public:
  explicit Take(std::vector<uint8_t>* kept = nullptr) : kept_(kept) {}
  tfr::Status Write(const Bytes* parts, size_t count) override {
    for (size_t i = 0; i < count; ++i) {
      measure::Keep(parts[i].data);
      if (kept_ != nullptr) kept_->insert(kept_->end(), parts[i].data, parts[i].data + parts[i].size);
    }
    return {};
  }
  tfr::Status Flush() override { return {}; }
  tfr::Status Close() override { return {}; }

 private:
  std::vector<uint8_t>* kept_;
};

std::vector<uint8_t> Frames(size_t size, std::vector<uint8_t>* payload) {
  std::mt19937_64 random(size);
  const size_t count = kTotal / (size + tfr::kFrameBytes);
  payload->resize(count * size);
  for (uint8_t& byte : *payload) byte = static_cast<uint8_t>(random());
  std::vector<uint8_t> frames(count * (size + tfr::kFrameBytes));
  uint8_t* p = frames.data();
  for (size_t i = 0; i < count; ++i, p += size + tfr::kFrameBytes) {
    tfr::StoreHeader(p, size);
    std::memcpy(p + tfr::kHeaderBytes, &(*payload)[i * size], size);
    tfr::StoreFooter(p + tfr::kHeaderBytes + size, p + tfr::kHeaderBytes, size);
  }
  return frames;
}

size_t HopOnly(const std::vector<uint8_t>& frames) {
  size_t count = 0;
  for (size_t at = 0; at + tfr::kFrameBytes <= frames.size(); ++count) {
    at += tfr::RecordLength(&frames[at]) + tfr::kFrameBytes;
  }
  return count;
}

size_t Scan(const std::vector<uint8_t>& frames, bool verify, std::vector<Bytes>* records) {
  records->clear();
  const uint8_t* const end = frames.data() + frames.size();
  const tfr::Hop hop = tfr::HopRecords(frames.data(), end, tfr::kMaxRecordBytes, records);
  Require(hop.next == end && hop.end == tfr::Hop::End::kMore, "the end of the records");
  if (verify) Require(tfr::FirstDamaged(records->data(), records->size()) == records->size(), "the CRC of data");
  return records->size();
}

size_t Read(const std::vector<uint8_t>& frames, tfr::BufferPool* pool) {
  auto source = std::make_unique<tfr::MemorySource>(Bytes{frames.data(), frames.size()}, nullptr);
  tfr::RecordReader reader(std::move(source), pool, {});
  size_t count = 0;
  for (;;) {
    tfr::Chunk chunk;
    Require(reader.Next(&chunk), "reading");
    if (chunk.records.empty()) return count;
    Require(tfr::VerifyChunk(&chunk), "verifying");
    count += chunk.records.size();
  }
}

void Write(const std::vector<Bytes>& records, std::vector<uint8_t>* kept) {
  tfr::RecordWriter writer(std::make_unique<Take>(kept));
  Require(writer.Write(records.data(), records.size()), "writing");
  Require(writer.Close(), "closing");
}

}  // namespace

int main(int argc, char** argv) {
  measure::Arguments(argc, argv, 0);
  for (const size_t size : kSizes) {
    std::vector<uint8_t> payload, written;
    const std::vector<uint8_t> frames = Frames(size, &payload);
    const size_t count = payload.size() / size;
    std::vector<Bytes> records, given;
    for (size_t i = 0; i < count; ++i) given.push_back({&payload[i * size], size});
    tfr::BufferPool pool(64 << 20);
    const std::string name = std::to_string(size) + " B";
    const auto hops = [&](const char* how, auto work) {
      measure::Row(name, how, "M records/s", 1e-6 * static_cast<double>(count), work);
    };
    const auto row = [&](const char* how, auto work) {
      measure::Row(name, how, "GB/s", 1e-9 * static_cast<double>(frames.size()), work);
    };
    Require(HopOnly(frames) == count && Scan(frames, true, &records) == count && Read(frames, &pool) == count, "count");
    const auto same = [](Bytes a, Bytes b) { return a.size == b.size && std::memcmp(a.data, b.data, a.size) == 0; };
    Require(std::equal(records.begin(), records.end(), given.begin(), given.end(), same), "the records' bytes");
    Write(given, &written);
    Require(written == frames, "the written frames");
    hops("hop, nothing checked", [&] { measure::Keep(HopOnly(frames)); });
    hops("hop, headers checked", [&] { measure::Keep(Scan(frames, false, &records)); });
    row("hop, data checked too", [&] { measure::Keep(Scan(frames, true, &records)); });
    row("reader, all checked", [&] { measure::Keep(Read(frames, &pool)); });
    row("writer, to nowhere", [&] { Write(given, nullptr); });
  }
}
