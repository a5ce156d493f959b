"""Scripts for TensorFlow run unchanged, and the same work batched by hand."""

from __future__ import annotations

import sys

from benchmarks.contenders import Job, Setting
from benchmarks.contenders.kit.scripted import Scripted, loaded
from benchmarks.contenders.ours import by_hand
from benchmarks.data.answers import Answer

UNCHANGED, BY_HAND = "unchanged script", "batched by hand"


class Unchanged(Scripted):
    """A script whose import alone is changed."""

    def answer(self) -> Answer:
        """Raises RuntimeError if something of the script ran in TensorFlow after all."""
        answer = super().answer()
        if "tensorflow" in sys.modules:
            raise RuntimeError("the script imported TensorFlow")
        return answer


def pipelines(job: Job) -> list[Setting]:
    hand = getattr(by_hand, job.dataset.name.replace("-", "_"))
    return [
        Unchanged(job, loaded(job, "tfrecord_fast.tensorflow"), UNCHANGED),
        Scripted(job, hand, BY_HAND),
    ]
