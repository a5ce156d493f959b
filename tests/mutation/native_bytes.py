"""Mistakes in csrc/base, io, crc32c, varint and wire: ends of buffers, retries, carries, limits."""

from tests.mutation.native import Mutant

ENCODE_ONE = "examples/test_encode_one"
WIRE = "examples/test_parse_wire"
VARINT = "core/test_varint"

MUTANTS = [
    # ---- wire ----
    Mutant(
        "wire/wire.h",
        "value > UINT32_MAX || value < 8) return nullptr;",
        "value > UINT32_MAX) return nullptr;",
        "field number 0",
        WIRE,
    ),
    Mutant(
        "wire/wire.h",
        "value > static_cast<uint64_t>(end - p)) return nullptr;",
        "value > static_cast<uint64_t>(end - p) + 1) return nullptr;",
        "a length one too long",
        WIRE,
    ),
    Mutant("wire/wire.h", "{ return 1 + VarintSize(size) + size; }", "{ return 2 + size; }", "long fields", ENCODE_ONE),
    Mutant("wire/wire.cc", "return end - p >= 8 ? p + 8 : nullptr;", "return p + 8;", "a fixed64 that is cut", WIRE),
    Mutant("wire/wire.cc", "return end - p >= 4 ? p + 4 : nullptr;", "return p + 4;", "a fixed32 that is cut", WIRE),
    Mutant(
        "wire/wire.cc", "FieldOf(tag) == field ? p : nullptr;", "p;", "a group that another field's end closes", WIRE
    ),
    Mutant("wire/wire.cc", "  if (depth >= kMaxGroupDepth) return nullptr;\n", "", "groups without end", WIRE),
    Mutant("wire/wire.h", "kMaxGroupDepth = 100;", "kMaxGroupDepth = 99;", "how deep groups may be", WIRE),
    Mutant("wire/wire.h", "kMaxShortLength = 0x7f;", "kMaxShortLength = 0xff;", "lengths of one byte", ENCODE_ONE),
    Mutant(
        "wire/example.h",
        "uint64_t{1} << 8 | uint64_t{1} << 24 | uint64_t{1} << 40;",
        "uint64_t{1} << 8 | uint64_t{1} << 40;",
        "the list's length in a header",
        "examples/test_parse_learnt",
    ),
    # ---- varint ----
    Mutant(
        "varint/varint.h",
        "return (x & kTopBits) == kTopBits >> others >> 8;",
        "return (x & kTopBits) != 0 || size == 1;",
        "one varint of that many bytes",
        VARINT,
    ),
    Mutant("varint/varint.h", "(tenth & 1) << 7;", "(tenth & 3) << 7;", "of a tenth byte only one bit counts", VARINT),
    Mutant(
        "varint/varint.h",
        "(p[8] >= 0x80) == (size == 10) && tenth < 0x80;",
        "tenth < 0x80;",
        "nine bytes or ten",
        VARINT,
    ),
    Mutant(
        "varint/varint.h",
        "p + size - readable_begin >= 8) {",
        "p + size - readable_begin >= 0) {",
        "bytes before a run",
        VARINT,
    ),
    Mutant("varint/varint.h", "return p == end || end[-1] < 0x80;", "return true;", "a run that is cut", VARINT),
    Mutant(
        "varint/varint.h",
        "return p != nullptr && decoded == count ? p : nullptr;",
        "return p;",
        "fewer values than expected",
        VARINT,
    ),
    Mutant("varint/varint.h", "* 9 + 64) / 64;", "* 9 + 63) / 64;", "sizes of encodings", VARINT),
    Mutant(
        "varint/varint.cc",
        "shift < 7 * kMaxVarintSize; shift",
        "shift < 7 * kMaxVarintSize + 7; shift",
        "an eleventh byte",
        VARINT,
    ),
    Mutant("varint/varint.cc", "    if (p >= end) return nullptr;\n", "", "a varint that is cut", VARINT),
    Mutant(
        "varint/portable.cc",
        "while (end - p >= 8 && limit - o >= 8) {",
        "while (end - p >= 8) {",
        "a full array",
        VARINT,
    ),
    Mutant(
        "varint/portable.cc",
        "(end - p) / 8 < 255 ? (end - p) / 8 : 255;",
        "(end - p) / 8 < 512 ? (end - p) / 8 : 512;",
        "sums that overflow",
        VARINT,
    ),
    Mutant(
        "varint/bmi2.cc",
        "if (n < capacity && start < 8 * size) return nullptr;  // cut",
        "",
        "a short run that is cut",
        VARINT,
    ),
    Mutant("varint/bmi2.cc", "found < capacity ? found : capacity;", "found;", "a full array", VARINT),
    Mutant("varint/bmi2.cc", "if (tenth && p[9] >= 0x80) return nullptr;", "", "an eleventh byte", VARINT),
    Mutant(
        "varint/bmi2.cc",
        "static_cast<uint64_t>(p[9]) << 63 : value);",
        "static_cast<uint64_t>(p[9]) << 62 : value);",
        "the top bit",
        VARINT,
    ),
    # ---- crc32c ----
    Mutant(
        "crc32c/portable.cc",
        "  for (; size > 0; ++data, --size) state",
        "  for (; size > 1; ++data, --size) state",
        "the last byte",
    ),
    Mutant(
        "crc32c/sse42.cc",
        "for (; size >= 3 * kShort; data",
        "for (; size > 3 * kShort + 8; data",
        "where streams begin to pay: equal answers",
    ),
    Mutant(
        "crc32c/sse42.cc",
        "state = StepThree(state, data, kShort, kOverShort);",
        "state = StepThree(state, data, kShort, kOverLong);",
        "joining short streams",
    ),
    Mutant("crc32c/x86.h", "  if (size >= 4) {\n", "  if (size >= 3) {\n", "the load of a short tail"),
    Mutant(
        "crc32c/x86.h",
        ">> 1 >> (63 - 8 * left), left);",
        ">> (63 - 8 * left), left);",
        "the tail of eight bytes and more",
    ),
    Mutant(
        "crc32c/pclmul.cc",
        "for (data += 64, size -= 64; size >= 64; data",
        "for (data += 64, size -= 64; size > 64; data",
        "the last whole block",
    ),
    Mutant("crc32c/vpclmul.cc", "  if (size >= 192 + 256) {", "  if (size >= 128 + 256) {", "the first four registers"),
    Mutant("crc32c/vpclmul.cc", "    data += size & ~size_t{63};\n", "", "where the tail begins"),
    # ---- io ----
    Mutant(
        "io/source.cc",
        "bool HasKnownSize(const struct stat& info) { return S_ISREG(info.st_mode) && info.st_size > 0; }",
        "bool HasKnownSize(const struct stat& info) { return S_ISREG(info.st_mode); }",
        "files in /proc",
    ),
    Mutant("io/source.cc", 'if (S_ISDIR(info.st_mode)) return Status::Errno(EISDIR, "open");', "", "reading a folder"),
    Mutant("io/source.cc", "  *got = std::min(size, rest_.size);\n", "  *got = size;\n", "the end of memory"),
    Mutant("io/source.cc", "  given_ += *got;\n", "", "bytes that were read to detect"),
    Mutant(
        "io/sink.cc",
        "      const size_t skip = i == part ? done : 0;\n",
        "      const size_t skip = 0;\n",
        "a short write",
    ),
    Mutant(
        "io/sink.cc", "      ++part;\n      done = 0;\n", "      ++part;\n", "a short write that ends in a later part"
    ),
    Mutant(
        "io/sink.cc",
        "used < kMaxParts && total < kMaxTransfer; ++i",
        "used < kMaxParts; ++i",
        "more than one write may take: not seen below 2 GiB",
    ),
    Mutant(
        "io/sink.cc",
        'if (n < 0) return Status::Errno(errno, "write").WithPath(path_);',
        "if (n < 0) return {};",
        "a disk that is full",
    ),
    Mutant(
        "io/sink.cc",
        "::close(descriptor) != 0 && errno != EINTR)",
        "::close(descriptor) != 0 && false)",
        "close that fails",
    ),
    Mutant(
        "io/mapped_file.cc",
        "if (landing != nullptr) siglongjmp(*landing, 1);",
        "",
        "a file that is cut while it is mapped",
        "files/test_indexed_reader_life",
    ),
    Mutant(
        "io/mapped_file.cc",
        "  landing = &here;\n  CopyAll(data_, pieces, count);\n  landing = nullptr;",
        "  landing = &here;\n  CopyAll(data_, pieces, count);",
        "faults outside of a copy",
        "files/test_indexed_reader_life",
    ),
    # ---- base ----
    Mutant(
        "base/buffer.cc",
        "if (have < capacity || have / 2 > capacity) continue;",
        "if (have / 2 > capacity) continue;",
        "a pooled buffer that is too small",
    ),
    Mutant(
        "base/parallel.cc",
        "if (--job->active == 0) job->left.notify_one();",
        "--job->active;",
        "waking the caller",
        "examples/test_encode",
    ),
    Mutant("base/parallel.cc", "if (job.wanted > 0) Close(&job);", "", "a job that is over", "examples/test_encode"),
    Mutant(
        "base/parallel.cc",
        "if (!cancelled && task >= limit.load(std::memory_order_relaxed)) return;",
        "",
        "the first error of several",
        "examples/test_encode_errors",
    ),
    Mutant(
        "base/half.h",
        "if (magnitude >= 0x477ff000)",
        "if (magnitude >= 0x47800000)",
        "halves that round to infinity",
        "examples/test_encode_values",
    ),
    Mutant(
        "base/half.h",
        "(rest == half && (kept & 1))",
        "rest == half",
        "halves round to even",
        "examples/test_parse_fixed",
    ),
    Mutant(
        "base/half.h",
        "return static_cast<uint16_t>(bits >> 16 | 0x40);  // NaN",
        "return static_cast<uint16_t>(bits >> 16);  // NaN",
        "a NaN that would become infinity",
        "examples/test_parse_fixed",
    ),
    Mutant(
        "base/half.h",
        "(bits + 0x7fff + (bits >> 16 & 1)) >> 16",
        "(bits + 0x8000) >> 16",
        "bfloat16 rounds to even",
        "examples/test_parse_fixed",
    ),
    Mutant(
        "base/records.h",
        "    if (origin.first_row > row) break;\n",
        "    if (origin.first_row >= row && row > 0) break;\n",
        "the file of a record",
        "examples/test_row_errors",
    ),
    Mutant(
        "base/records.h",
        "origin.record_index + rows * origin.stride;",
        "origin.record_index + rows;",
        "records of several shards",
        "examples/test_row_errors",
    ),
    Mutant(
        "base/process.cc",
        "All().generation_.fetch_add(1, std::memory_order_relaxed);",
        "",
        "a fork is noticed",
        "files/test_shard_life",
    ),
]
