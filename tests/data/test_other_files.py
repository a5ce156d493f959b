"""TextLineDataset and FixedLengthRecordDataset give what TensorFlow's give."""

import gzip
import time
import zlib

import pytest

import tfrecord_fast as tf
from tests.support import live_tensorflow
from tests.tensorflow.side_by_side import of_both

needs_tensorflow = pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")
PACK = {"": bytes, "GZIP": gzip.compress, "ZLIB": zlib.compress}
TEXTS = [b"", b"\n", b"one", b"one\n", b"a\r\nb\n\r\n\nc", b"x" * 600_000 + b"\n" + b"y" * 300_000, b"\n\n", b"\r\n"]


def taken(kind, names, options):
    """The elements, and the word "error" where one is raised."""
    found, iterator = [], iter(getattr(tf.data, kind)(names, **options))
    for _ in range(50):
        try:
            element = next(iterator)
            found.append(element if isinstance(element, bytes) else element.numpy())
        except StopIteration:
            return found
        except Exception:
            found.append("error")
    return found


def files(folder, contents, compression):
    names = []
    for number, content in enumerate(contents):
        (folder / str(number)).write_bytes(PACK[compression](content))
        names.append(str(folder / str(number)))
    return names


def compare(kind, names, options):
    ours = taken(kind, names, options)
    assert ours == live_tensorflow.call(taken, kind, names, options)
    return ours


@needs_tensorflow
@pytest.mark.parametrize("compression", PACK)
def test_lines(tmp_path, compression):
    names = files(tmp_path, TEXTS, compression)
    for name in names:
        compare("TextLineDataset", [name], {"compression_type": compression})
    assert len(compare("TextLineDataset", names, {"compression_type": compression})) > 10


@needs_tensorflow
@pytest.mark.parametrize("compression", PACK)
@pytest.mark.parametrize("sizes", [(3, 0, 0), (4, 2, 1), (5, 0, 7), (10, 0, 0), (7, 3, 0), (1, 0, 0), (3, 20, 0)])
def test_records_of_one_size(tmp_path, sizes, compression):
    names = files(tmp_path, [bytes(range(23)), bytes(range(10)), b""], compression)
    options = dict(zip(("record_bytes", "header_bytes", "footer_bytes"), sizes, strict=True))
    for name in names[: 2 if compression else 3]:
        ours = taken("FixedLengthRecordDataset", [name], {**options, "compression_type": compression})
        theirs = live_tensorflow.call(
            taken, "FixedLengthRecordDataset", [name], {**options, "compression_type": compression}
        )
        if "error" in theirs:
            assert "error" in ours
        else:
            assert ours == theirs


def test_a_carriage_return_within_a_line_is_kept(tmp_path):
    """TensorFlow drops all of them."""
    (tmp_path / "a").write_bytes(b"c\rd\r\r\ne\r")
    assert list(tf.data.TextLineDataset(tmp_path / "a")) == [b"c\rd\r", b"e\r"]


def test_a_file_smaller_than_its_footer_is_an_error(tmp_path):
    (tmp_path / "a").write_bytes(bytes(10))
    with pytest.raises(tf.errors.InvalidArgumentError, match="not a multiple of 4"):
        list(tf.data.FixedLengthRecordDataset(tmp_path / "a", 4, footer_bytes=30))


def test_large_records_cross_blocks(tmp_path):
    content = bytes(range(256)) * 3000
    (tmp_path / "a").write_bytes(b"head" + content + b"foot")
    found = list(tf.data.FixedLengthRecordDataset(tmp_path / "a", 1000, header_bytes=4, footer_bytes=4))
    assert b"".join(found) == content and {len(record) for record in found} == {1000}


def test_names_from_a_dataset_and_a_file_that_is_missing(tmp_path):
    names = files(tmp_path, [b"a\nb", b"c"], "")
    assert list(tf.data.TextLineDataset(tf.data.Dataset.from_tensor_slices(names))) == [b"a", b"b", b"c"]
    lines = iter(tf.data.TextLineDataset([str(tmp_path / "none"), names[1]]))
    with pytest.raises(FileNotFoundError, match="none"):
        next(lines)
    assert list(lines) == [b"c"]
    with pytest.raises(ValueError, match="SNAPPY"):
        tf.data.TextLineDataset(names, "SNAPPY")
    with pytest.raises(ValueError, match="record_bytes"):
        tf.data.FixedLengthRecordDataset(names, 0)


