// Imports Arrow arrays; see import.h.
//
// Spec: https://arrow.apache.org/docs/format/CDataInterface.html, …/CStreamInterface.html and …/Columnar.html.

#include "arrow/import.h"

#include <cstring>
#include <memory>
#include <utility>

#include "arrow/type.h"

namespace tfr {
namespace {

struct StreamHolder {
  ArrowStream stream = {};
  ~StreamHolder() {
    if (stream.release) stream.release(&stream);
  }
};

struct SchemaHolder {
  ArrowSchema schema = {};
  ~SchemaHolder() {
    if (schema.release) schema.release(&schema);
  }
};

struct ArrayHolder {
  explicit ArrayHolder(ArrowRelease release) : release(release) {}
  ~ArrayHolder() {
    if (array.release != nullptr) release(&array);
  }
  ArrayHolder(const ArrayHolder&) = delete;
  ArrayHolder& operator=(const ArrayHolder&) = delete;

  const ArrowRelease release;
  ArrowArray array = {};
};

using ArrayOwner = std::shared_ptr<ArrayHolder>;

bool Bit(const void* bits, int64_t i) { return static_cast<const uint8_t*>(bits)[i >> 3] >> (i & 7) & 1; }

// Item i of a buffer, which need not be aligned.
template <typename T>
T ItemOf(const void* buffer, int64_t i) {
  T item;
  std::memcpy(&item, static_cast<const uint8_t*>(buffer) + static_cast<size_t>(i) * sizeof(T), sizeof item);
  return item;
}

template <typename T>
Status NewBlock(int64_t count, Block* block) {
  return AllocateBlock(static_cast<size_t>(count), sizeof(T), 0, block) ? Status() : Status::OutOfMemory();
}

Status ExpandBits(const void* bits, int64_t offset, int64_t length, Block* bytes) {
  TFR_RETURN_IF_ERROR(NewBlock<uint8_t>(length, bytes));
  uint8_t* const out = bytes->data;
  for (int64_t i = 0; i < length; ++i) out[i] = Bit(bits, offset + i);
  return {};
}

// The validity bits, or null if no item is null.
const void* ValidityOf(const ArrowArray& array) {
  return array.null_count == 0 || array.n_buffers == 0 ? nullptr : array.buffers[0];
}

// Reads the offsets of items [first, first + length), each once, since another thread may write to Arrow's memory, and
// passes each to `take`, which returns a Status. Fails unless they ascend from 0 on to at most `limit`. An empty array
// may have no offsets.
template <typename Offset, typename Take>
Status ReadOffsets(const void* offsets, int64_t first, int64_t length, int64_t limit, Take take) {
  int64_t before = 0;
  for (int64_t i = 0; i <= length; ++i) {
    const int64_t offset = length == 0 ? 0 : static_cast<int64_t>(ItemOf<Offset>(offsets, first + i));
    if (offset < before || offset > limit) {
      return ArrowError("offset " + std::to_string(i) + " is " + std::to_string(offset) + ", expected " +
                        std::to_string(before) + " to " + std::to_string(limit));
    }
    TFR_RETURN_IF_ERROR(take(i, offset));
    before = offset;
  }
  return {};
}

template <typename Offset>
Status ReadStrings(const ArrowArray& array, int64_t first, int64_t length, std::vector<Bytes>* strings) {
  const auto* const data = static_cast<const uint8_t*>(array.buffers[2]);
  int64_t begin = 0;
  return ReadOffsets<Offset>(array.buffers[1], first, length, INT64_MAX, [&](int64_t i, int64_t end) {
    if (i > 0 && end > begin) {
      (*strings)[static_cast<size_t>(i - 1)] = {data + begin, static_cast<size_t>(end - begin)};
    }
    begin = end;
    return Status();
  });
}

// One binary_view: 16 bytes, its length and then all of it, up to 12 bytes, or 4 bytes, buffer and offset.
Status ReadView(const ArrowArray& array, const uint8_t* view, Bytes* string) {
  int32_t fields[4];
  std::memcpy(fields, view, sizeof fields);
  const int64_t size = fields[0], buffer = fields[2], offset = fields[3];
  if (size >= 0 && size <= 12) {
    *string = {view + 4, static_cast<size_t>(size)};
    return {};
  }
  const int64_t buffers = array.n_buffers - 3;  // besides validity, views and sizes
  const void* const sizes = array.buffers[array.n_buffers - 1];
  if (size < 0 || buffer < 0 || buffer >= buffers || offset < 0 || offset + size > ItemOf<int64_t>(sizes, buffer)) {
    return ArrowError("a view of " + std::to_string(size) + " bytes at " + std::to_string(offset) + " of data buffer " +
                      std::to_string(buffer) + ", which is shorter");
  }
  *string = {static_cast<const uint8_t*>(array.buffers[2 + buffer]) + offset, static_cast<size_t>(size)};
  return {};
}

Status ReadViews(const ArrowArray& array, int64_t first, int64_t length, std::vector<Bytes>* strings) {
  const auto* const views = static_cast<const uint8_t*>(array.buffers[1]);
  for (int64_t i = 0; i < length; ++i) {
    if (array.buffers[0] != nullptr && !Bit(array.buffers[0], first + i)) continue;  // its bytes mean nothing
    TFR_RETURN_IF_ERROR(ReadView(array, views + 16 * (first + i), &(*strings)[static_cast<size_t>(i)]));
  }
  return {};
}

Status ReadFixedStrings(const ArrowArray& array, int64_t width, int64_t first, int64_t length,
                        std::vector<Bytes>* strings) {
  const auto* const data = static_cast<const uint8_t*>(array.buffers[1]);
  for (int64_t i = 0; i < length && width > 0; ++i) {
    (*strings)[static_cast<size_t>(i)] = {data + (first + i) * width, static_cast<size_t>(width)};
  }
  return {};
}

Status ReadStringsOf(const ArrowType& type, const ArrowArray& array, int64_t first, int64_t length,
                     std::vector<Bytes>* strings) {
  strings->resize(static_cast<size_t>(length));
  if (type.form == ArrowForm::kStrings) return ReadStrings<int32_t>(array, first, length, strings);
  if (type.form == ArrowForm::kLargeStrings) return ReadStrings<int64_t>(array, first, length, strings);
  if (type.form == ArrowForm::kViews) return ReadViews(array, first, length, strings);
  return ReadFixedStrings(array, type.width, first, length, strings);
}

template <typename Offset>
Status ReadSplits(const ArrowArray& array, int64_t first, int64_t length, Block* splits) {
  TFR_RETURN_IF_ERROR(NewBlock<int64_t>(length + 1, splits));
  auto* const out = splits->as<int64_t>();
  return ReadOffsets<Offset>(array.buffers[1], first, length, array.children[0]->length,
                             [out](int64_t i, int64_t offset) {
                               out[i] = offset;
                               return Status();
                             });
}

// Indices into a dictionary of `size` values; 0 for items that are null, whose indices mean nothing.
template <typename Index>
Status ReadIndices(const ArrowArray& array, int64_t first, int64_t length, int64_t size, Block* indices) {
  TFR_RETURN_IF_ERROR(NewBlock<int64_t>(length, indices));
  auto* const out = indices->as<int64_t>();
  const void* const bits = ValidityOf(array);
  for (int64_t i = 0; i < length; ++i) {
    const auto index = ItemOf<Index>(array.buffers[1], first + i);
    const bool valid = bits == nullptr || Bit(bits, first + i);
    if (valid && (index < Index{0} || static_cast<uint64_t>(index) >= static_cast<uint64_t>(size))) {
      return ArrowError("index " + std::to_string(index) + " into a dictionary of " + std::to_string(size) + " values");
    }
    out[i] = valid ? static_cast<int64_t>(index) : 0;
  }
  return {};
}

Status ReadIndices(ElementType type, const ArrowArray& array, int64_t first, int64_t length, Block* indices) {
  const int64_t size = array.dictionary->length;
  switch (type) {
    case ElementType::kInt8:
      return ReadIndices<int8_t>(array, first, length, size, indices);
    case ElementType::kInt16:
      return ReadIndices<int16_t>(array, first, length, size, indices);
    case ElementType::kInt32:
      return ReadIndices<int32_t>(array, first, length, size, indices);
    case ElementType::kUInt8:
      return ReadIndices<uint8_t>(array, first, length, size, indices);
    case ElementType::kUInt16:
      return ReadIndices<uint16_t>(array, first, length, size, indices);
    case ElementType::kUInt32:
      return ReadIndices<uint32_t>(array, first, length, size, indices);
    case ElementType::kUInt64:
      return ReadIndices<uint64_t>(array, first, length, size, indices);
    default:
      return ReadIndices<int64_t>(array, first, length, size, indices);
  }
}

// Imports an array and the arrays inside it, which are checked on the way.
class Importer {
 public:
  explicit Importer(ArrayOwner owner) : owner_(std::move(owner)) {}

