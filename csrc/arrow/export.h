// Columns to Arrow, without a copy if the layouts allow it: numbers and offsets are shared; byte strings become
// binary_view, with new views (16 bytes per string) into the buffers of the records, or large_binary or binary, with
// copies, if the consumer asks for it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "arrow/c_data.h"
#include "base/element_type.h"
#include "base/records.h"
#include "base/status.h"

namespace tfr {

// One array and its type, before they are exported. Children are in Arrow's order.
struct ArrowNode {
  std::string format;
  std::string name;
  int64_t length = 0;
  std::vector<const void*> buffers;
  std::vector<ArrowNode> children;
  std::vector<Owner> owners;
};

// Forms of exported byte strings: views into the records' buffers, or copies with offsets of 64 or 32 bits.
enum class ArrowStrings : uint8_t { kViews, kLarge, kSmall };

// `count` numbers, which `owner` keeps. Fails for types that Arrow does not have.
Status NumbersNode(ElementType type, const void* values, size_t count, Owner owner, ArrowNode* node);

// `count` byte strings, which `owners` keep.
Status StringsNode(ArrowStrings form, const Bytes* strings, size_t count, std::vector<Owner> owners, ArrowNode* node);

// `lists` lists of `items`, cut at lists + 1 offsets, which `owner` keeps.
ArrowNode ListNode(const int64_t* offsets, size_t lists, Owner owner, ArrowNode items);

// Lists of fixed size of `shape`, without its outermost axis, around flat values.
ArrowNode FixedListsNode(ArrowNode values, const std::vector<ptrdiff_t>& shape);

// The format of the innermost child of a schema that a consumer asks for.
std::string InnermostFormat(const ArrowSchema* schema);

// Each makes *out own what it needs of the node.
void ExportSchema(const ArrowNode& node, ArrowSchema* out);
void ExportArray(ArrowNode node, ArrowArray* out);

}  // namespace tfr