@pytest.mark.parametrize("compression", ["GZIP", "ZLIB"])
def test_a_compressed_file_that_was_cut_is_an_error(tmp_path, compression):
    packed = PACK[compression](b"line\n" * 50_000)
    (tmp_path / "a").write_bytes(packed[: len(packed) // 2])
    with pytest.raises(tf.errors.DataLossError, match="a: damaged"):
        list(tf.data.TextLineDataset(tmp_path / "a", compression))


@pytest.mark.alone
@pytest.mark.parametrize("kind", ["line", "record"])
def test_the_time_for_a_long_one_grows_with_its_length(tmp_path, kind):
    """It took seconds for 100 MB, and four times that for twice as much."""
    size = 100 << 20
    with open(tmp_path / "a", "wb") as file:
        file.truncate(size)
    begun = time.process_time()
    names = tmp_path / "a"
    dataset = tf.data.TextLineDataset(names) if kind == "line" else tf.data.FixedLengthRecordDataset(names, size)
    assert [len(one) for one in dataset] == [size]
    assert time.process_time() - begun < 3


# ---- Several files in turn, and streams of ZLIB ----


def fixed(names, **options):
    return tf.data.FixedLengthRecordDataset(names, 3, **options)


@needs_tensorflow
@pytest.mark.parametrize("at_once", [None, 1, 2, 3, 10])
def test_files_are_read_in_turn_as_by_tensorflow(tmp_path, at_once):
    paths = [str(tmp_path / name) for name in "abcde"]
    for number, path in enumerate(paths):
        with open(path, "wb") as file:
            file.write(b"".join(b"%d%d\n" % (number, line) for line in range(number + 1)))

    def read(paths, at_once):
        text = tf.data.TextLineDataset(paths, num_parallel_reads=at_once)
        fixed = tf.data.FixedLengthRecordDataset(paths, 3, num_parallel_reads=at_once)
        return [list(one.as_numpy_iterator()) for one in (text, fixed)]

    mine, theirs = of_both(read, paths, at_once)
    assert mine == theirs


@pytest.mark.parametrize("make", [tf.data.TextLineDataset, fixed])
def test_files_in_turn_are_one_at_least(tmp_path, make):
    with pytest.raises(tf.errors.InvalidArgumentError, match="`num_parallel_reads` must be > 0, got 0"):
        make([str(tmp_path / "a")], num_parallel_reads=0)
    (tmp_path / "a").write_bytes(b"11\n")
    assert len(list(make([str(tmp_path / "a")] * 3, num_parallel_reads=1000))) == 3


def test_streams_of_zlib_follow_each_other(tmp_path):
    """TensorFlow hides those after the first."""
    path = tmp_path / "a"
    lines = [b"%d" % i for i in range(100_000)]
    whole = b"".join(line + b"\n" for line in lines)
    cut = 300_001
    for parts in ([whole[:cut], whole[cut:]], [b"", whole], [whole, b""], [whole[:3], b"", b"", whole[3:]]):
        path.write_bytes(b"".join(map(zlib.compress, parts)))
        assert list(tf.data.TextLineDataset(str(path), "ZLIB")) == lines


@pytest.mark.parametrize("parts", [[], [b""], [b"", b""]])
def test_an_empty_file_of_zlib_has_no_lines(tmp_path, parts):
    (tmp_path / "a").write_bytes(b"".join(map(zlib.compress, parts)))
    assert list(tf.data.TextLineDataset(str(tmp_path / "a"), "ZLIB")) == []


@pytest.mark.parametrize("after", [b"junk", zlib.compress(b"b\n")[:-1], zlib.compress(b"b\n")[:1], b"\0"])
def test_what_follows_a_stream_of_zlib_and_is_none_is_an_error(tmp_path, after):
    (tmp_path / "a").write_bytes(zlib.compress(b"a\n") + after)
    lines = iter(tf.data.TextLineDataset(str(tmp_path / "a"), "ZLIB"))
    assert next(lines) == b"a"
    with pytest.raises(tf.errors.DataLossError, match="damaged or not ZLIB"):
        list(lines)


@pytest.mark.parametrize("names", [[1, 2], 3, tf.data.Dataset.range(2), tf.data.Dataset.from_tensors(("a", "b"))])
@pytest.mark.parametrize(
    "dataset",
    [tf.data.TextLineDataset, lambda names: tf.data.FixedLengthRecordDataset(names, 1), tf.data.TFRecordDataset],
)
def test_numbers_are_refused_as_names_at_once(names, dataset):
    with pytest.raises(TypeError, match="filenames must be paths"):
        dataset(names)


def lines_of_a_file_that_is_written_again(path, lines):
    with open(path, "w") as file:
        file.writelines(f"{number}\n" for number in range(lines))
    iterator = iter(tf.data.TextLineDataset(path))
    next(iterator)
    with open(path, "w") as file:
        file.writelines(f"another {number}\n" for number in range(lines))
    return [line if isinstance(line, bytes) else line.numpy() for line in iterator]


@needs_tensorflow
@pytest.mark.parametrize("lines", [1, 2, 1000])
def test_an_iterator_at_the_end_of_a_file_sees_nothing_that_is_added(tmp_path, lines):
    path = str(tmp_path / "a")
    ours = lines_of_a_file_that_is_written_again(path, lines)
    assert ours == live_tensorflow.call(lines_of_a_file_that_is_written_again, path, lines)


@pytest.mark.parametrize(("name", "wbits"), [("GZIP", 31), ("ZLIB", 15)])
@pytest.mark.parametrize("dataset", [tf.data.TextLineDataset, tf.data.FixedLengthRecordDataset])
def test_what_a_writer_has_flushed_comes_before_the_error(tmp_path, dataset, name, wbits):
    writer = zlib.compressobj(wbits=wbits)
    (tmp_path / "a").write_bytes(writer.compress(b"one\ntwo\n") + writer.flush(zlib.Z_SYNC_FLUSH))
    size = {"record_bytes": 4} if dataset is tf.data.FixedLengthRecordDataset else {}
    iterator = iter(dataset(tmp_path / "a", compression_type=name, **size))
    assert [next(iterator).strip(), next(iterator).strip()] == [b"one", b"two"]
    with pytest.raises(tf.errors.DataLossError):
        next(iterator)
