"""The targets of the project, as ratios within one run, and whether the tables reach them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from benchmarks.data.tasks import IMAGES
from benchmarks.reporting.reasons import reason_for
from benchmarks.running.results import Row, Table


class Target(NamedTuple):
    task: str
    workload: str
    measure: str
    at_least: float  # or at most, where the measure says so
    measured: float
    met: bool

    @property
    def reason(self) -> str:
        """Why it is missed, and what is next; "" where it is met."""
        return "" if self.met else reason_for(self.task, self.workload, self.measure)


class Pair(NamedTuple):
    """Two rows of one table: ours should be `wanted` times as fast as the other, by workload. `ours` names our row, ""
    is the fastest one; `row` is the contender's."""

    task: str
    contender: str
    row: str
    wanted: dict[str, float]
    ours: str = ""


class Limit(NamedTuple):
    """A figure of a table that should be at least, or at most, `wanted`, by workload ("" for a task without data). `of`
    returns the figure, None where there is none."""

    task: str
    measure: str
    wanted: dict[str, float]
    of: Callable[[Table], float | None]
    at_most: bool = False


def same(value: float, *workloads: str) -> dict[str, float]:
    return dict.fromkeys(workloads, value)


PAIRS = [
    Pair("raw", "tensorflow", "", {"ctr": 15, "tok": 15, "emb": 8, "img": 5, "tiny": 30}),
    Pair("raw", "floor", "read + CRC", same(0.9, "ctr", "wide", "tok", "emb", "img", "seq", "tiny")),
    Pair("raw-gzip", "floor", "inflate", same(0.9, "ctr", "wide", "tok", "emb", "seq"), "in order"),
    Pair("parse", "tensorflow", "", {"ctr": 20, "wide": 15, "tok": 12, "emb": 10, "img": 5, "seq": 20}),
    Pair(
        "parse",
        "ours",
        "ShardReader, 1 thread",
        same(1.8, "ctr", "wide", "tok", "emb", "img", "seq"),
        "ShardReader, 2 threads",
    ),
    Pair("parse", "ours", "ShardReader, 1 thread", same(1, "ctr", "wide"), "ShardReader, 1 thread, groups"),
    Pair("parse", "floor", "read + CRC", {**same(0.5, "ctr", "wide"), **same(0.7, "tok", "emb", "img"), "seq": 0.4}),
    Pair("parse-gzip", "tensorflow", "", {"ctr": 10, "wide": 8, "tok": 4, "emb": 4, "seq": 5}),
    Pair("parse-memory", "tensorflow", "eager", {"ctr": 6}),
    Pair("parse-memory", "tfx_bsl", "", same(10, "ctr", "wide", "tok", "emb", "img", "seq")),
    Pair("shards", "ours", "ShardReader, 2 shards", {"ctr": 0.7}, "ShardReader, 10,000 shards"),
    Pair("gzip-own", "ours", "1 thread", {"ctr": 1.7}, "2 threads"),
    Pair("epoch", "ours", "ShardReader", {"ctr": 0.85}, "Dataset"),
    Pair("train-feed", "ours", "DataLoader", {"ctr": 0.4}, "DataLoader, 2 workers"),
    Pair("train-feed", "ours", "DataLoader, 2 workers", {"ctr": 0.9}, "DataLoader, 4 workers"),
    Pair("train-feed", "array_record", "Grain", {"ctr": 5, "img": 1.5}, "Grain"),
    Pair("tables", "ours", "ShardReader", {"ctr": 0.8}, "Arrow"),
    *(Pair("tables", "pyarrow", frame, {"ctr": 1}, frame) for frame in ("pandas", "polars", "DuckDB")),
    Pair("engines", "ours", "Spark, Parquet", {"ctr": 1 / 1.5}, "Spark"),
    Pair("engines", "ours", "ShardReader", {"ctr": 0.7}, "Ray"),
    Pair("engines", "ray", "", {"ctr": 10}, "Ray"),
    Pair("engines", "beam", "pipeline", {"ctr": 5}, "Beam, batches"),
    Pair("stats", "ours", "ShardReader, columns", {"ctr": 0.5}, "stats"),
    Pair(
        "pipelines",
        "tensorflow",
        "",
        {
            **same(1, "jpeg-augment", "jpeg-onehot", "detection"),
            **same(10, "bert-outside", "bert-inside", "ctr-40", "filter"),
            **same(5, "tokens", "speech", "sequences"),
            "patches": 2,
            **same(3, "cond", "python-if"),
        },
        "unchanged script",
    ),
    *(
        Pair("images", "tensorflow", row, wanted, ours)
        for row, ours, wanted in (
            ("antialias", "antialias", same(1.5, "photos-train", "photos-evaluate", "photos-large")),
            ("bilinear", "bilinear", same(1.5, "photos-train", "photos-large")),
            ("bilinear", "exact=False", {"photos-large": 3}),
        )
    ),
    Pair("images", "floor", "decode", {"photos-decode": 0.85}, "decode"),
    Pair("images", "ours", "decode, 1 thread", {"photos-decode": 1.9}, "decode"),
    Pair(
        "images",
        "ours",
        "antialias, 1 thread",
        same(1.9, "photos-train", "photos-evaluate", "photos-large"),
        "antialias",
    ),
    Pair("face-batches", "ours", "plain", same(0.8, "ctr", "tok"), "face"),
    *(
        Pair("remote", "floor", f"requests, {objects}", {"img": 0.85}, f"ShardReader, {objects}")
        for objects in ("1 object", "8 objects", "2,000 objects")
    ),
    Pair("random", "array_record", "", {"ctr": 5}, "take"),
    Pair("write", "tensorflow", "", {"ctr": 5, "emb": 4, "img": 1.5, "tiny": 8}),
    Pair(
        "write-columns", "tensorflow", "Example(features=…)", {"ctr": 100, "wide": 100, "tok": 50, "emb": 20, "img": 2}
    ),
    Pair("write-columns", "floor", "write", same(0.5, "ctr", "wide", "tok", "emb", "img")),
    Pair("write-columns", "tfx_bsl", "", {"ctr": 8}),
    Pair("write-gzip", "tensorflow", "", {"ctr": 4}),
    Pair("write-gzip-1", "tensorflow", "default level", {"ctr": 15}),
    Pair("write-gzip-1", "tensorflow", "level 1", {"ctr": 5}),
]


