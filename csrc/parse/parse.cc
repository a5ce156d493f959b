// Splits a batch into ranges of rows, parses them on threads, and joins the parts; see parse.h.
//
// The thread protocol: the calling thread makes the arrays that rows are written to beforehand, and each range writes
// its own rows only. Lists grow in the parser that a range has to itself, and are joined by the calling thread after
// all others have ended. No lock is needed: only the arrays are shared.

#include "parse/parse.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <new>
#include <utility>

#include "base/parallel.h"
#include "parse/example_parser.h"
#include "parse/fixed_arrays.h"
#include "parse/padding.h"
#include "parse/ranges.h"
#include "parse/sequence_parser.h"

namespace tfr {
namespace {

// A thread takes some 20 microseconds to wake, in which one core parses about this much.
constexpr size_t kMinBytesPerThread = 128 << 10;
// A crew, which has other work too, shares batches from these sizes on. Joining lists costs a copy of their values,
// which has to be worth it.
constexpr size_t kMinBytesShared = 1 << 20;
constexpr size_t kMinBytesOfListsShared = 4 << 20;

// Several for each, so that a thread that comes late finds something left to do.
size_t PartsFor(const Crew& crew) { return crew.size() > 1 ? 2 * crew.size() : 1; }

// Makes the arrays that all ranges write, and the targets that point to them; those of padded feature lists are left to
// PreparePadded.
Status Prepare(const Schema& schema, MapType map, size_t rows, Columns* columns, std::vector<ColumnTarget>* targets) {
  const bool lists = map == MapType::kFeatureLists;
  columns->rows = rows;
  columns->columns.assign(schema.size(), Column{});
  targets->assign(schema.size(), ColumnTarget{});
  TFR_RETURN_IF_ERROR(AllocateFixed(schema, columns, targets));
  for (size_t f = 0; f < schema.size(); ++f) {
    Column& column = columns->columns[f];
    ColumnTarget& target = (*targets)[f];
    if (schema.features()[f].presence) {
      if (!AllocateBlock(rows, 1, f, &column.present)) return NoMemory();
      std::memset(column.present.data, schema.features()[f].layout == Layout::kFixed, rows);
      target.present = column.present.data;
    }
    if (schema.features()[f].layout == Layout::kFixed) continue;
    if (lists && schema.features()[f].layout == Layout::kPadded) continue;
    Block& ends = lists ? column.row_steps : column.splits;
    if (!AllocateBlock(rows + 1, sizeof(int64_t), f, &ends)) return NoMemory();
    ends.as<int64_t>()[0] = 0;
    (lists ? target.row_steps : target.splits) = ends.as<int64_t>();
  }
  return {};
}

// Padded feature lists get room for rows as long as the longest of the last batch, so that most rows are written once,
// where they stay. One long row could make that expensive, so the room is limited by the bytes that there are to parse.
Status PreparePadded(const RecordBatch& batch, const SequencePlan& plan, Columns* lists,
                     std::vector<ColumnTarget>* targets) {
  constexpr size_t kMostGrowth = 8;
  const size_t rows = lists->rows;
  const size_t most_bytes = kMostGrowth * CountBytes(batch);
  for (size_t f = 0; f < plan.lists->size(); ++f) {
    const FeatureSpec& spec = plan.lists->features()[f];
    if (spec.layout != Layout::kPadded) continue;
    Column& column = lists->columns[f];
    ColumnTarget& target = (*targets)[f];
    if (!AllocateBlock(rows, sizeof(int64_t), f, &column.lengths)) return NoMemory();
    target.lengths = column.lengths.as<int64_t>();
    const size_t stride = plan.longest[f].load(std::memory_order_relaxed);
    size_t values;
    if (rows < 2 || stride == 0 || __builtin_mul_overflow(stride, spec.elements, &values) ||
        __builtin_mul_overflow(values, rows, &values) || values > most_bytes / ItemSize(spec.type)) {
      continue;
    }
    if (!AllocateBlock(values, ItemSize(spec.type), f, &column.values)) return NoMemory();
    target.padded = column.values.data;
    target.stride = stride;
  }
  return {};
}

// Ends counted within each range become ends counted from the start of the batch.
void Rebase(const std::vector<Range>& ranges, int64_t* ends) {
  for (size_t part = 1; part < ranges.size(); ++part) {
    const int64_t base = ends[ranges[part].first];
    for (size_t row = ranges[part].first; row < ranges[part].last; ++row) ends[row + 1] += base;
  }
}

// True if the parts already fill the block, one after the other.
bool AreJoined(const std::vector<Growing*>& parts, size_t item_size, const Block& block) {
  const uint8_t* end = block.data;
  if (end == nullptr) return false;
  for (const Growing* part : parts) {
    if (part->size() == 0) continue;
    if (part->data() != end) return false;
    end += part->size() * item_size;
  }
  return end == block.data + block.count * item_size;
}

// The parts, end to end. One part is handed over as it is.
bool Join(const std::vector<Growing*>& parts, size_t item_size, Block* given) {
  if (parts.size() == 1) return parts[0]->Release(given);
  if (AreJoined(parts, item_size, *given)) return true;
  Block joined;
  size_t total = 0;
  for (const Growing* part : parts) total += part->size();
  if (!AllocateBlock(total, item_size, 0, &joined)) return false;
  uint8_t* out = joined.data;
  for (const Growing* part : parts) {
    if (part->size() > 0) std::memcpy(out, part->data(), part->size() * item_size);
    out += part->size() * item_size;
  }
  *given = std::move(joined);
  return true;
}

size_t Longest(const int64_t* ends, size_t rows) {
  int64_t longest = 0;
  for (size_t row = 0; row < rows; ++row) longest = std::max(longest, ends[row + 1] - ends[row]);
  return static_cast<size_t>(longest);
}

// kPadded: from values and ends of rows (in values) to [rows, longest] of values.
Status Pad(const Schema& schema, size_t f, const int64_t* ends, size_t rows, Block* values, size_t* longest) {
  const FeatureSpec& spec = schema.features()[f];
  const size_t item_size = ItemSize(spec.type);
  *longest = Longest(ends, rows);
  size_t count;
  if (__builtin_mul_overflow(rows, *longest, &count)) return NoMemory();
  if (count == values->count) return {};  // every row is as long as the longest
  Block padded;
  if (!AllocateBlock(count, item_size, f, &padded)) return NoMemory();
  const Padding padding(schema, f);
  for (size_t row = 0; row < rows; ++row) {
    const auto size = static_cast<size_t>(ends[row + 1] - ends[row]);
    uint8_t* out = padded.data + row * *longest * item_size;
    if (size > 0) std::memcpy(out, values->data + static_cast<size_t>(ends[row]) * item_size, size * item_size);
    padding.Fill(out + size * item_size, *longest - size);
  }
  *values = std::move(padded);
  return {};
}

bool HasStringDefault(const Schema& schema) {
  return std::any_of(schema.features().begin(), schema.features().end(),
                     [](const FeatureSpec& spec) { return spec.has_strings() && !spec.default_strings.empty(); });
}

bool HasStrings(const Schema& schema) {
  return std::any_of(schema.features().begin(), schema.features().end(),
                     [](const FeatureSpec& spec) { return spec.has_strings(); });
}

void KeepOwners(const RecordBatch& batch, const SchemaPtr& schema, Columns* columns) {
  if (!HasStrings(*schema)) return;
  auto owners = std::make_shared<std::vector<Owner>>(batch.owners);
  if (HasStringDefault(*schema)) owners->push_back(schema);
  columns->owners = std::move(owners);
}

// Joins what the ranges gave for Examples or contexts. `values_of(part, f)` is a part's list.
Status Finish(const Schema& schema, const std::vector<Range>& ranges,
              const std::function<Growing&(size_t, size_t)>& values_of, Columns* columns) {
  for (size_t f = 0; f < schema.size(); ++f) {
    const FeatureSpec& spec = schema.features()[f];
    if (spec.layout == Layout::kFixed) continue;
    Column& column = columns->columns[f];
    auto* ends = column.splits.as<int64_t>();
    Rebase(ranges, ends);
    std::vector<Growing*> parts;
    for (size_t part = 0; part < ranges.size(); ++part) parts.push_back(&values_of(part, f));
    if (!Join(parts, ItemSize(spec.type), &column.values)) return NoMemory();
    if (spec.layout == Layout::kPadded) {
      TFR_RETURN_IF_ERROR(Pad(schema, f, ends, columns->rows, &column.values, &column.longest));
      column.longest /= spec.elements;
      column.splits = {};
    } else {
      column.longest = Longest(ends, columns->rows);
    }
  }
  return {};
}

// Puts the rows of a padded feature list, some in `column.values` and some in the parts' lists, into a new array that
// is as wide as the longest of them.
Status Rearrange(const Schema& schema, size_t f, const std::vector<Range>& ranges, const std::vector<Growing*>& parts,
                 const ColumnTarget& target, Column* column) {
  const FeatureSpec& spec = schema.features()[f];
  const size_t step_bytes = spec.elements * ItemSize(spec.type);
  const size_t rows = ranges.back().last;
  size_t count;
  if (__builtin_mul_overflow(column->longest, spec.elements, &count) || __builtin_mul_overflow(count, rows, &count)) {
    return NoMemory();
  }
  Block values;
  if (!AllocateBlock(count, ItemSize(spec.type), f, &values)) return NoMemory();
  const Padding padding(schema, f);
  uint8_t* out = values.data;
  for (size_t part = 0; part < ranges.size(); ++part) {
    const uint8_t* listed = parts[part]->data();
    for (size_t row = ranges[part].first; row < ranges[part].last; ++row, out += column->longest * step_bytes) {
      const auto steps = static_cast<size_t>(target.lengths[row]);
      const bool in_list = steps > target.stride;
      const uint8_t* const from = in_list ? listed : target.padded + row * target.stride * step_bytes;
      if (steps > 0) std::memcpy(out, from, steps * step_bytes);
      if (in_list) listed += steps * step_bytes;
      padding.Fill(out + steps * step_bytes, (column->longest - steps) * spec.elements);
    }
    parts[part]->Clear();
  }
  column->values = std::move(values);
  return {};
}

Status FinishPadded(SequencePlan& plan, size_t f, const std::vector<Range>& ranges, const std::vector<Growing*>& parts,
                    const ColumnTarget& target, Columns* columns) {
  Column& column = columns->columns[f];
  const FeatureSpec& spec = plan.lists->features()[f];
  int64_t longest = 0, all = 0;
  for (size_t row = 0; row < columns->rows; ++row) {
    longest = std::max(longest, target.lengths[row]);
    all += target.lengths[row];
  }
  column.longest = static_cast<size_t>(longest);
  plan.longest[f].store(column.longest, std::memory_order_relaxed);
  if (target.padded != nullptr && column.longest == target.stride) return {};
  if (target.padded == nullptr && static_cast<size_t>(all) == columns->rows * column.longest) {
    return Join(parts, ItemSize(spec.type), &column.values) ? Status() : NoMemory();
  }
  return Rearrange(*plan.lists, f, ranges, parts, target, &column);
}

// Like Finish, for feature lists, whose parts have steps as well.
Status FinishLists(SequencePlan& plan, const std::vector<Range>& ranges,
                   const std::vector<std::unique_ptr<SequenceParser>>& parsers,
                   const std::vector<ColumnTarget>& targets, Columns* columns) {
  const Schema& schema = *plan.lists;
  for (size_t f = 0; f < schema.size(); ++f) {
    const FeatureSpec& spec = schema.features()[f];
    Column& column = columns->columns[f];
    std::vector<Growing*> values;
    for (const auto& parser : parsers) values.push_back(&parser->lists().values(f));
    if (spec.layout == Layout::kPadded) {
      TFR_RETURN_IF_ERROR(FinishPadded(plan, f, ranges, values, targets[f], columns));
      continue;
    }
    auto* row_steps = column.row_steps.as<int64_t>();
    Rebase(ranges, row_steps);
    const auto steps = static_cast<size_t>(row_steps[columns->rows]);
    if (!AllocateBlock(steps + 1, sizeof(int64_t), f, &column.splits)) return NoMemory();
    auto* splits = column.splits.as<int64_t>();
    int64_t base = 0;
    *splits++ = 0;
    for (const auto& parser : parsers) {
      const Growing& ends = parser->lists().steps(f);
      for (size_t step = 0; step < ends.size(); ++step) {
        *splits++ = base + reinterpret_cast<const int64_t*>(ends.data())[step];
      }
      base += static_cast<int64_t>(parser->lists().values(f).size());
    }
    if (!Join(values, ItemSize(spec.type), &column.values)) return NoMemory();
    column.longest = Longest(column.splits.as<int64_t>(), steps);
    column.longest_row = Longest(row_steps, columns->rows);
  }
  return {};
}

bool HasLists(const Schema& schema) {
  return std::any_of(schema.features().begin(), schema.features().end(),
                     [](const FeatureSpec& spec) { return spec.layout != Layout::kFixed; });
}

using ExampleParsers = std::vector<std::unique_ptr<ExampleParser>>;

// Counting the values of lists costs a walk over the keys, and saves joining what the threads made, which costs more
// than making it if lists are long. Judged by the last batch, roughly in nanoseconds.
bool IsWorthCounting(const ExamplePlan& plan, const ExampleParsers& parsers) {
  constexpr size_t kBytesPerKey = 40;  // walking over a key costs as much as joining this many bytes
  const size_t bytes = plan.list_bytes.load(std::memory_order_relaxed);
  return parsers.size() > 1 && bytes > kBytesPerKey * parsers[0]->known_keys();
}

// Makes the columns of lists and lets each range's lists grow in their final place. A list that was counted wrongly
// grows elsewhere, and is joined.
Status PlaceLists(const RecordBatch& batch, const Schema& schema, const std::vector<Range>& ranges, Crew* crew,
                  ExampleParsers& parsers, Columns* columns) {
  std::vector<std::vector<size_t>> counts(ranges.size());
  std::atomic<bool> counted{true};
  crew->Share(ranges.size(), [&](size_t part) {
    try {
      if (parsers[part]->CountLists(batch.records.data(), ranges[part].first, ranges[part].last, &counts[part])) return;
    } catch (const std::bad_alloc&) {
    }
    counted = false;
  });
  if (!counted) return {};
  for (size_t f = 0; f < schema.size(); ++f) {
    if (schema.features()[f].layout == Layout::kFixed) continue;
    size_t total = 0;
    for (const std::vector<size_t>& part : counts) total += part[f];
    if (total == 0) continue;
    const size_t item_size = ItemSize(schema.features()[f].type);
    Block& values = columns->columns[f].values;
    if (!AllocateBlock(total, item_size, f, &values)) return NoMemory();
    uint8_t* data = values.data;
    for (size_t part = 0; part < ranges.size(); ++part) {
      parsers[part]->values(f).Place(data, counts[part][f]);
      data += counts[part][f] * item_size;
    }
  }
  return {};
}

// For IsWorthCounting of the next batch.
void NoteListBytes(const Columns& columns, ExamplePlan* plan) {
  size_t bytes = 0;
  for (size_t f = 0; f < plan->schema->size(); ++f) {
    const FeatureSpec& spec = plan->schema->features()[f];
    if (spec.layout != Layout::kFixed) bytes += columns.columns[f].values.count * ItemSize(spec.type);
  }
  plan->list_bytes.store(bytes / std::max<size_t>(1, columns.rows), std::memory_order_relaxed);
}

Status ParseRanges(const RecordBatch& batch, ExamplePlan& plan, const std::vector<Range>& ranges, Crew* crew,
                   Columns* columns) {
  std::vector<ColumnTarget> targets;
  TFR_RETURN_IF_ERROR(Prepare(*plan.schema, MapType::kFeatures, batch.size(), columns, &targets));
  ExampleParsers parsers;
  for (size_t part = 0; part < ranges.size(); ++part) parsers.push_back(plan.parsers.Take());
  Status status;
  if (IsWorthCounting(plan, parsers)) status = PlaceLists(batch, *plan.schema, ranges, crew, parsers, columns);
  if (status.ok()) {
    status = RunRanges(batch, ranges, crew, [&](size_t part, size_t* bad_row) {
      return parsers[part]->ParseRows(batch.records.data(), ranges[part].first, ranges[part].last, targets.data(),
                                      ExampleRules::kBatch, bad_row);
    });
  }
  if (status.ok()) {
    status = Finish(
        *plan.schema, ranges, [&](size_t part, size_t f) -> Growing& { return parsers[part]->values(f); }, columns);
  }
  if (status.ok()) NoteListBytes(*columns, &plan);
  for (auto& parser : parsers) {
    if (status.code() == StatusCode::kOutOfMemory) break;  // it may have learnt half of something
    for (size_t f = 0; f < plan.schema->size(); ++f) parser->values(f).Unplace();
    plan.parsers.GiveBack(std::move(parser));
  }
  if (status.ok()) KeepOwners(batch, plan.schema, columns);
  return status;
}

Status ParseRanges(const RecordBatch& batch, SequencePlan& plan, const std::vector<Range>& ranges, Crew* crew,
                   SequenceColumns* columns) {
  Columns* const context = &columns->context;
  Columns* const lists = &columns->lists;
  TFR_RETURN_IF_ERROR(CheckEmptyBatch(*plan.context, batch.size()));
  std::vector<ColumnTarget> context_targets, list_targets;
  TFR_RETURN_IF_ERROR(Prepare(*plan.context, MapType::kFeatures, batch.size(), context, &context_targets));
  TFR_RETURN_IF_ERROR(Prepare(*plan.lists, MapType::kFeatureLists, batch.size(), lists, &list_targets));
  TFR_RETURN_IF_ERROR(PreparePadded(batch, plan, lists, &list_targets));
  std::vector<std::unique_ptr<SequenceParser>> parsers;
  for (size_t part = 0; part < ranges.size(); ++part) parsers.push_back(plan.parsers.Take());
  Status status = RunRanges(batch, ranges, crew, [&](size_t part, size_t* bad_row) {
    return parsers[part]->ParseRows(batch.records.data(), ranges[part].first, ranges[part].last, context_targets.data(),
                                    list_targets.data(), bad_row);
  });
  if (status.ok()) {
    status = Finish(
        *plan.context, ranges, [&](size_t part, size_t f) -> Growing& { return parsers[part]->context().values(f); },
        context);
  }
  if (status.ok()) status = FinishLists(plan, ranges, parsers, list_targets, lists);
  for (auto& parser : parsers) {
    if (status.code() == StatusCode::kOutOfMemory) break;
    plan.parsers.GiveBack(std::move(parser));
  }
  if (status.ok()) {
    KeepOwners(batch, plan.context, context);
    KeepOwners(batch, plan.lists, lists);
  }
  return status;
}

template <typename Plan>
Status ParseOnThreads(const RecordBatch& batch, Plan& plan, size_t num_threads, typename Plan::Parsed* columns) {
  OwnThreads threads(num_threads);
  return ParseRanges(batch, plan, SplitRows(batch, threads.size(), kMinBytesPerThread), &threads, columns);
}

}  // namespace

Status ParseBatch(const RecordBatch& batch, ExamplePlan& plan, size_t num_threads, Columns* columns) {
  return ParseOnThreads(batch, plan, num_threads, columns);
}

Status ParseBatch(const RecordBatch& batch, SequencePlan& plan, size_t num_threads, SequenceColumns* columns) {
  return ParseOnThreads(batch, plan, num_threads, columns);
}

Status ParseBatch(const RecordBatch& batch, ExamplePlan& plan, Crew* crew, Columns* columns) {
  const size_t least_bytes = HasLists(*plan.schema) ? kMinBytesOfListsShared : kMinBytesShared;
  return ParseRanges(batch, plan, SplitRows(batch, PartsFor(*crew), least_bytes), crew, columns);
}

Status ParseBatch(const RecordBatch& batch, SequencePlan& plan, Crew* crew, SequenceColumns* columns) {
  return ParseRanges(batch, plan, SplitRows(batch, PartsFor(*crew), kMinBytesOfListsShared), crew, columns);
}

}  // namespace tfr
