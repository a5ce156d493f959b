// Indexes in files, and the text form, parsed and printed; see record_index.h.

#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "index/record_index.h"
#include "io/draft.h"
#include "io/sink.h"
#include "io/source.h"

namespace tfr {
namespace {

constexpr size_t kChunkBytes = 1 << 20;
constexpr size_t kMaxLineBytes = 128;  // two numbers of 19 digits, with blanks to spare
constexpr size_t kMaxEntryBytes = 2 * 20;

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

const char* SkipBlanks(const char* at, const char* end) {
  while (at < end && IsBlank(*at)) ++at;
  return at;
}

// The number that starts at `at`; null if none does, or one that is too large.
const char* ParseNumber(const char* at, const char* end, int64_t* number) {
  if (at == end || *at < '0' || *at > '9') return nullptr;
  const auto [rest, error] = std::from_chars(at, end, *number);
  return error == std::errc() ? rest : nullptr;
}

// "offset size", blanks around them allowed. False if it is something else.
bool ParseEntry(const char* at, const char* end, int64_t* offset, int64_t* size) {
  at = ParseNumber(SkipBlanks(at, end), end, offset);
  if (at == nullptr || at == end || !IsBlank(*at)) return false;
  at = ParseNumber(SkipBlanks(at, end), end, size);
  return at != nullptr && SkipBlanks(at, end) == end;
}

std::string Quoted(const char* at, const char* end) {
  constexpr ptrdiff_t kShown = 40;
  std::string text = "\"";
  for (const char* c = at; c < end && c < at + kShown; ++c) text += *c >= ' ' && *c <= '~' ? *c : '?';
  return text + (end - at > kShown ? "…\"" : "\"");
}

class Parser {
 public:
  // Takes a line without its '\n'. Blank lines are skipped.
  Status Line(const char* begin, const char* end) {
    ++line_;
    int64_t offset, size;
    std::string wrong;
    if (!ParseEntry(begin, end, &offset, &size)) {
      if (SkipBlanks(begin, end) == end) return {};
      wrong = "expected \"offset size\", got " + Quoted(begin, end);
    } else {
      wrong = builder_.Add(offset, size);
    }
    return wrong.empty() ? Status() : Status::InvalidArgument("line " + std::to_string(line_) + ": " + wrong);
  }

  // All lines that end in [begin, end); *rest is where the one that does not end there starts.
  Status Lines(const char* begin, const char* end, const char** rest) {
    while (const auto* newline = static_cast<const char*>(std::memchr(begin, '\n', static_cast<size_t>(end - begin)))) {
      TFR_RETURN_IF_ERROR(Line(begin, newline));
      begin = newline + 1;
    }
    *rest = begin;
    return {};
  }

  RecordIndexPtr Finish() { return builder_.Finish(); }

 private:
  IndexBuilder builder_;
  int64_t line_ = 0;
};

Status Load(Source* text, RecordIndexPtr* index) {
  std::vector<char> chunk(kChunkBytes);
  Parser parser;
  size_t held = 0;  // the start of a line whose end is still to come
  while (true) {
    size_t got = 0;
    TFR_RETURN_IF_ERROR(text->Read(reinterpret_cast<uint8_t*>(chunk.data()) + held, chunk.size() - held, &got));
    const char* const end = chunk.data() + held + got;
    const char* rest = chunk.data();
    TFR_RETURN_IF_ERROR(parser.Lines(rest, end, &rest));
    held = static_cast<size_t>(end - rest);
    // A line that is too long is wrong already, wherever it ends.
    if (got == 0 || held > kMaxLineBytes) {
      if (held > 0) TFR_RETURN_IF_ERROR(parser.Line(rest, end));
      if (got == 0) break;
      return Status::InvalidArgument("a line of more than " + std::to_string(kMaxLineBytes) + " bytes");
    }
    std::memmove(chunk.data(), rest, held);
  }
  *index = parser.Finish();
  return {};
}

Status Print(const RecordIndex& index, Sink* sink) {
  if (index.checkpoints()) {
    std::string bytes;
    TFR_RETURN_IF_ERROR(PackIndex(index, &bytes));
    const Bytes part = {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()};
    TFR_RETURN_IF_ERROR(sink->Write(&part, 1));
    return sink->Close();
  }
  std::vector<char> chunk(kChunkBytes);
  char* at = chunk.data();
  char* const end = at + chunk.size();
  for (size_t i = 0; i <= index.size(); ++i) {
    if (i == index.size() || static_cast<size_t>(end - at) < kMaxEntryBytes) {
      const Bytes part = {reinterpret_cast<const uint8_t*>(chunk.data()), static_cast<size_t>(at - chunk.data())};
      TFR_RETURN_IF_ERROR(sink->Write(&part, 1));
      at = chunk.data();
      if (i == index.size()) break;
    }
    at = std::to_chars(at, end, index.offsets()[i]).ptr;
    *at++ = ' ';
    at = std::to_chars(at, end, index.sizes()[i]).ptr;
    *at++ = '\n';
  }
  return sink->Close();
}

}  // namespace

Status LoadIndex(const std::string& path, RecordIndexPtr* index) {
  std::shared_ptr<File> file;
  TFR_RETURN_IF_ERROR(File::Open(path, &file));
  char head[kPackedMagic.size()];
  size_t got = 0;
  if (file->regular()) {
    TFR_RETURN_IF_ERROR(file->ReadFullyAt(0, reinterpret_cast<uint8_t*>(head), sizeof head, &got).WithPath(path));
  }
  if (std::string_view(head, got) != kPackedMagic) {
    FileSource text(std::move(file));
    return Load(&text, index).WithPath(path);
  }
  std::string bytes(static_cast<size_t>(file->opened_size()), '\0');
  TFR_RETURN_IF_ERROR(
      file->ReadFullyAt(0, reinterpret_cast<uint8_t*>(bytes.data()), bytes.size(), &got).WithPath(path));
  return UnpackIndex(std::string_view(bytes).substr(0, got), index).WithPath(path);
}

Status ParseIndex(Bytes bytes, RecordIndexPtr* index) {
  const std::string_view view(reinterpret_cast<const char*>(bytes.data), bytes.size);
  if (view.starts_with(kPackedMagic)) return UnpackIndex(view, index);
  MemorySource source(bytes, nullptr);
  return Load(&source, index);
}

Status SaveIndex(const RecordIndex& index, const std::string& path) {
  Target target;
  TFR_RETURN_IF_ERROR(FindTarget(path, &target));
  const bool replace = !target.draft.empty();
  if (replace) RemoveAbandonedDrafts({target.path});
  const auto mode = replace ? FileSink::Open::kNew : FileSink::Open::kCreate;
  std::unique_ptr<Sink> sink;
  TFR_RETURN_IF_ERROR(FileSink::Create(replace ? target.draft : path, &sink, mode, path));
  Status status = WithoutThrowing([&] { return Print(index, sink.get()); });
  sink.reset();
  if (!replace) return status;
  if (status.ok() && std::rename(target.draft.c_str(), target.path.c_str()) != 0)
    status = Status::Errno(errno, "rename").WithPath(path);
  if (!status.ok()) (void)::unlink(target.draft.c_str());
  return status;
}

}  // namespace tfr
