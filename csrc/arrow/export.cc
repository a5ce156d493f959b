// Exports columns to Arrow; see export.h.
//
// Spec: https://arrow.apache.org/docs/format/CDataInterface.html and …/Columnar.html.

#include "arrow/export.h"

#include <climits>
#include <cstring>
#include <limits>
#include <utility>

#include "base/block.h"

namespace tfr {
namespace {

constexpr int64_t kNullable = 2;  // ARROW_FLAG_NULLABLE
constexpr size_t kInlineBytes = 12;
constexpr size_t kPrefixBytes = 4;
// Strings that lie this close together share one data buffer. Between them are other fields of a record, or the framing
// of two records of a chunk. It is less than a page, so that everything between them is mapped memory.
constexpr size_t kMaxGap = 2048;

struct HeldSchema {
  ArrowNode node;
  std::vector<ArrowSchema> children;
  std::vector<ArrowSchema*> pointers;
};

struct HeldArray {
  ArrowNode node;
  std::vector<ArrowArray> children;
  std::vector<ArrowArray*> pointers;
};

void ReleaseSchema(ArrowSchema* schema) {
  auto* held = static_cast<HeldSchema*>(schema->private_data);
  for (ArrowSchema& child : held->children) {
    if (child.release) child.release(&child);
  }
  schema->release = nullptr;
  delete held;
}

void ReleaseArray(ArrowArray* array) {
  auto* held = static_cast<HeldArray*>(array->private_data);
  for (ArrowArray& child : held->children) {
    if (child.release) child.release(&child);
  }
  array->release = nullptr;
  delete held;
}

const char* FormatOf(ElementType type) {
  switch (type) {
    case ElementType::kBool:
      return "b";
    case ElementType::kInt8:
      return "c";
    case ElementType::kInt16:
      return "s";
    case ElementType::kInt32:
      return "i";
    case ElementType::kInt64:
      return "l";
    case ElementType::kUInt8:
      return "C";
    case ElementType::kUInt16:
      return "S";
    case ElementType::kUInt32:
      return "I";
    case ElementType::kUInt64:
      return "L";
    case ElementType::kFloat16:
      return "e";
    case ElementType::kFloat32:
      return "f";
    case ElementType::kFloat64:
      return "g";
    case ElementType::kBFloat16:
    case ElementType::kBytes:
      break;
  }
  return nullptr;
}

Status NewBlock(size_t count, size_t item_size, Block* block) {
  return AllocateBlock(count, item_size, 0, block) ? Status() : Status::OutOfMemory();
}

template <typename Offset>
Status CopyStrings(const Bytes* strings, size_t count, ArrowNode* node) {
  constexpr size_t kMost = std::numeric_limits<Offset>::max();
  Block offsets, data;
  TFR_RETURN_IF_ERROR(NewBlock(count + 1, sizeof(Offset), &offsets));
  auto* const ends = offsets.as<Offset>();
  ends[0] = 0;
  size_t total = 0;
  for (size_t i = 0; i < count; ++i) {
    total += strings[i].size;
    if (total > kMost) {
      return Status::InvalidArgument(
          "the strings of one column take more bytes than one Arrow array of binary holds (2 GiB); "
          "use a smaller batch_size");
    }
    ends[i + 1] = static_cast<Offset>(total);
  }
  TFR_RETURN_IF_ERROR(NewBlock(total, 1, &data));
  for (size_t i = 0; i < count; ++i) {
    if (strings[i].size > 0) std::memcpy(data.data + ends[i], strings[i].data, strings[i].size);
  }
  node->format = sizeof(Offset) == sizeof(int64_t) ? "Z" : "z";
  node->length = static_cast<int64_t>(count);
  node->buffers = {nullptr, ends, data.data};
  node->owners = {offsets.owner, data.owner};
  return {};
}

// A view is { int32 size, then 12 bytes of data } or { int32 size, 4 bytes of prefix, int32 buffer, int32 offset }.
Status ViewStrings(const Bytes* strings, size_t count, std::vector<Owner> owners, ArrowNode* node) {
  Block views, lengths;
  TFR_RETURN_IF_ERROR(NewBlock(count, 16, &views));
  std::vector<const void*> data;
  std::vector<int64_t> sizes;
  const uint8_t* start = nullptr;  // of the data buffer that is being extended
  const uint8_t* end = nullptr;
  for (size_t i = 0; i < count; ++i) {
    const Bytes& bytes = strings[i];
    if (bytes.size > INT32_MAX) return CopyStrings<int64_t>(strings, count, node);  // too long for a view
    uint8_t* view = views.data + 16 * i;
    std::memset(view, 0, 16);
    const auto size = static_cast<int32_t>(bytes.size);
    std::memcpy(view, &size, 4);
    if (bytes.size <= kInlineBytes) {
      if (bytes.size > 0) std::memcpy(view + 4, bytes.data, bytes.size);
      continue;
    }
    const bool near = start != nullptr && bytes.data >= start &&
                      (bytes.data <= end || static_cast<size_t>(bytes.data - end) <= kMaxGap) &&
                      bytes.data + bytes.size - start <= INT32_MAX;
    if (!near) {
      if (data.size() >= INT32_MAX) return CopyStrings<int64_t>(strings, count, node);
      start = end = bytes.data;
      data.push_back(start);
      sizes.push_back(0);
    }
    if (bytes.data + bytes.size > end) end = bytes.data + bytes.size;
    sizes.back() = end - start;
    const auto buffer = static_cast<int32_t>(data.size() - 1);
    const auto offset = static_cast<int32_t>(bytes.data - start);
    std::memcpy(view + 4, bytes.data, kPrefixBytes);
    std::memcpy(view + 8, &buffer, 4);
    std::memcpy(view + 12, &offset, 4);
  }
  TFR_RETURN_IF_ERROR(NewBlock(sizes.size(), sizeof(int64_t), &lengths));
  if (!sizes.empty()) std::memcpy(lengths.data, sizes.data(), sizes.size() * sizeof(int64_t));
  node->format = "vz";
  node->length = static_cast<int64_t>(count);
  node->buffers = {nullptr, views.data};
  node->buffers.insert(node->buffers.end(), data.begin(), data.end());
  node->buffers.push_back(lengths.data);
  node->owners = std::move(owners);
  node->owners.insert(node->owners.end(), {views.owner, lengths.owner});
  return {};
}

}  // namespace

Status NumbersNode(ElementType type, const void* values, size_t count, Owner owner, ArrowNode* node) {
  const char* const format = FormatOf(type);
  if (format == nullptr) return Status::InvalidArgument(std::string("Arrow has no type for ") + TypeName(type));
  node->format = format;
  node->length = static_cast<int64_t>(count);
  node->buffers = {nullptr, values};
  node->owners = {std::move(owner)};
  if (type == ElementType::kBool) {  // Arrow packs eight to a byte
    Block bits;
    TFR_RETURN_IF_ERROR(NewBlock((count + 7) / 8, 1, &bits));
    std::memset(bits.data, 0, bits.count);
    const auto* const bytes = static_cast<const uint8_t*>(values);
    for (size_t i = 0; i < count; ++i) bits.data[i / 8] |= static_cast<uint8_t>((bytes[i] != 0) << i % 8);
    node->buffers[1] = bits.data;
    node->owners = {bits.owner};
  }
  return {};
}

Status StringsNode(ArrowStrings form, const Bytes* strings, size_t count, std::vector<Owner> owners, ArrowNode* node) {
  if (form == ArrowStrings::kLarge) return CopyStrings<int64_t>(strings, count, node);
  if (form == ArrowStrings::kSmall) return CopyStrings<int32_t>(strings, count, node);
  return ViewStrings(strings, count, std::move(owners), node);
}

ArrowNode ListNode(const int64_t* offsets, size_t lists, Owner owner, ArrowNode items) {
  items.name = "item";
  ArrowNode node;
  node.format = "+L";
  node.length = static_cast<int64_t>(lists);
  node.buffers = {nullptr, offsets};
  node.owners.push_back(std::move(owner));
  node.children.push_back(std::move(items));
  return node;
}

ArrowNode FixedListsNode(ArrowNode node, const std::vector<ptrdiff_t>& shape) {
  for (size_t axis = shape.size(); axis-- > 1;) {
    int64_t length = 1;
    for (size_t i = 0; i < axis; ++i) length *= shape[i];
    ArrowNode list;
    list.format = "+w:" + std::to_string(shape[axis]);
    list.length = length;
    list.buffers = {nullptr};
    node.name = "item";
    list.children.push_back(std::move(node));
    node = std::move(list);
  }
  return node;
}

std::string InnermostFormat(const ArrowSchema* schema) {
  while (schema->n_children == 1) schema = schema->children[0];
  return schema->format;
}

void ExportSchema(const ArrowNode& node, ArrowSchema* out) {
  auto* held = new HeldSchema;
  held->node.format = node.format;
  held->node.name = node.name;
  held->children.resize(node.children.size());
  for (size_t i = 0; i < node.children.size(); ++i) {
    ExportSchema(node.children[i], &held->children[i]);
    held->pointers.push_back(&held->children[i]);
  }
  *out = {held->node.format.c_str(),
          held->node.name.c_str(),
          nullptr,
          kNullable,
          static_cast<int64_t>(held->pointers.size()),
          held->pointers.data(),
          nullptr,
          ReleaseSchema,
          held};
}

void ExportArray(ArrowNode node, ArrowArray* out) {
  auto* held = new HeldArray;
  held->children.resize(node.children.size());
  for (size_t i = 0; i < node.children.size(); ++i) {
    ExportArray(std::move(node.children[i]), &held->children[i]);
    held->pointers.push_back(&held->children[i]);
  }
  held->node = std::move(node);
  *out = {held->node.length,
          0,
          0,
          static_cast<int64_t>(held->node.buffers.size()),
          static_cast<int64_t>(held->pointers.size()),
          held->node.buffers.data(),
          held->pointers.data(),
          nullptr,
          ReleaseArray,
          held};
}

}  // namespace tfr
