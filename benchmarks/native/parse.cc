// Records to columns on one core, without Python and without files, and the wire walk alone; see measure.h,
// csrc/parse/parse.h.
//
// FILE holds uncompressed TFRecords of Examples or SequenceExamples; features are inferred, batches have 1,024 records.
// "wire walk" goes over tags and lengths down to each feature's list, with csrc/wire alone: no keys, no values. The
// columns are compared with those of other batches (one record each) before anything is timed.

#include "parse/parse.h"

#include <cstdlib>
#include <string>
#include <vector>

#include "base/endian.h"
#include "measure.h"
#include "parse/survey.h"
#include "wire/wire.h"

namespace {

using tfr::Bytes;

std::vector<tfr::FeatureSpec> Specs(const std::vector<tfr::KeySummary>& keys, size_t records, bool lists) {
  std::vector<tfr::FeatureSpec> specs;
  for (const tfr::KeySummary& key : keys) {
    if (key.kind == tfr::Kind::kNone) continue;
    tfr::FeatureSpec spec;
    spec.key = key.key;
    spec.type = key.kind == tfr::Kind::kBytes   ? tfr::ElementType::kBytes
                : key.kind == tfr::Kind::kFloat ? tfr::ElementType::kFloat32
                                                : tfr::ElementType::kInt64;
    const bool fixed = key.fewest == key.most && key.most > 0 && key.records == records;
    spec.layout = !fixed ? tfr::Layout::kList : lists ? tfr::Layout::kPadded : tfr::Layout::kFixed;
    spec.elements = fixed ? key.most : 1;
    spec.shape = {static_cast<int64_t>(spec.elements)};
    specs.push_back(spec);
  }
  return specs;
}

// Of all values in order, whatever the batches are. Padding depends on the batch, so padded columns give their size.
void AddTo(uint64_t* sums, const tfr::Columns& columns, const tfr::Schema& schema) {
  for (size_t f = 0; f < schema.size(); ++f) {
    const tfr::FeatureSpec& spec = schema.features()[f];
    const tfr::Block& values = columns.columns[f].values;
    uint64_t sum = sums[f];
    if (spec.layout == tfr::Layout::kPadded) {
      continue;
    } else if (spec.type == tfr::ElementType::kBytes) {
      for (size_t i = 0; i < values.count; ++i) sum = sum * 31 + values.as<Bytes>()[i].size;
    } else {
      const size_t size = tfr::ItemSize(spec.type);
      for (size_t i = 0; i < values.count * size; i += 4) sum = sum * 31 + tfr::LoadLE32(values.data + i);
    }
    sums[f] = sum;
  }
}

tfr::SchemaPtr Compile(std::vector<tfr::FeatureSpec> specs) {
  tfr::SchemaPtr schema;
  measure::Require(tfr::Schema::Compile(std::move(specs), &schema), "schema");
  return schema;
}

// Calls `inside` with the value of each length-delimited field 1 to `most` of the message; false if it is malformed.
template <typename Inside>
bool Walk(const uint8_t* p, const uint8_t* end, uint32_t most, Inside inside) {
  while (p < end) {
    uint32_t tag;
    size_t size;
    if ((p = tfr::ReadTag(p, end, &tag)) == nullptr) return false;
    if ((tag & 7) != tfr::kWireDelimited || tag >> 3 > most) {
      if ((p = tfr::SkipField(p, end, tag)) == nullptr) return false;
      continue;
    }
    if ((p = tfr::ReadLength(p, end, &size)) == nullptr || !inside(tag >> 3, p, p + size)) return false;
    p += size;
  }
  return true;
}

// Counts the features (context or not) and the feature lists of a record.
bool CountEntries(Bytes record, size_t* entries) {
  return Walk(record.data, record.data + record.size, 2, [&](uint32_t, const uint8_t* p, const uint8_t* end) {
    return Walk(p, end, 1, [&](uint32_t, const uint8_t* p, const uint8_t* end) {
      ++*entries;
      return Walk(p, end, 2, [&](uint32_t field, const uint8_t* p, const uint8_t* end) {
        return field == 1 || Walk(p, end, 3, [](uint32_t, const uint8_t* p, const uint8_t*) {
                 measure::Keep(p);
                 return true;
               });
      });
    });
  });
}

struct File {
  std::vector<uint8_t> data;
  std::vector<tfr::RecordBatch> batches, singles;
  size_t payload = 0;
};

File Load(const std::string& path) {
  constexpr size_t kBatch = 1024;
  File file{measure::ReadFile(path), std::vector<tfr::RecordBatch>(1), {}};
  for (size_t at = 0; at + 16 <= file.data.size();) {
    const uint64_t size = tfr::LoadLE64(&file.data[at]);
    if (size > file.data.size() - at - 16) break;
    const Bytes record{&file.data[at + 12], size};
    if (file.batches.back().size() == kBatch) file.batches.emplace_back();
    file.batches.back().records.push_back(record);
    file.singles.emplace_back().records.push_back(record);
    file.payload += size;
    at += size + 16;
  }
  return file;
}

}  // namespace

int main(int argc, char** argv) {
  const File file = Load(measure::Arguments(argc, argv, 1).front());
  tfr::FeatureSurvey scanner;
  for (const auto& batch : file.batches) measure::Require(scanner.Add(batch), "scanning");
  const bool sequences = scanner.has_lists();
  const tfr::SchemaPtr first = Compile(Specs(scanner.features(), scanner.records(), false));
  const tfr::SchemaPtr second = Compile(Specs(scanner.lists(), scanner.records(), true));
  tfr::ExamplePlan plan(first);
  tfr::SequencePlan sequence_plan(first, second);
  const auto parse = [&](const std::vector<tfr::RecordBatch>& batches, uint64_t* sums) {
    for (const auto& batch : batches) {
      tfr::SequenceColumns columns;
      measure::Require(
          sequences ? ParseBatch(batch, sequence_plan, 1, &columns) : ParseBatch(batch, plan, 1, &columns.context),
          "parsing");
      if (sums == nullptr) continue;
      AddTo(sums, columns.context, *first);
      if (sequences) AddTo(sums + first->size(), columns.lists, *second);
    }
  };
  std::vector<uint64_t> sums(first->size() + second->size()), expected(sums);
  parse(file.batches, sums.data());
  parse(file.singles, expected.data());
  measure::Require(sums == expected, "the columns of batches and of single records differ");
  size_t entries = 0, wanted = 0;
  for (const auto& keys : {scanner.features(), scanner.lists()}) {
    for (const tfr::KeySummary& key : keys) wanted += key.records;
  }
  const auto walk = [&] {
    entries = 0;
    for (const auto& batch : file.batches) {
      for (const Bytes& record : batch.records) measure::Require(CountEntries(record, &entries), "walking");
    }
  };
  walk();
  measure::Require(entries == wanted, "the number of features and feature lists");
  const double megabytes = 1e-6 * static_cast<double>(file.payload);
  measure::Row("records", "wire walk, no values", "M records/s", 1e-6 * static_cast<double>(scanner.records()), walk);
  measure::Row("records", "parse to columns", "MB/s", megabytes, [&] { parse(file.batches, nullptr); });
}
