"""Mistakes in what fetches objects: the queue, the files over it, and what is asked for ahead."""

from tests.mutation.native import Mutant

FETCHING = "remote/test_fetching"

MUTANTS = [
    Mutant(
        "io/fetch_queue.cc",
        "  if (fetch->users > 0 || fetch->state ==",
        "  if (fetch->state ==",
        "memory in use",
        FETCHING,
    ),
    Mutant("io/fetch_queue.cc", "held_ + bytes <= options_.bytes);", "true);", "memory without a bound", FETCHING),
    Mutant(
        "io/fetch_queue.cc",
        "static_cast<int64_t>(bytes.size) == end - fetch->begin",
        "true",
        "fewer bytes than were asked for",
        FETCHING,
    ),
    Mutant("io/remote_file.cc", "  queue_->Drop(block.fetch);\n", "", "blocks that were read stay", FETCHING),
    Mutant(
        "io/remote_file.cc",
        "block.read.front().end < block.end",
        "false",
        "a block goes before it was read to its end",
        FETCHING,
    ),
    Mutant(
        "io/remote_file.cc",
        "offset - range->begin < most ? range->begin : offset",
        "offset",
        "gaps in a plan",
        FETCHING,
    ),
    Mutant(
        "pipeline/read_ahead.cc",
        "    if (!AskOne() && !Extend()) return;",
        "    if (!AskOne()) return;",
        "one object at a time",
        FETCHING,
    ),
    Mutant(
        "pipeline/read_ahead.cc",
        "  if ((from > 0 || input.part) && !compression_) from = RemoteFile::kLater;\n",
        "",
        "a compressed object that is resumed",
        "remote/test_reading",
    ),
    Mutant(
        "pipeline/region_maker.cc",
        "is_remote ? token_.Await(unit, &place) : token_.Peek(unit, &place);",
        "token_.Peek(unit, &place);",
        "bytes that two regions read",
        FETCHING,
    ),
    Mutant("pipeline/delivered.h", "    if (fetches_) fetches_->Close();\n", "", "threads at the end", FETCHING),
]