def microseconds(table: Table) -> float | None:
    """Per record, of our fastest row."""
    return table.base.time.median / table.dataset.records * 1e6 if table.base and table.dataset else None


def millions(table: Table) -> float | None:
    """Of records per second, of our fastest row."""
    of_one = microseconds(table)
    return 1 / of_one if of_one else None


def size_by_tensorflow(table: Table) -> float | None:
    rival = row_of(table, "tensorflow", "")
    return table.base.size / rival.size if table.base and rival and rival.size else None


def over_rivals(table: Table, ours: str = "", without: str | None = None) -> float | None:
    """How many times as fast as the fastest rival our row is, "" for the fastest; rivals' rows of the name `without` do
    not count."""
    mine = row_of(table, "ours", ours) if ours else table.base
    rivals = [row for row in table.timed if not row.ours and not row.floor and row.row != without]
    return table.between(mine, min(rivals, key=lambda row: row.time.median)).median if mine and rivals else None


def over_likes(table: Table) -> float | None:
    """How many times as fast as the rival that comes nearest to it our row of the same kind is."""
    rivals = [row for row in table.timed if not row.ours and not row.floor]
    return min((ratio.median for row in rivals if (ratio := table.ratio(row)) is not None), default=None)


def workers_over_rivals(table: Table) -> float | None:
    """Among those that use more than one process or thread."""
    return over_rivals(table, "DataLoader, 2 workers", without="DataLoader")


COMPARING = (size_by_tensorflow, over_rivals, over_likes, workers_over_rivals)  # figures that need a rival
PREFETCH = 32 * 1.048576  # MB, ShardReader's default prefetch_bytes


def peak_of_ours(table: Table) -> float | None:
    """MB, the largest of our rows; None where the file is smaller than the task wants."""
    peaks = [row.peak / 1e6 for row in table.timed if row.ours]
    return max(peaks, default=None) if table.dataset and table.dataset.file_bytes > 9.9e9 else None