  Status Whole(const ArrowSchema& schema, ArrowColumn* column) {
    return Import(schema, owner_->array, 0, owner_->array.length, column);
  }

 private:
  // Imports items [first, first + length), counted from the array's own first one.
  Status Import(const ArrowSchema& schema, const ArrowArray& array, int64_t first, int64_t length,
                ArrowColumn* column) {
    if (first + length > array.length) {
      return ArrowError("a child of " + std::to_string(array.length) + " items, which has too few for its parent");
    }
    ArrowType type;
    TFR_RETURN_IF_ERROR(TypeOfArrow(schema, &type));
    first += array.offset;
    column->rows = length;
    if (const void* bits = ValidityOf(array)) TFR_RETURN_IF_ERROR(ExpandBits(bits, first, length, &column->valid));
    return Fill(type, schema, array, first, length, column);
  }

  Status Fill(const ArrowType& type, const ArrowSchema& schema, const ArrowArray& array, int64_t first, int64_t length,
              ArrowColumn* column) {
    using Kind = ArrowColumn::Kind;
    switch (type.form) {
      case ArrowForm::kNull:
        return {};
      case ArrowForm::kBits:
        column->kind = Kind::kValues;
        column->type = ElementType::kBool;
        return ExpandBits(array.buffers[1], first, length, &column->values);
      case ArrowForm::kNumbers:
        column->kind = Kind::kValues;
        column->type = type.element;
        column->values = Numbers(type.element, array, first, length);
        return {};
      case ArrowForm::kDictionary:
        column->kind = Kind::kDictionary;
        TFR_RETURN_IF_ERROR(ReadIndices(type.element, array, first, length, &column->values));
        return Import(*schema.dictionary, *array.dictionary, 0, array.dictionary->length,
                      &column->children.emplace_back());
      case ArrowForm::kStrings:
      case ArrowForm::kLargeStrings:
      case ArrowForm::kViews:
      case ArrowForm::kFixedStrings:
        column->kind = Kind::kValues;
        column->type = ElementType::kBytes;
        column->owner = owner_;
        return ReadStringsOf(type, array, first, length, &column->strings);
      case ArrowForm::kList:
        TFR_RETURN_IF_ERROR(ReadSplits<int32_t>(array, first, length, &column->splits));
        return List(schema, array, column);
      case ArrowForm::kLargeList:
        TFR_RETURN_IF_ERROR(ReadSplits<int64_t>(array, first, length, &column->splits));
        return List(schema, array, column);
      case ArrowForm::kFixedList:
        column->width = type.width;
        return FixedList(schema, array, first, length, column);
      case ArrowForm::kStruct:
        return Struct(schema, array, first, length, column);
      case ArrowForm::kOther:
        break;
    }
    column->kind = Kind::kOther;
    column->format = schema.format;
    return {};
  }

