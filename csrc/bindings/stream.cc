// Options, state and locking of streams; see stream.h.

#include "bindings/stream.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "bindings/bindings.h"
#include "bindings/gil.h"
#include "bindings/python_io.h"

namespace py = pybind11;

namespace tfr {
namespace {

OnCorrupt OnCorruptOf(const std::string& name) {
  if (name == "raise") return OnCorrupt::kRaise;
  if (name == "skip") return OnCorrupt::kSkip;
  if (name == "skip_file") return OnCorrupt::kSkipFile;
  throw py::value_error("on_corrupt is \"raise\", \"skip\" or \"skip_file\", not \"" + name + "\"");
}

// Takes options out of a copy of the dict, so whatever is left was misspelt.
class Taker {
 public:
  explicit Taker(const py::dict& values) : rest_(values.attr("copy")()) {}

  template <typename T>
  T Get(const char* name, T fallback) {
    if (!rest_.contains(name)) return fallback;
    return rest_.attr("pop")(name).template cast<T>();
  }

  void Finish() const {
    for (const auto& item : rest_) throw py::type_error("unknown option " + py::str(item.first).cast<std::string>());
  }

 private:
  py::dict rest_;
};

}  // namespace

SharedStream::Next SharedStream::TakeNext(Delivered* delivered) {
  const Status status = lock_.Run([&] { return stream_.Next(delivered); });
  if (status.ok()) return delivered->at_end() ? Next::kEnd : Next::kDelivered;
  SetPythonError(status);
  switch (status.code()) {
    case StatusCode::kClosed:
    case StatusCode::kOutOfMemory:
      return Next::kFailed;
    default:
      return Next::kFailedAtEnd;
  }
}

StreamState SharedStream::State() {
  StreamState state;
  ThrowIfError(lock_.Run([&] {
    state = stream_.State();
    return Status();
  }));
  return state;
}

std::vector<Sequence::SkippedIn> SharedStream::TakeSkipped() {
  std::vector<Sequence::SkippedIn> skipped;
  (void)lock_.Run([&] {
    skipped = stream_.TakeSkipped();
    return Status();
  });
  return skipped;
}

std::shared_ptr<SharedStream> NewStream(PythonFiles files, StreamOptions options, const StreamState& state,
                                        StreamParser parser) {
  for (const InputFile& file : files.files) {
    if (file.object && !options.fetches) throw py::type_error("objects require `fetches`");
  }
  std::shared_ptr<ParseAhead> ahead;
  if (parser.transform) {
    options.transform = std::move(parser.transform);
  } else {
    ahead = std::make_shared<ParseAhead>();
    options.transform = [ahead](const RecordBatch& batch, Crew* crew, Transformed* made) {
      return ahead->Run(batch, crew, made);
    };
    options.transforms_now = [ahead] { return ahead->Wanted(); };
  }
  auto* made = new SharedStream(std::move(files), options, state, std::move(parser.wrap), std::move(ahead));
  return std::shared_ptr<SharedStream>(made, [](SharedStream* stream) {
    // A thread that was to take a file object's data may have been stopped by the end of the interpreter.
    if (!stream->native() && InterpreterEnds()) return;
    if (PyGILState_Check()) {
      GilReleased no_gil;
      delete stream;
    } else {
      delete stream;
    }
  });
}

// No pattern, no URL, nothing that an encoding would change, and nothing that can't be a path.
bool IsPlainPath(PyObject* file) {
  if (!PyUnicode_CheckExact(file) || !PyUnicode_IS_COMPACT_ASCII(file)) return false;
  const std::string_view path(static_cast<const char*>(PyUnicode_DATA(file)),
                              static_cast<size_t>(PyUnicode_GET_LENGTH(file)));
  bool special = false, colon = false;
  for (const char c : path) {  // no early exit, so that the compiler can use vectors
    special |= (c == '*') | (c == '?') | (c == '[') | (c == '\0');
    colon |= c == ':';
  }
  return !special && !(colon && path.find("://") != path.npos);
}

bool ArePlainPaths(const py::list& files) {
  return std::all_of(files.begin(), files.end(), [](const py::handle& file) { return IsPlainPath(file.ptr()); });
}

PythonFiles FilesOf(const py::sequence& files) {
  PythonFiles made;
  std::vector<InputFile>& inputs = made.files;
  inputs.reserve(files.size());
  const py::str name_key("name");
  const py::str opener_key("opener");
  const py::str object_key("object");
  const py::str part_key("part");
  const py::str stamp_key("stamp");
  const py::str checkpoint_key("checkpoint");
  for (const py::handle& file : files) {
    // Without pybind11's casts: there may be tens of thousands.
    if (PyUnicode_CheckExact(file.ptr()) && PyUnicode_IS_COMPACT_ASCII(file.ptr())) {
      inputs.emplace_back().path = std::make_shared<const std::string>(
          static_cast<const char*>(PyUnicode_DATA(file.ptr())), static_cast<size_t>(PyUnicode_GET_LENGTH(file.ptr())));
      continue;
    }
    if (PyUnicode_Check(file.ptr())) {
      const auto encoded = py::reinterpret_steal<py::bytes>(PyUnicode_EncodeFSDefault(file.ptr()));
      if (!encoded) throw py::error_already_set();
      inputs.emplace_back().path = std::make_shared<const std::string>(encoded);
      continue;
    }
    const py::object name = file.attr(name_key);
    const py::object opener = file.attr(opener_key);
    const py::object object = file.attr(object_key);
    const py::object part = file.attr(part_key);
    const py::object stamp = file.attr(stamp_key);
    if (!PyBytes_Check(name.ptr())) throw py::type_error("a file's name is bytes");
    InputFile& input = inputs.emplace_back();
    input.path = std::make_shared<const std::string>(PyBytes_AS_STRING(name.ptr()),
                                                     static_cast<size_t>(PyBytes_GET_SIZE(name.ptr())));
    if (!opener.is_none()) input.open = OpenerOfPython(opener, made.references);
    if (!part.is_none()) {
      const auto [begin, index, end] = part.cast<std::tuple<int64_t, int64_t, int64_t>>();
      if (begin < 0 || index < 0 || end < begin) throw py::value_error("a part of a file ends before it begins");
      input.part = {{begin, index}, end};
      const py::object checkpoint = file.attr(checkpoint_key);
      if (!checkpoint.is_none()) {
        auto bytes = checkpoint.cast<std::string_view>();
        ThrowIfError(Checkpoints::Read(&bytes, &input.part->checkpoints));
      }
    }
    if (!stamp.is_none()) {
      const auto [bytes, modified] = stamp.cast<std::pair<int64_t, int64_t>>();
      input.stamp = {bytes, modified};
    }
    input.object = RemoteObjectOf(object);
  }
  return made;
}

StreamOptions OptionsOf(const py::dict& values) {
  Taker take(values);
  StreamOptions options;
  const auto compression = take.Get("compression_type", std::optional<std::string>());
  if (compression) options.lane.compression = CompressionNamed(*compression);
  options.lane.verify_data = take.Get("verify_crc", true);
  options.lane.max_record_bytes =
      std::min(take.Get("max_record_bytes", std::optional<uint64_t>()).value_or(kMaxRecordBytes), kMaxRecordBytes);
  options.lane.on_corrupt = OnCorruptOf(take.Get<std::string>("on_corrupt", "raise"));
  options.lane.chunk_bytes = std::max<size_t>(take.Get("chunk_bytes", options.lane.chunk_bytes), 64);
  const auto shard = take.Get("record_shard", std::pair<int64_t, int64_t>(0, 1));
  options.lane.keep_remainder = shard.first;
  options.lane.keep_divisor = shard.second;
  options.sequence.cycle_length = take.Get("cycle_length", options.sequence.cycle_length);
  options.sequence.block_length = std::max<size_t>(take.Get("block_length", options.sequence.block_length), 1);
  options.sequence.num_epochs = take.Get("num_epochs", options.sequence.num_epochs);
  options.sequence.shuffle_files = take.Get("shuffle_files", false);
  options.sequence.seed = options.cutter.seed = take.Get<uint64_t>("seed", 0);
  options.cutter.batch_size = take.Get("batch_size", options.cutter.batch_size);
  options.cutter.drop_remainder = take.Get("drop_remainder", false);
  options.cutter.shuffle_buffer = take.Get("shuffle_buffer", options.cutter.shuffle_buffer);
  options.num_threads = take.Get("num_threads", options.num_threads);
  options.fitting_threads = take.Get("fitting_threads", options.fitting_threads);
  options.caller_helps = take.Get("caller_helps", options.caller_helps);
  options.in_order = take.Get("deterministic", true);
  options.prefetch_bytes = take.Get("prefetch_bytes", options.prefetch_bytes);
  options.fetches = take.Get("fetches", std::shared_ptr<FetchQueue>());
  take.Finish();
  return options;
}

py::dict StateToPython(const StreamState& state) {
  std::vector<std::array<int64_t, 3>> slots, shuffled;
  for (const SequenceState::Slot& slot : state.cutter.sequence.slots) {
    slots.push_back({slot.file, slot.next.offset, slot.next.index});
  }
  for (const RecordPlace& place : state.shuffled) {
    shuffled.push_back({int64_t{place.file}, place.place.offset, place.place.index});
  }
  py::dict values;
  values["epoch"] = state.cutter.sequence.epoch;
  values["next_file"] = state.cutter.sequence.next_file;
  values["cursor"] = state.cutter.sequence.cursor;
  values["visit"] = state.cutter.sequence.visit;
  values["slots"] = slots;
  values["random"] = state.cutter.random;
  values["random_started"] = state.cutter.started;
  values["draining"] = state.cutter.draining;
  values["shuffled"] = shuffled;
  return values;
}

StreamState StateOfPython(const py::dict& values) {
  StreamState state;
  state.cutter.sequence.epoch = values["epoch"].cast<int64_t>();
  state.cutter.sequence.next_file = values["next_file"].cast<uint64_t>();
  state.cutter.sequence.cursor = values["cursor"].cast<uint64_t>();
  state.cutter.sequence.visit = values["visit"].cast<uint64_t>();
  for (const auto& saved : values["slots"].cast<std::vector<std::array<int64_t, 3>>>()) {
    state.cutter.sequence.slots.push_back({saved[0], {saved[1], saved[2]}});
  }
  state.cutter.random = values["random"].cast<uint64_t>();
  state.cutter.started = values["random_started"].cast<bool>();
  state.cutter.draining = values["draining"].cast<bool>();
  for (const auto& saved : values["shuffled"].cast<std::vector<std::array<int64_t, 3>>>()) {
    state.shuffled.push_back({static_cast<uint32_t>(saved[0]), {saved[1], saved[2]}});
  }
  return state;
}

}  // namespace tfr
