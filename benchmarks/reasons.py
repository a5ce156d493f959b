"""Why a target is missed, and what is next: what a report prints beside it.

By task, the measure's beginning, and the workload ("" for all that have no reason of their own). A reason is what was
found out about the code (docs/performance/), not about one run, so that it holds for every report until someone finds
out more. Targets that were never missed have none.
"""

from __future__ import annotations

REASONS: dict[tuple[str, str, str], str] = {
    ("raw", "speed ÷ TensorFlow", ""): (
        "bounded by read() and the CRC: a loop in C++ that does only these is no faster; TensorFlow is two to three "
        "times as fast here as where the target was set. Next: nothing of ours; another machine to hold it against"
    ),
    ("parse", "speed ÷ TensorFlow", "emb"): (
        "read(), the CRC and one copy of every value, at memory's pace; TensorFlow is more than twice as fast here as "
        "where the target was set. Next: copying out of chunks that are in the cache still"
    ),
    ("parse", "speed ÷ TensorFlow", "ctr"): (
        "half of the time is read() and the CRC; the walk takes 2.6 ns an entry. Next: docs/performance/parse.md"
    ),
    ("parse", "speed ÷ TensorFlow", "seq"): (
        "steps of 20 bytes, each with three headers, at about 1 ns, and a quarter of the time read() and the CRC. "
        "Next: docs/performance/parse.md"
    ),
    ("parse", "ShardReader, 2 threads", ""): (
        "two processes of one thread each scale little further where cores share caches and memory (1.8 to 1.9, wide). "
        "Next: parsing a large batch's records while they are in the cache, chunk by chunk"
    ),
    ("parse-gzip", "speed ÷ TensorFlow", ""): (
        "inflating, at 0.90 to 0.96 of what ISA-L alone does. Next: nothing but another inflater; files that this "
        "package wrote are inflated on all cores"
    ),
    ("parse-memory", "speed ÷ tfx-bsl", ""): (
        "values are written once, at the pace of memory. Next: nothing of ours; fetching the next record's values gave "
        "2 to 4 %"
    ),
    ("shards", "ShardReader, 10,000", ""): (
        "to open, read and close so many files, and nothing else, takes the system as long as two files take us for "
        "everything (the floor's row). Next: nothing of ours"
    ),
    ("epoch", "Dataset", ""): (
        "both run the same native stream, and side by side in one process take about the same time (0.8 to 1.0); here "
        "the Dataset takes half as much processor time again, and why is not found yet. Next: to find it"
    ),
    ("write", "speed ÷ TensorFlow", ""): (
        "memory: the floor, a plain write() of the bytes, is only 4.6 times TensorFlow on ctr. Next: nothing of ours"
    ),
    ("write-columns", "speed ÷ TensorFlow", "tok"): (
        "28 to 58 times in four runs: the first pass over the integers is memory's. Next: columns taken in blocks that "
        "stay in the cache"
    ),
}
UNKNOWN = "not looked into yet: it was met in earlier runs, or is new"


def reason_for(task: str, workload: str, measure: str) -> str:
    """The workload's own reason before that for all of them."""
    for at in (workload, ""):
        for (of, begins, where), text in REASONS.items():
            if (of, where) == (task, at) and measure.startswith(begins):
                return text
    return UNKNOWN