  Block Numbers(ElementType type, const ArrowArray& array, int64_t first, int64_t length) {
    if (length == 0) return {};
    auto* const data = static_cast<uint8_t*>(const_cast<void*>(array.buffers[1]));  // not written to
    return {owner_, data + static_cast<size_t>(first) * ItemSize(type), static_cast<size_t>(length)};
  }

  Status List(const ArrowSchema& schema, const ArrowArray& array, ArrowColumn* column) {
    column->kind = ArrowColumn::Kind::kList;
    const ArrowArray& child = *array.children[0];
    return Import(*schema.children[0], child, 0, child.length, &column->children.emplace_back());
  }

  Status FixedList(const ArrowSchema& schema, const ArrowArray& array, int64_t first, int64_t length,
                   ArrowColumn* column) {
    column->kind = ArrowColumn::Kind::kFixedList;
    return Import(*schema.children[0], *array.children[0], first * column->width, length * column->width,
                  &column->children.emplace_back());
  }

  Status Struct(const ArrowSchema& schema, const ArrowArray& array, int64_t first, int64_t length,
                ArrowColumn* column) {
    column->kind = ArrowColumn::Kind::kStruct;
    for (int64_t i = 0; i < schema.n_children; ++i) {
      const ArrowSchema& child = *schema.children[i];
      column->names.emplace_back(child.name != nullptr ? child.name : "");
      TFR_RETURN_IF_ERROR(Import(child, *array.children[i], first, length, &column->children.emplace_back()));
    }
    return {};
  }

  ArrayOwner owner_;
};

// Takes a structure over, as a consumer must: the producer may free it otherwise, and a second use would find memory
// that was freed.
template <typename T>
Status TakeOver(T* given, T* taken) {
  if (given->release == nullptr) return ArrowError("it was released: a capsule can be used only once");
  *taken = *given;
  given->release = nullptr;
  return {};
}

}  // namespace

Status ImportArrow(const ArrowSchema& schema, ArrowArray* array, ArrowRelease release, ArrowColumn* column) {
  const auto owner = std::make_shared<ArrayHolder>(release);
  TFR_RETURN_IF_ERROR(TakeOver(array, &owner->array));
  return Importer(owner).Whole(schema, column);
}

Status ImportArrowStream(ArrowStream* stream, ArrowRelease release, std::vector<ArrowColumn>* chunks) {
  StreamHolder holder;
  TFR_RETURN_IF_ERROR(TakeOver(stream, &holder.stream));
  stream = &holder.stream;
  const auto check = [stream](int code) -> Status {
    if (code == 0) return {};
    const char* text = stream->get_last_error(stream);
    return Status::InvalidArgument(std::string("Arrow stream: ") + (text != nullptr ? text : "it failed"));
  };
  SchemaHolder type;
  TFR_RETURN_IF_ERROR(check(stream->get_schema(stream, &type.schema)));
  while (true) {
    const auto owner = std::make_shared<ArrayHolder>(release);
    TFR_RETURN_IF_ERROR(check(stream->get_next(stream, &owner->array)));
    if (owner->array.release == nullptr) return {};
    TFR_RETURN_IF_ERROR(Importer(owner).Whole(type.schema, &chunks->emplace_back()));
  }
}

}  // namespace tfr
