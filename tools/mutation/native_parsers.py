"""Mistakes in csrc/parse: walking records, and the fast paths after what was learnt."""

from tools.mutation.native import Mutant

LEARNT = "examples/test_parse_learnt_bytes examples/test_parse_learnt"
WIRE = "examples/test_parse_wire"
FIXED = "examples/test_parse_fixed"
MISSING = "examples/test_parse_missing_lists"

MUTANTS = [
    # ---- key_script.cc and its vectors ----
    Mutant(
        "parse/key_script.cc",
        "  if (bytes - 1 > 7) return nullptr;",
        "  if (bytes - 1 > 9) return nullptr;",
        "a varint of nine bytes",
        LEARNT,
    ),
    Mutant(
        "parse/key_script.cc",
        "(kContinue & mask >> 8)) return nullptr;",
        "(kContinue & mask >> 8) && bytes < 2) return nullptr;",
        "several values where one was",
        LEARNT,
    ),
    Mutant(
        "parse/key_script.cc",
        "if (differs != 0 || !KeyTable::SameBytes(slot, p + kEntryHeaderBytes)) return nullptr;\n  const uint64_t mask",
        "if (differs != 0) return nullptr;\n  const uint64_t mask",
        "another key of the same length",
        LEARNT,
    ),
    Mutant(
        "parse/key_script.cc",
        "if (differs != 0 || !KeyTable::SameBytes(slot, p + kEntryHeaderBytes)) return nullptr;\n  *bits",
        "if (differs != 0) return nullptr;\n  *bits",
        "another key of the same length, of floats",
        LEARNT,
    ),
    Mutant(
        "parse/key_script.cc",
        "return static_cast<size_t>(end - value) >= size ? value + size : nullptr;",
        "return value + size;",
        "a skipped value that goes beyond its map",
        LEARNT,
    ),
    Mutant(
        "parse/key_script.cc",
        "entry != 0 || value[0] != kValueTag || ",
        "entry != 0 || ",
        "the tag before a skipped value",
        LEARNT,
    ),
    Mutant(
        "parse/key_script.cc",
        "static_cast<size_t>(end - p) >= kReadAhead + slot.size;",
        "static_cast<size_t>(end - p) >= slot.size;",
        "reading ahead at the end of a record",
        LEARNT,
    ),
    Mutant(
        "parse/key_script.cc",
        "after != nullptr && after <= copy + rest ?",
        "after != nullptr ?",
        "a last value that goes beyond its record",
        LEARNT,
    ),
    Mutant(
        "parse/key_script.cc",
        "KeyTable::kOneInt64 ? Kind::kInt64 : Kind::kFloat;",
        "KeyTable::kOneInt64 ? Kind::kFloat : Kind::kInt64;",
        "the list tags of steps",
        LEARNT,
    ),
    Mutant(
        "parse/key_script.cc", "  step.grows[feature + 3] = 0xff;\n", "", "a length that grows with the value", LEARNT
    ),
    Mutant(
        "parse/key_script.cc",
        "    step.out = keys.slot(step.slot).out;\n",
        "",
        "the columns of the next batch",
        LEARNT,
    ),
    Mutant(
        "parse/key_script.cc",
        "for (auto i = static_cast<size_t>(end); i < size(); ++i) places_[steps_[i].slot] = static_cast<uint32_t>(i);",
        "for (auto i = static_cast<size_t>(end); i < size(); ++i)\n"
        "    if (places_[steps_[i].slot] == kNoted) places_[steps_[i].slot] = static_cast<uint32_t>(i);",
        "the places of the steps after a new one",
        "examples/test_parse_order",
    ),
    Mutant(
        "parse/key_script_avx2.cc",
        "if (_tzcnt_u64(ends) != 8 * n - 1) return nullptr;",
        "if (_tzcnt_u64(ends) > 8 * n - 1) return nullptr;",
        "several values where one was",
        LEARNT,
    ),
    Mutant(
        "parse/key_script_avx2.cc",
        "  } else if (n > step.most) {\n    return nullptr;",
        "  } else if (n > 255) {\n    return nullptr;",
        "the length of what is skipped",
        LEARNT,
    ),
    Mutant(
        "parse/key_script_avx2.cc",
        "if (after == nullptr || after > end) {",
        "if (after == nullptr) {",
        "an entry that goes beyond its map",
        LEARNT,
    ),
    Mutant(
        "parse/key_script_avx2.cc",
        "if (after == nullptr || after > copy + kTail) break;",
        "if (after == nullptr) break;",
        "an entry that goes beyond the record",
        LEARNT,
    ),
    Mutant(
        "parse/key_script_avx2.cc",
        "static_cast<size_t>(readable_end - p) >= kReadAhead) {",
        "static_cast<size_t>(readable_end - p) >= 1) {",
        "reading ahead at the end of a record",
        LEARNT,
    ),
    Mutant(
        "parse/key_script_avx2.cc",
        "static_cast<size_t>(end - begin) >= kTail) {",
        "static_cast<size_t>(end - begin) > kTail - 32) {",
        "the copy of a short record's end",
        LEARNT,
    ),
    # ---- key_table.cc ----
    Mutant(
        "parse/key_table.cc",
        "if (Matches(slots_[buckets_[bucket]], key, size)) return",
        "if (slots_[buckets_[bucket]].size == size) return",
        "keys of one hash",
    ),
    Mutant("parse/key_table.cc", "  buckets_ = std::move(buckets);", "", "growing the table of keys"),
    Mutant(
        "parse/key_table.cc",
        "if (learnt_.size() >= kMaxLearnt || ",
        "if (",
        "a limit on the number of keys that are learnt",
        LEARNT,
    ),
    Mutant(
        "parse/key_table.cc",
        "learnt_bytes_ + size > kMaxLearntBytes) return kUnknown;",
        "false) return kUnknown;",
        "a limit on the bytes of keys that are learnt",
        LEARNT,
    ),
    # ---- example_parser.cc ----
    Mutant(
        "parse/example_parser.cc",
        "if (p == nullptr || p + value->size != end) return nullptr;",
        "if (p == nullptr || p + value->size > end) return nullptr;",
        "what follows the value in its entry",
        WIRE,
    ),
    Mutant(
        "parse/example_parser.cc",
        "  if (p == nullptr || p + size != end) return false;\n\n  const uint8_t* const entries",
        "  if (p == nullptr) return false;\n\n  const uint8_t* const entries",
        "what follows the features of a record",
        WIRE,
    ),
    Mutant(
        "parse/example_parser.cc",
        "    if (whole && at == script().size()) {",
        "    if (at == script().size()) {",
        "a script that was begun in the middle",
        "examples/test_parse_order",
    ),
    Mutant(
        "parse/example_parser.cc",
        "      if (!schema_->features()[f].has_default()) return false;\n",
        "      if (!schema_->features()[f].has_default()) continue;\n",
        "a feature that is missing",
        FIXED,
    ),
    Mutant(
        "parse/example_parser.cc",
        "for (size_t i = entries_.size(); i-- > 0;) {",
        "for (size_t i = 0; i < entries_.size(); ++i) {",
        "of several entries the last counts",
        WIRE,
    ),
    Mutant(
        "parse/example_parser.cc",
        "      if (WireTypeOf(tag) == kWireStartGroup) return false;  // as TensorFlow\n",
        "",
        "groups in an Example",
    ),
    Mutant(
        "parse/example_parser.cc",
        "if (value.kind == Kind::kNone && schema_->features()[f].layout != Layout::kList) return true;",
        "if (value.kind == Kind::kNone) return true;",
        "a list without a kind that comes twice",
    ),
    Mutant(
        "parse/example_parser.cc",
        "std::fill(script_features_[way_].begin(), script_features_[way_].end(), 0);\n  same_steps_ = 0;",
        "same_steps_ = 0;",
        "the features of a script that was cleared",
        "examples/test_parse_order",
    ),
    Mutant(
        "parse/example_parser.cc",
        "  way_ ^= 1;\n  scripts_[way_].Clear();",
        "  way_ ^= 1;",
        "a new order of keys is learnt",
        "examples/test_parse_order",
    ),
    # ---- sequence_parser.cc ----
    Mutant(
        "parse/sequence_parser.cc",
        "good &= key[-2] == kKeyTag && key[-1] == slot.size;",
        "good &= key[-2] == kKeyTag;",
        "the length of a list's key",
        LEARNT,
    ),
    Mutant(
        "parse/sequence_parser.cc",
        "data + value_size != entry_end || entry_end > end ||",
        "data + value_size != entry_end ||",
        "an entry that goes beyond its map",
        LEARNT,
    ),
    Mutant("parse/sequence_parser.cc", "*good &= (word & (two << 15)) == 0;", "", "a length of three bytes", LEARNT),
    Mutant(
        "parse/sequence_parser.cc",
        "std::fill(map->found.begin(), map->found.end(), Bytes{nullptr, 0});",
        "",
        "what the record before had",
        MISSING,
    ),
    Mutant(
        "parse/sequence_parser.cc",
        "spec.layout == Layout::kPadded && !spec.may_be_absent) {",
        "false) {",
        "a list that must be there",
        MISSING,
    ),
    Mutant(
        "parse/sequence_parser.cc",
        "      value.kind = KindOf(spec.type);\n",
        "",
        "a context feature without a kind",
    ),
    # ---- steps.cc ----
    Mutant(
        "parse/steps.cc",
        "const uint64_t more = kTopBits >> others >> 8;",
        "const uint64_t more = kTopBits >> others;",
        "which bytes of a varint continue it",
    ),
    Mutant(
        "parse/steps.cc",
        "const size_t most = std::min(room, static_cast<size_t>(end - p) / step);\n  const uint64_t header",
        "const size_t most = static_cast<size_t>(end - p) / step;\n  const uint64_t header",
        "room for steps of one varint",
    ),
    Mutant("parse/steps.cc", "&count) != after || count != values)", "&count) != after)", "a step of too few values"),
    Mutant(
        "parse/steps.cc",
        "(x & 0x7f) | (x >> 1 & 0x3f80)",
        "(x & 0x7f) | (x >> 1 & 0x1f80)",
        "the top bit of two groups",
    ),
    Mutant(
        "parse/steps.cc",
        "if ((LoadLE64(p) << 16) != head << 16) break;",
        "if ((LoadLE64(p) << 24) != head << 24) break;",
        "the first tag of a float step",
    ),
    Mutant(
        "parse/steps.cc",
        "| ((LoadLE64(p + 8) ^ head_[1]) & mask_[1])) != 0) break;",
        ") != 0) break;",
        "the second half of a long header",
    ),
    Mutant(
        "parse/steps.cc",
        "    out += some;\n    room -= some;",
        "    out += some;",
        "room for the steps after a change of size",
    ),
]
