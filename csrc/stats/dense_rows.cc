// A script for records that are alike; see dense_rows.h.

#include "stats/dense_rows.h"

#include <utility>

#include "wire/wire.h"

namespace tfr {

std::unique_ptr<DenseRows> DenseRows::Make(const std::vector<Column>& columns) {
  constexpr size_t kLine = 64;  // columns are apart by one more than a power of two, so as not to share cache sets
  std::vector<FeatureSpec> specs;
  size_t bytes = kLine;
  for (const Column& column : columns) {
    FeatureSpec spec;
    spec.key = column.key;
    spec.type = column.kind == Kind::kInt64 ? ElementType::kInt64 : ElementType::kFloat32;
    bytes += kBlock * ItemSize(spec.type) + kLine;
    specs.push_back(std::move(spec));
  }
  SchemaPtr schema;
  if (columns.empty() || !Schema::Compile(std::move(specs), &schema).ok()) return nullptr;
  std::unique_ptr<DenseRows> made(new DenseRows(*schema));
  made->memory_.resize(bytes);
  uint8_t* out = made->memory_.data();
  out += (kLine - reinterpret_cast<uintptr_t>(out) % kLine) % kLine;
  for (size_t i = 0; i < columns.size(); ++i) {
    const size_t item = ItemSize(schema->features()[i].type);
    made->keys_.SetColumn(i, out, item);
    made->script_.Note(0, KeyTable::kUnknown + 1 + static_cast<uint32_t>(i));
    made->outs_.push_back(out);
    out += kBlock * item + kLine;
  }
  made->script_.Insert(made->keys_);
  for (size_t i = 0; i < columns.size(); ++i) {
    if (made->script_.step(i).shape == KeyTable::kGeneral) return nullptr;
  }
  made->script_.SetColumns(made->keys_);
  made->schema_ = std::move(schema);
  return made;
}

bool DenseRows::Take(const Bytes& record) {
  if (record.size == 0 || *record.data != kFeaturesTag) return false;
  const uint8_t* const end = record.data + record.size;
  size_t size;
  const uint8_t* p = ReadLength(record.data + 1, end, &size);
  if (p == nullptr || p + size != end) return false;
  size_t at = 0;
  p = script_.Take(record.data, p, end, end, rows_, keys_, &at);
  if (p != end || at != script_.size()) return false;
  ++rows_;
  return true;
}

}  // namespace tfr
