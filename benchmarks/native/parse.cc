// How fast records become columns on one core, without Python and without files: the parser alone.
//
//   g++ -std=c++20 -O3 -Icsrc benchmarks/native/parse.cc csrc/{base,wire,varint,parse}/*.cc -pthread -o parse_bench
//   ./parse_bench FILE [seconds] [batch]     FILE: uncompressed TFRecords that hold Examples or SequenceExamples
//
// Features are inferred. Prints the best batch-to-batch rate in bytes of payload, so that two builds can be
// compared in one sitting; the checksum of the columns is printed beside it, so that a wrong answer shows.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/endian.h"
#include "parse/parse.h"
#include "parse/scan.h"

namespace {

using tfr::Bytes;

std::vector<uint8_t> ReadFile(const char* path) {
  std::vector<uint8_t> data;
  FILE* file = std::fopen(path, "rb");
  if (file == nullptr) std::exit((std::perror(path), 1));
  uint8_t block[1 << 16];
  for (size_t n; (n = std::fread(block, 1, sizeof block, file)) > 0;) data.insert(data.end(), block, block + n);
  std::fclose(file);
  return data;
}

std::vector<tfr::FeatureSpec> Specs(const std::vector<tfr::KeySummary>& keys, size_t records, bool lists) {
  std::vector<tfr::FeatureSpec> specs;
  for (const tfr::KeySummary& key : keys) {
    if (key.kind == tfr::Kind::kNone) continue;
    tfr::FeatureSpec spec;
    spec.key = key.key;
    spec.type = key.kind == tfr::Kind::kBytes   ? tfr::ColumnType::kBytes
                : key.kind == tfr::Kind::kFloat ? tfr::ColumnType::kFloat32
                                                : tfr::ColumnType::kInt64;
    const bool fixed = key.fewest == key.most && key.most > 0 && key.records == records;
    spec.layout = !fixed ? tfr::Layout::kList : lists ? tfr::Layout::kPadded : tfr::Layout::kFixed;
    spec.elements = fixed ? key.most : 1;
    spec.shape = {static_cast<int64_t>(spec.elements)};
    specs.push_back(spec);
  }
  return specs;
}

uint64_t Checksum(const tfr::Columns& columns, const tfr::Schema& schema) {
  uint64_t sum = 0;
  for (size_t f = 0; f < schema.size(); ++f) {
    const tfr::Block& values = columns.columns[f].values;
    if (schema.features()[f].type == tfr::ColumnType::kBytes) {
      for (size_t i = 0; i < values.count; ++i) sum += values.as<Bytes>()[i].size;
    } else {
      const size_t size = tfr::ItemSize(schema.features()[f].type);
      for (size_t i = 0; i < values.count * size; i += 4) sum = sum * 31 + tfr::LoadLE32(values.data + i);
    }
  }
  return sum;
}

tfr::SchemaPtr Compile(std::vector<tfr::FeatureSpec> specs) {
  tfr::SchemaPtr schema;
  const tfr::Status status = tfr::Schema::Compile(std::move(specs), &schema);
  if (!status.ok()) std::exit((std::fprintf(stderr, "%s\n", status.ToString().c_str()), 1));
  return schema;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: %s FILE [seconds] [batch]\n", argv[0]), 2;
  const double seconds = argc > 2 ? std::atof(argv[2]) : 1.0;
  const size_t batch_size = argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 1024;
  const std::vector<uint8_t> data = ReadFile(argv[1]);
  std::vector<tfr::RecordBatch> batches(1);
  size_t payload = 0;
  for (size_t at = 0; at + 16 <= data.size();) {
    const uint64_t size = tfr::LoadLE64(&data[at]);
    if (size > data.size() - at - 16) break;
    if (batches.back().size() == batch_size) batches.emplace_back();
    batches.back().records.push_back({&data[at + 12], size});
    payload += size;
    at += size + 16;
  }
  tfr::FeatureScanner scanner;
  for (const auto& batch : batches) {
    const tfr::Status status = scanner.Add(batch);
    if (!status.ok()) return std::fprintf(stderr, "%s\n", status.ToString().c_str()), 1;
  }
  const bool sequences = scanner.has_lists();
  const tfr::SchemaPtr first = Compile(Specs(scanner.features(), scanner.records(), false));
  const tfr::SchemaPtr second = Compile(Specs(scanner.lists(), scanner.records(), true));
  tfr::ExamplePlan plan(first);
  tfr::SequencePlan sequence_plan(first, second);
  uint64_t sum = 0;
  double best = 1e9, spent = 0;
  for (bool once = true; spent < seconds; once = false) {
    const auto start = std::chrono::steady_clock::now();
    for (const auto& batch : batches) {
      tfr::Columns columns, lists;
      const tfr::Status status = sequences ? ParseSequenceExamples(batch, sequence_plan, 1, &columns, &lists)
                                           : ParseExamples(batch, plan, 1, &columns);
      if (!status.ok()) return std::fprintf(stderr, "%s\n", status.ToString().c_str()), 1;
      if (once) sum += Checksum(columns, *first) + (sequences ? Checksum(lists, *second) : 0);
    }
    const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    spent += took;
    if (!once || took > seconds) best = std::min(best, took);
  }
  std::printf("%zu records, %zu + %zu features: %.0f MB/s, %.2f M records/s, checksum %016lx\n", scanner.records(),
              first->size(), second->size(), payload / best / 1e6, scanner.records() / best / 1e6, sum);
  return 0;
}
