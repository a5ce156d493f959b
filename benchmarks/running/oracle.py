"""Answers of a contender that the others are compared with, for work that only a rival defines."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from pathlib import Path

from benchmarks import contenders
from benchmarks.data.answers import Answer
from benchmarks.data.dataset import Dataset
from benchmarks.data.pipelines import PIPELINES
from benchmarks.running.process import Process

VERSION = 1  # to be raised when an answer is composed differently, so that kept ones are recreated
ORACLES = ("tensorflow", "ours")  # the first that is installed
TIMEOUT = 300.0


def answer_of_script(task: str, dataset: Dataset) -> Answer:
    """The answer of TensorFlow to a pipeline, or of the first contender that is installed, kept beside the data.

    Raises:
      ContenderFailed: it could not run the script.
    """
    files = contenders.found()
    path, contender = next(
        (files[name], able) for name in ORACLES if (able := contenders.load(files[name])).why_not() is None
    )
    state = [[name, os.stat(name).st_size, os.stat(name).st_mtime_ns] for name in dataset.files]
    about = [VERSION, state, contender.name, contender.version(), PIPELINES[dataset.name].script("tensorflow")]
    key = hashlib.sha256(json.dumps(about).encode()).hexdigest()[:12]
    kept = Path(dataset.folder) / f"{task}-{key}.json"
    # What is measured is not kept: its next answer may be another one.
    if contender.ours or not kept.exists():
        answer = asked(path, contender, task, dataset)
        draft = kept.with_suffix(f".{os.getpid()}")
        draft.write_text(json.dumps(answer))
        draft.rename(kept)
    answer = json.loads(kept.read_text())
    return answer


def asked(path: Path, contender: contenders.Contender, task: str, dataset: Dataset) -> Answer:
    process = Process(path, contender, TIMEOUT)
    try:
        with tempfile.TemporaryDirectory() as scratch:
            process.call("prepare", task=task, dataset=dataset.as_json(), scratch=scratch)
            answer: Answer = process.call("answer", setting=0)["answer"]
            return answer
    finally:
        process.close()
