// Detection of compression; see open.h.

#include "framing/open.h"

#include <algorithm>
#include <string>
#include <utility>

#include "framing/format.h"

namespace tfr {
namespace {

struct Verdict {
  Compression compression;
  size_t needed = 0;  // if more than given, this many bytes might change the verdict
};

Verdict Judge(const uint8_t* data, size_t size) {
  if (size >= kHeaderBytes && HeaderIsIntact(data)) return {Compression::kNone};
  for (const Codec* codec : Codecs()) {
    if (codec->has_magic != nullptr && codec->has_magic(data, size)) return {Compression(codec)};
  }
  Verdict verdict = {Compression::kNone, kHeaderBytes};
  for (const Codec* codec : Codecs()) {
    if (codec->peek == nullptr) continue;
    uint8_t header[kHeaderBytes];
    const Peeked peeked = codec->peek(data, size, header, sizeof header);
    if (peeked.produced == sizeof header && HeaderIsIntact(header)) return {Compression(codec)};
    if (peeked.needed <= kDetectBytes) verdict.needed = std::max(verdict.needed, peeked.needed);
  }
  return verdict;
}

}  // namespace

Compression DetectCompression(const uint8_t* data, size_t size) { return Judge(data, size).compression; }

size_t BytesToDetect(const uint8_t* data, size_t size) {
  // No magic bytes count before a header could have been seen.
  if (size < kHeaderBytes) return kHeaderBytes - size;
  const size_t needed = Judge(data, size).needed;
  return needed > size ? needed - size : 0;
}

Status OpenFrames(std::unique_ptr<Source> raw, CompressionChoice choice, std::unique_ptr<Source>* frames) {
  if (!choice) {
    std::string head;
    const auto bytes = [&head] { return reinterpret_cast<const uint8_t*>(head.data()); };
    while (const size_t more = BytesToDetect(bytes(), head.size())) {
      uint8_t read[kDetectBytes];
      size_t got = 0;
      TFR_RETURN_IF_ERROR(ReadFully(raw.get(), read, more, &got));
      head.append(reinterpret_cast<const char*>(read), got);
      if (got < more) break;
    }
    choice = DetectCompression(bytes(), head.size());
    raw = std::make_unique<PrefixedSource>(std::move(head), std::move(raw));
  }
  *frames = *choice == Compression::kNone ? std::move(raw) : NewDecompressingSource(std::move(raw), *choice);
  return {};
}

}  // namespace tfr
