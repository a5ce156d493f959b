"""Mistakes in csrc/bindings: bounds, types, references, memory that changes, what Python and Arrow hand over."""

from tools.mutation.native import Mutant

LIKE = "values/test_bytes_like"
BATCH = "core/test_record_batch"
WRITER = "core/test_writer"
FILES = "faults/test_python_files"
ARROW = "examples/test_encode_arrow"
VALUES = "examples/test_encode_arrow_values"
CHANGING = "examples/test_encode_changing"
ROW_ERRORS = "examples/test_row_errors"

MUTANTS = [
    # ---- bytes_like.cc, bytes_views.cc, bytes_sequence.cc ----
    Mutant(
        "bindings/bytes_like.cc",
        "  RefuseMasked(array, what);\n  if (IsBytes(array)) {",
        "  if (IsBytes(array)) {",
        "bytes that are masked",
        LIKE,
    ),
    Mutant("bindings/bytes_like.cc", "PyAnySet_Check(object.ptr()) || ", "", "sets have no order", LIKE),
    Mutant(
        "bindings/bytes_like.cc",
        "for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(sequence.ptr()); ++i) {",
        "for (Py_ssize_t i = 0, n = PySequence_Fast_GET_SIZE(sequence.ptr()); i < n; ++i) {",
        "a list that becomes shorter",
        LIKE,
    ),
    Mutant(
        "bindings/bytes_like.cc",
        "if (memory == Memory::kFrozen) Freeze(object, &held.bytes, &held.owner);",
        "",
        "memory that may change",
        BATCH,
    ),
    Mutant(
        "bindings/bytes_like.cc",
        "PyObject_CheckBuffer(object.ptr()) && !IsNumpyScalar(object)) return OfBuffer",
        "PyObject_CheckBuffer(object.ptr())) return OfBuffer",
        "a number of NumPy is no bytes",
        LIKE,
    ),
    Mutant(
        "bindings/bytes_like.cc",
        "  const Recursion recursion;\n  if (IsArray(object)) return OfArray(",
        "  if (IsArray(object)) return OfArray(",
        "an array that holds itself",
        LIKE,
    ),
    Mutant(
        "base/records.cc",
        "origin.first_row = first + i;\n    origin.stride",
        "origin.stride",
        "the files of a slice",
        ROW_ERRORS,
    ),
    Mutant(
        "bindings/bytes_like.cc",
        "held_->objects.push_back(Py_NewRef(item));",
        "held_->objects.push_back(item);",
        "a batch holds its bytes objects",
        BATCH,
    ),
    Mutant(
        "bindings/bytes_views.cc",
        "if (static_cast<size_t>(PySequence_Fast_GET_SIZE(sequence.ptr())) != size) {",
        "if (false) {",
        "a list that becomes shorter",
        LIKE,
    ),
    Mutant(
        "bindings/bytes_like.cc", "IsFrozen(object.ptr())) return;", "true) return;", "memory that may change", CHANGING
    ),
    Mutant("bindings/bytes_like.cc", " || IsBytesView(exporter)", "", "our own batches are not copied", CHANGING),
    # ---- record_batch.cc ----
    Mutant(
        "bindings/bytes_sequence.cc",
        "number < 0 || number >= length) {",
        "number < 0 || number > length) {",
        "the end",
        BATCH,
    ),
    Mutant(
        "bindings/record_batch.cc",
        "if (size > bytes.size() - used) throw",
        "if (false) throw",
        "a pickle that claims too much",
        BATCH,
    ),
    Mutant(
        "base/records.cc",
        "i += (end - row + step - 1) / step;",
        "i += (end - row) / step;",
        "the files of batches that are joined",
        ROW_ERRORS,
    ),
    # ---- arrow/import.cc ----
    Mutant(
        "arrow/import.cc",
        "if (offset < before || offset > limit) {",
        "if (offset > limit) {",
        "offsets that descend",
        VALUES,
    ),
    Mutant(
        "arrow/import.cc",
        "length, array.children[0]->length,",
        "length, INT64_MAX,",
        "lists past the end",
        VALUES,
    ),
    Mutant(
        "arrow/import.cc",
        " || offset + size > ItemOf<int64_t>(sizes, buffer)) {",
        ") {",
        "a view past the end of its buffer",
        VALUES,
    ),
    Mutant(
        "arrow/import.cc",
        ">= static_cast<uint64_t>(size))) {",
        "> static_cast<uint64_t>(size))) {",
        "an index past the end of its dictionary",
        VALUES,
    ),
    Mutant("arrow/import.cc", "  given->release = nullptr;\n", "", "a capsule is used once", VALUES),
    Mutant(
        "arrow/import.cc",
        "if (first + length > array.length) {",
        "if (first + length > array.length + 1) {",
        "a child that is too short",
        VALUES,
    ),
    Mutant("arrow/import.cc", "out[i] = Bit(bits, offset + i);", "out[i] = Bit(bits, i);", "a slice", ARROW),
    Mutant("arrow/import.cc", "        column->owner = owner_;\n", "", "strings hold their memory", ARROW),
    # ---- python_io.cc ----
    Mutant(
        "bindings/python_io.cc",
        "if (n < 0 || static_cast<size_t>(n) > most) {",
        "if (n < 0) {",
        "more bytes than there is room for",
        FILES,
    ),
    Mutant("bindings/python_io.cc", " || PyBool_Check(value)) {", ") {", "True is no number of bytes", FILES),
    Mutant(
        "bindings/python_io.cc",
        "} else if (static_cast<size_t>(view.len) > size) {",
        "} else if (false) {",
        "more bytes than were asked for",
        FILES,
    ),
    Mutant(
        "bindings/python_io.cc",
        "    if (view.itemsize != 1) {",
        "    if (false) {",
        "what is read has to be bytes",
        FILES,
    ),
    Mutant("bindings/python_io.cc", "      failed_ = true;\n", "", "after a failure nothing more is written", FILES),
    Mutant("bindings/python_io.cc", "      part.data += n;\n", "", "a write that takes only a part", WRITER),
    Mutant(
        "bindings/python_io.cc",
        "return IsBuiltin(readinto) ? ReadInto(out, size, got) : ReadCopy(out, size, got);",
        "return ReadInto(out, size, got);",
        "a buffer that readinto keeps",
        FILES,
    ),
    Mutant(
        "bindings/python_io.cc",
        "if (plain && error.matches(PyExc_OSError)) {",
        "if (error.matches(PyExc_OSError)) {",
        "an OSError of a class of one's own",
        FILES,
    ),
    Mutant("bindings/python_io.cc", "  if (!IsOfBytes(held->view)) return nullptr;\n", "", "wider items", LIKE),
    Mutant(
        "bindings/python_io.cc",
        "  Py_XDECREF(object);\n}",
        "}",
        "a file object is let go",
        WRITER,
    ),
    Mutant(
        "bindings/python_io.cc",
        "    if (object == nullptr) continue;\n",
        "    continue;\n",
        "the garbage collector sees file objects",
        FILES,
    ),
]
