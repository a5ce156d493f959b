"""Contenders: a file each, or a package where that grew long, found by being in this folder. The file sets `CONTENDER`,
and imports what it measures only inside its functions, so that a list of contenders costs nothing.

    def raw(job):
        import rival
        return [Reading("threads=2", rival.Dataset(job.dataset.files, threads=2), records=list)]

    CONTENDER = Contender("rival", "Rival", package="rival", tasks={"raw": raw})

A task's function runs in a process of the contender's own and returns settings. Those of the same row compete, and the
fastest of them is timed. The loop that is timed is in `kit/`, the same for all.

Names that need NumPy are not here, as a rival's environment may lack it: `Parsing` is in `kit.parsing`, `Picking` in
`kit.picking`.
"""

from benchmarks.contenders.kit.contender import Contender
from benchmarks.contenders.kit.environments import install
from benchmarks.contenders.kit.finding import found, load
from benchmarks.contenders.kit.importing import Importing, installed_bytes, peak_memory
from benchmarks.contenders.kit.job import CannotError, Job, cores, index_of, shards_of
from benchmarks.contenders.kit.reading import Reading, Tallying
from benchmarks.contenders.kit.setting import Counting, Setting
from benchmarks.contenders.kit.writing import Writing

__all__ = [
    "CannotError",
    "Contender",
    "Counting",
    "Importing",
    "Job",
    "Reading",
    "Setting",
    "Tallying",
    "Writing",
    "cores",
    "found",
    "index_of",
    "install",
    "installed_bytes",
    "load",
    "peak_memory",
    "shards_of",
]
