"""Python's errors about files that are no TFRecord files, or that need something to be read, say what they are."""

import bz2
import gzip
import io
import struct

import pytest

import tfrecord_fast as tf
from tests.support.frames import frames

HADOOP = struct.pack(">II", 40_000, 30_000) + bytes([0xC0, 0xB8, 0x02]) + bytes(30_000)  # lengths, then Snappy's own
FOREIGN = {
    "Git LFS": b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n",
    "HTML": b"<!DOCTYPE html><html><title>Quota exceeded</title>",
    "Parquet": b"PAR1" + bytes(100) + b"PAR1",
    "JSON": b'{"a": 1}\n',
    "BZIP2": bz2.compress(b"x" * 100),
    "LZ4": b"\x04\x22\x4d\x18" + bytes(50),
    "Hadoop": HADOOP,
    "GZIP data, compressed with GZIP": gzip.compress(gzip.compress(frames([b"record"]))),
}


@pytest.mark.parametrize("word", FOREIGN)
def test_the_error_of_a_foreign_file_names_its_format(tmp_path, word):
    path = tmp_path / "a"
    path.write_bytes(FOREIGN[word])
    for read in (
        lambda: list(tf.data.TFRecordDataset(path)),
        lambda: list(tf.ShardReader(path)),
        lambda: list(tf.data.TFRecordDataset(path).map(lambda record: record)),
    ):
        with pytest.raises(tf.DataLossError, match=word) as caught:
            read()
        assert (caught.value.offset, caught.value.path) == (0, str(path))


def test_damage_of_a_tfrecord_file_names_no_format(tmp_path):
    (tmp_path / "a").write_bytes(b"\1" + frames([b"record"])[1:])
    with pytest.raises(tf.DataLossError) as caught:
        list(tf.data.TFRecordDataset(tmp_path / "a"))
    assert "looks like" not in str(caught.value)


def test_zstd_that_needs_more_than_a_reader_has_is_not_called_damaged(tmp_path):
    zstandard = pytest.importorskip("zstandard")
    data = frames([b"x" * 100] * 1000)
    parameters = zstandard.ZstdCompressionParameters.from_level(3, window_log=30, enable_ldm=True)
    file = io.BytesIO()
    with zstandard.ZstdCompressor(compression_params=parameters).stream_writer(file, closefd=False) as writer:
        writer.write(data)
    dictionary = zstandard.train_dictionary(
        1 << 12, [data[i : i + 500] + bytes([i % 251]) for i in range(0, 50_000, 50)]
    )
    files = {"window": file.getvalue(), "dictionary": zstandard.ZstdCompressor(dict_data=dictionary).compress(data)}
    for word, content in files.items():
        (tmp_path / word).write_bytes(content)
        with pytest.raises(tf.DataLossError, match=word) as caught:
            list(tf.data.TFRecordDataset(tmp_path / word))
        assert "damaged" not in str(caught.value)
