// Exports columns to Arrow's structures and imports them again, without Python. Prints what differs and exits with 1.

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arrow/export.h"
#include "arrow/import.h"

namespace tfr {
namespace {

int failures = 0;

void Check(bool holds, const char* claim) {
  if (holds) return;
  std::printf("%s\n", claim);
  ++failures;
}

void Release(ArrowArray* array) { array->release(array); }

// Exports `node` and imports it; the status of the import.
Status Round(ArrowNode node, ArrowColumn* column) {
  ArrowSchema schema;
  ArrowArray array;
  ExportSchema(node, &schema);
  ExportArray(std::move(node), &array);
  Status status = ImportArrow(schema, &array, Release, column);
  schema.release(&schema);
  Check(array.release == nullptr, "an imported array is taken over");
  return status;
}

void NumbersInLists() {
  const auto values = std::make_shared<std::vector<int64_t>>(std::vector<int64_t>{1, 2, 3});
  const auto offsets = std::make_shared<std::vector<int64_t>>(std::vector<int64_t>{0, 2, 3});
  ArrowNode node;
  Check(NumbersNode(ElementType::kInt64, values->data(), 3, values, &node).ok(), "int64 has a type in Arrow");
  ArrowColumn column;
  Check(Round(ListNode(offsets->data(), 2, offsets, std::move(node)), &column).ok(), "lists come back");
  Check(column.kind == ArrowColumn::Kind::kList && column.rows == 2, "two lists");
  Check(column.splits.as<int64_t>()[1] == 2, "the first list has two values");
  Check(column.children[0].values.data == reinterpret_cast<uint8_t*>(values->data()), "numbers are not copied");
}

void StringsOfEveryForm() {
  const std::string text = "a string that is longer than a view holds inline";
  const auto* const data = reinterpret_cast<const uint8_t*>(text.data());
  const std::vector<Bytes> strings = {{data, 3}, {data, text.size()}, {data, 0}};
  for (const ArrowStrings form : {ArrowStrings::kViews, ArrowStrings::kLarge, ArrowStrings::kSmall}) {
    ArrowNode node;
    Check(StringsNode(form, strings.data(), strings.size(), {}, &node).ok(), "strings are exported");
    ArrowColumn column;
    Check(Round(std::move(node), &column).ok() && column.strings.size() == 3, "strings come back");
    for (size_t i = 0; i < column.strings.size(); ++i) {
      const Bytes& bytes = column.strings[i];
      const std::string copy(reinterpret_cast<const char*>(bytes.data), bytes.size);
      Check(copy == text.substr(0, strings[i].size), "a string differs");
    }
  }
}

void BadOffsetsAreRefused() {
  const auto values = std::make_shared<std::vector<int64_t>>(std::vector<int64_t>{1, 2, 3});
  const auto offsets = std::make_shared<std::vector<int64_t>>(std::vector<int64_t>{0, 4});
  ArrowNode node;
  Check(NumbersNode(ElementType::kInt64, values->data(), 3, values, &node).ok(), "int64 has a type in Arrow");
  ArrowColumn column;
  const Status status = Round(ListNode(offsets->data(), 1, offsets, std::move(node)), &column);
  Check(status.code() == StatusCode::kInvalidArgument, "a list past the end of its values is refused");
  Check(!NumbersNode(ElementType::kBFloat16, values->data(), 3, values, &node).ok(), "Arrow has no bfloat16");
}

}  // namespace
}  // namespace tfr

int main() {
  tfr::NumbersInLists();
  tfr::StringsOfEveryForm();
  tfr::BadOffsetsAreRefused();
  return tfr::failures == 0 ? 0 : 1;
}
