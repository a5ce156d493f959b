"""`tfrecord-fast view`: compressed files, whose records are read from the start."""

import os

import tfrecord_fast as tf
from tests.support.viewer import viewing


def write(path):
    """20,000 records, of which each begins with its number."""
    records = [i.to_bytes(4, "little") + os.urandom(1000) for i in range(20_000)]
    with tf.io.TFRecordWriter(path, "GZIP") as writer:
        writer.write_batch(records)
    return records


def test_going_back_reads_again_what_is_not_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("tfrecord_fast.cli.commands.view.sources._KEPT", 1 << 20)
    records = write(tmp_path / "a")
    with viewing(tmp_path / "a") as viewer:
        for record in (19_999, 0, 19_998, 5):
            viewer.ask("api/record", record=record)
            assert viewer.get("bytes", record=record).content == records[record]


def test_who_waits_for_a_record_is_told_how_far_reading_is(tmp_path, monkeypatch):
    monkeypatch.setattr("tfrecord_fast.cli.commands.view.pages._PATIENCE", 0.0)
    write(tmp_path / "a")
    said = []
    with viewing(tmp_path / "a") as viewer:
        while "waiting" in (answer := viewer.get("api/record", record=19_999).json):
            said += [answer["waiting"]]
    read = [int(line.split()[4].replace(",", "")) for line in said if line.startswith("Reading from the start: ")]
    assert len(read) > 1 and read == sorted(read) and 0 < read[0] < read[-1] < 20_000
    assert "problem" not in answer
