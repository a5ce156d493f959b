// Coverage-guided fuzzing of the parsers: no bytes may make them crash, read outside a record, or hang; and what
// they give must not depend on the number of records in the batch or on what the parser learnt before.
//
//   clang++ -std=c++20 -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -Icsrc
//       tools/fuzz/parse_fuzz.cc csrc/base/{buffer,cpu,parallel,process,status}.cc csrc/{wire,varint,parse}/*.cc
//       -pthread -o parse_fuzz
//   ./parse_fuzz tools/fuzz/corpus/parse
//
// The first byte chooses the schema; the rest is one record, copied to memory of exactly its size.

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "parse/parse.h"
#include "parse/survey.h"

namespace {

using tfr::ElementType;
using tfr::FeatureSpec;
using tfr::Layout;

constexpr int kSchemas = 4;

FeatureSpec Spec(std::string key, ElementType type, Layout layout, std::vector<int64_t> shape, bool absent) {
  FeatureSpec spec;
  spec.key = std::move(key);
  spec.type = type;
  spec.layout = layout;
  spec.shape = std::move(shape);
  for (const int64_t size : spec.shape) spec.elements *= static_cast<size_t>(size);
  spec.may_be_absent = absent;
  return spec;
}

tfr::SchemaPtr MakeSchema(int which, bool lists) {
  std::vector<FeatureSpec> specs;
  const Layout single = lists ? Layout::kPadded : Layout::kFixed;
  if (which == 0) {
    specs = {Spec("a", ElementType::kInt64, single, {}, true), Spec("b", ElementType::kFloat32, single, {}, true),
             Spec("c", ElementType::kBytes, single, {}, true)};
  } else if (which == 1) {
    specs = {Spec("a", ElementType::kInt64, Layout::kList, {}, true),
             Spec("b", ElementType::kFloat32, Layout::kList, {}, true),
             Spec("c", ElementType::kBytes, Layout::kList, {}, true)};
  } else if (which == 2) {
    specs = {Spec("a", ElementType::kInt8, Layout::kPadded, {2}, true),
             Spec("b", ElementType::kFloat16, single, {3}, true), Spec("c", ElementType::kUInt8, single, {5}, true)};
  } else {
    specs = {Spec("a", ElementType::kBool, single, {2}, true),
             Spec("b", ElementType::kFloat64, Layout::kList, {}, true),
             Spec("", ElementType::kInt64, single, {}, true)};
  }
  if (!lists) {  // defaults, so that a record without the feature is not an error
    for (FeatureSpec& spec : specs) {
      if (spec.layout != Layout::kFixed) continue;
      if (spec.type == ElementType::kBytes) {
        spec.default_strings.assign(spec.elements, "default");
      } else {
        spec.default_values.assign(spec.elements * tfr::ItemSize(spec.type), 1);
      }
    }
  }
  tfr::SchemaPtr schema;
  if (!tfr::Schema::Compile(std::move(specs), &schema).ok()) std::abort();
  return schema;
}

// The bytes of the row that is `row` of `rows` of equal records.
std::string Digest(const tfr::Schema& schema, const tfr::Columns& columns, size_t row) {
  std::string digest;
  for (size_t f = 0; f < schema.size(); ++f) {
    const tfr::Column& column = columns.columns[f];
    const FeatureSpec& spec = schema.features()[f];
    size_t first = 0, last = column.values.count;
    if (spec.layout == Layout::kList && column.row_steps.data) {
      const int64_t* steps = column.row_steps.as<int64_t>();
      first = static_cast<size_t>(column.splits.as<int64_t>()[steps[row]]);
      last = static_cast<size_t>(column.splits.as<int64_t>()[steps[row + 1]]);
    } else if (spec.layout == Layout::kList) {
      first = static_cast<size_t>(column.splits.as<int64_t>()[row]);
      last = static_cast<size_t>(column.splits.as<int64_t>()[row + 1]);
    } else {
      const size_t a_row = last / columns.rows;
      first = row * a_row;
      last = first + a_row;
    }
    for (size_t i = first; i < last; ++i) {
      if (spec.type == ElementType::kBytes) {
        const tfr::Bytes& bytes = column.values.as<tfr::Bytes>()[i];
        digest.append(reinterpret_cast<const char*>(bytes.data), bytes.size);
      } else {
        const size_t size = tfr::ItemSize(spec.type);
        digest.append(reinterpret_cast<const char*>(column.values.data + i * size), size);
      }
    }
    digest += '|';
  }
  return digest;
}

void Check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  static std::vector<std::unique_ptr<tfr::ExamplePlan>> examples;
  static std::vector<std::unique_ptr<tfr::SequencePlan>> sequences;
  if (examples.empty()) {
    for (int i = 0; i < kSchemas; ++i) {
      examples.push_back(std::make_unique<tfr::ExamplePlan>(MakeSchema(i, false)));
      sequences.push_back(std::make_unique<tfr::SequencePlan>(MakeSchema(i, false), MakeSchema(i, true)));
    }
  }
  const size_t which = data[0] % kSchemas;
  // malloc, so that a read one byte after the record is noticed
  std::unique_ptr<uint8_t, decltype(&std::free)> record(static_cast<uint8_t*>(std::malloc(size - 1)), &std::free);
  std::memcpy(record.get(), data + 1, size - 1);
  tfr::RecordBatch one, three;
  one.records = {{record.get(), size - 1}};
  three.records.assign(3, one.records[0]);

  tfr::ExamplePlan fresh(examples[which]->schema);
  tfr::Columns a, b;
  const tfr::Status first = ParseBatch(one, fresh, 1, &a);
  const tfr::Status again = ParseBatch(three, *examples[which], 1, &b);
  Check(first.ok() == again.ok());
  if (first.ok()) {
    for (size_t row = 0; row < 3; ++row) Check(Digest(*fresh.schema, a, 0) == Digest(*fresh.schema, b, row));
  }
  tfr::SequencePlan fresh_sequence(sequences[which]->context, sequences[which]->lists);
  tfr::SequenceColumns c, d;
  const tfr::Status third = ParseBatch(one, fresh_sequence, 1, &c);
  const tfr::Status fourth = ParseBatch(three, *sequences[which], 1, &d);
  Check(third.ok() == fourth.ok());
  if (third.ok()) {
    const tfr::Schema& lists = *fresh_sequence.lists;
    for (size_t row = 0; row < 3; ++row) Check(Digest(lists, c.lists, 0) == Digest(lists, d.lists, row));
  }
  tfr::FeatureSurvey scanner;
  (void)scanner.Add(one).ok();
  return 0;
}
