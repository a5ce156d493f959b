"""Mistakes in csrc/encode: sizes, masks, order, room, limits."""

from tools.mutation.native import Mutant

ENCODE = "examples/test_encode"
VALUES = "examples/test_encode_values"
SEQUENCES = "examples/test_encode_sequences"
ERRORS = "examples/test_encode_errors"
WRITER = "files/test_example_writer"

MUTANTS = [
    Mutant(
        "encode/column_plan.cc",
        "return Load<uint8_t>(values, i) != 0;",
        "return Load<uint8_t>(values, i);",
        "a bool byte of 2",
        VALUES,
    ),
    Mutant(
        "encode/column_plan.cc",
        "return LoadAs<uint32_t>(values, i);",
        "return LoadAs<int32_t>(values, i);",
        "uint32 above 2^31",
        VALUES,
    ),
    Mutant(
        "encode/column_plan.cc",
        "(x & 0x0fffc0000fffc000) << 2;",
        "(x & 0x0fff80000fff8000) << 2;",
        "the groups of a varint",
        VALUES,
    ),
    Mutant(
        "encode/column_plan.cc",
        "(uint64_t{1} << (8 * (size - 1))) - 1)",
        "(uint64_t{1} << (8 * size)) - 1)",
        "the last byte of a varint",
        ENCODE,
    ),
    Mutant(
        "encode/column_plan.cc",
        "size > sizeof bits) {",
        "size > kMaxVarintSize) {",
        "varints of nine and ten bytes",
        VALUES,
    ),
    Mutant(
        "encode/column_plan.cc",
        "if (room < loose_room || size > sizeof bits) {",
        "if (size > sizeof bits) {",
        "whole registers at the end of a record",
        ENCODE,
    ),
    Mutant(
        "encode/column_plan.cc",
        "  if (run.count == 0) return {0, 0};\n",
        "",
        "the size of an empty list",
        ENCODE,
    ),
    Mutant(
        "encode/column_plan.cc",
        "  if (run.count == 0) return out;\n",
        "",
        "the bytes of an empty list",
        ENCODE,
    ),
    Mutant(
        "encode/column_plan.cc",
        "const uint64_t feature = has ? FieldSize(sizes.list) : 0;",
        "const uint64_t feature = FieldSize(sizes.list);",
        "a null step",
        SEQUENCES,
    ),
    Mutant(
        "encode/column_plan.cc",
        "    if (!HasItem(item)) continue;\n    const Run run = RunOf(item);\n    for",
        "    const Run run = RunOf(item);\n    for",
        "a null over 2^63",
        "examples/test_encode_masks",
    ),
    Mutant(
        "encode/column_plan.cc",
        "if (values[run.begin + i] < 0) return item;",
        "if (values[run.begin + i] < -1) return item;",
        "the largest uint64",
        ERRORS,
    ),
    Mutant(
        "encode/column_plan.cc",
        "if (HasItem(row)) sizes[i] += entry_size[most_bytes];",
        "sizes[i] += entry_size[most_bytes];",
        "a null float",
        ENCODE,
    ),
    Mutant(
        "encode/row_encoder.cc",
        "{ return a.key < b.key; });",
        "{ return a.key.size() < b.key.size(); });",
        "keys in the order of their bytes",
        ENCODE,
    ),
    Mutant(
        "encode/row_encoder.cc",
        "if (i > 0 && columns[i].key == plans->back().column.key) {",
        "if (false) {",
        "a key that is given twice",
        "examples/test_encode_masks",
    ),
    Mutant(
        "encode/row_encoder.cc",
        "for (uint64_t head = 2; head",
        "for (uint64_t head = 3; head",
        "the length of a record's only field",
        ENCODE,
    ),
    Mutant(
        "encode/row_encoder.cc",
        "      if (!HasRow(plan, row)) continue;\n      const Steps steps",
        "      const Steps steps",
        "a list that a row lacks",
        SEQUENCES,
    ),
    Mutant(
        "encode/row_encoder.cc",
        "MeasureRows({rows.first + done * rows.step, count, rows.step}, Measure::kExact, sizes + done);",
        "MeasureRows({rows.first + done * rows.step, count, rows.step}, Measure::kExact, sizes);",
        "rows beyond the first block",
        ENCODE,
    ),
    Mutant(
        "encode/row_encoder.cc",
        "if (type_ == MessageType::kExample || !columns_.empty()) {",
        "if (!columns_.empty()) {",
        "an Example without features",
        ENCODE,
    ),
    Mutant(
        "encode/encode.cc",
        "    out += sizes[i];\n",
        "    out += sizes[i] + 1;\n",
        "where the next record goes",
        ENCODE,
    ),
    Mutant(
        "encode/encode.cc",
        "const size_t file = (first + row) % files;",
        "const size_t file = row % files;",
        "which shard a row goes to",
        WRITER,
    ),
    Mutant(
        "encode/write_rows.cc",
        "    lock.unlock();\n    done_.notify_all();",
        "    lock.unlock();",
        "waking the next block",
        WRITER,
    ),
    Mutant(
        "encode/write_rows.cc",
        "return turns_[block.file] == block.turn; });",
        "return true; });",
        "blocks in order",
        WRITER,
    ),
    Mutant("encode/write_rows.cc", "row += rows.step) {", "row += 1) {", "the rows of a shard", WRITER),
]
