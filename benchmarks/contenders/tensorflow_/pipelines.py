"""TensorFlow runs the scripts that were written for it."""

from __future__ import annotations

from benchmarks.contenders import Job, Setting
from benchmarks.contenders.kit.scripted import Scripted, loaded


def pipelines(job: Job) -> list[Setting]:
    return [Scripted(job, loaded(job, "tensorflow"))]