LIMITS = [
    Limit("memory", "peak MB while 10 GB are read, at most", {"img": 300 + PREFETCH}, peak_of_ours, at_most=True),
    Limit("train-feed", "speed ÷ the fastest rival", {"ctr": 5, "img": 1.5}, over_rivals),
    Limit(
        "train-feed",
        "DataLoader, 2 workers: speed ÷ the fastest rival, except DataLoaders without workers",
        {"ctr": 5, "img": 1.5},
        workers_over_rivals,
    ),
    Limit("images", "speed ÷ the fastest rival", same(1, *IMAGES), over_likes),
    Limit("loop", "million records/s", {"tiny": 6}, millions),
    Limit("parse-single", "µs a record of one value, at most", {"one": 3}, microseconds, at_most=True),
    Limit("write-gzip", "size of the files ÷ TensorFlow, at most", {"ctr": 1.05}, size_by_tensorflow, at_most=True),
    Limit(
        "import",
        "ms over NumPy, at most",
        {"": 30},
        lambda table: table.base.time.median * 1e3 if table.base else None,
        at_most=True,
    ),
]


def targets(tables: list[Table]) -> list[Target]:
    """The targets that these tables measure."""
    return [target for table in tables if of_us(table) for target in of(table)]


def of_us(table: Table) -> bool:
    return table.base is not None and table.base.ours and not table.cold


def row_of(table: Table, contender: str, row: str) -> Row | None:
    """The timed row, None if there is none."""
    return next((r for r in table.timed if (r.contender, r.row) == (contender, row)), None)


def of(table: Table) -> Iterator[Target]:
    about = table.task, table.workload
    for pair in PAIRS:
        if pair.task == table.task and table.workload in pair.wanted:
            ours = row_of(table, "ours", pair.ours) if pair.ours else table.base
            other = row_of(table, pair.contender, pair.row)
            if ours is not None and other is not None:
                wanted, measured = pair.wanted[table.workload], table.between(ours, other).median
                yield Target(*about, measure_of(pair, other.label), wanted, measured, measured >= wanted)
    for limit in LIMITS:
        figure = limit.of(table) if limit.task == table.task and table.workload in limit.wanted else None
        if figure is not None:
            wanted = limit.wanted[table.workload]
            met = figure <= wanted if limit.at_most else figure >= wanted
            yield Target(*about, limit.measure, wanted, figure, met)


def measure_of(pair: Pair, other: str) -> str:
    if pair.contender == "ours":
        return f"{pair.ours}: speed ÷ {pair.row}"
    return f"{pair.ours + ': ' if pair.ours else ''}speed ÷ {other}"


def not_measured(tables: list[Table]) -> list[str]:
    """The targets of these tables that could not be measured, each with the reason; without those of rivals that were
    not asked for."""
    return [text for table in tables if not table.cold for text in lacking_pairs(table) + lacking_limits(table)]


def lacking_pairs(table: Table) -> list[str]:
    messages = []
    for pair in PAIRS:
        if pair.task != table.task or table.workload not in pair.wanted:
            continue
        rows = (("ours", pair.ours) if pair.ours else None, (pair.contender, pair.row))
        lacking = [row for row in rows if row and row_of(table, *row) is None]
        taking_part = {row.contender for row in table.rows}
        if (lacking or not of_us(table)) and {"ours", *(contender for contender, _ in lacking)} <= taking_part:
            what = f"{pair.task} {table.workload}, {pair.wanted[table.workload]:g}"
            measure = measure_of(pair, f"{pair.contender} {pair.row}".rstrip())
            messages.append(f"{what} × {measure}: {why(table, *(lacking[0] if lacking else ('ours', pair.ours)))}")
    return messages


def lacking_limits(table: Table) -> list[str]:
    lacking = []
    for limit in LIMITS:
        if limit.task != table.task or table.workload not in limit.wanted:
            continue
        # Without the rivals, no other row can be compared.
        if not of_us(table) or (limit.of(table) is None and limit.of not in COMPARING):
            what = f"{limit.task} {table.workload}, {limit.wanted[table.workload]:g}, {limit.measure}"
            lacking.append(f"{what}: {why_no_figure(table, limit)}")
    return lacking


def why_no_figure(table: Table, limit: Limit) -> str:
    if of_us(table) and table.dataset is not None:
        return f"the data is too small, {table.dataset.file_bytes / 1e9:.1f} GB"
    return why(table, "ours", "")


def why(table: Table, contender: str, name: str) -> str:
    """Why the row has no figure: what it says itself, or, where it is not there, what a contender says that has no
    figures at all."""
    rows = [row for row in table.rows if row.contender == contender]
    able = [row for row in rows if row.row == name] or ([] if any(row.status == "timed" for row in rows) else rows)
    return next((f"{row.status}: {row.words}" for row in able if row.status != "timed"), "no such row here")
