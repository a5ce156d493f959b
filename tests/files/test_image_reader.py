"""ImageFeature in a ShardReader: crops that depend on record, seed and epoch alone; images that can't be decoded."""

import gzip
import json
import pickle
import threading
import time

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support.alarms import Alarm, alarmed
from tests.support.frames import frames, offsets
from tests.support.pictures import encoded, examples, photograph, pictures, random_crop, resized
from tfrecord_fast import ImageFeature

FILES, RECORDS = 3, 14
RANDOM = ImageFeature(8, crop="random", flip=True)


@pytest.fixture(scope="module")
def records():
    return [examples(pictures(RECORDS, seed=file), first=file * RECORDS) for file in range(FILES)]


@pytest.fixture(scope="module")
def files(tmp_path_factory, records):
    folder = tmp_path_factory.mktemp("images")
    for file, rows in enumerate(records):
        (folder / f"{file}.tfrecord").write_bytes(frames(rows))
    return str(folder / "*.tfrecord")


def reader_of(files, feature=RANDOM, **options):
    features = {"image": feature, "number": tf.FixedLenFeature([], tf.int64)}
    return tf.ShardReader(files, features, **{"seed": 5, "batch_size": 10, **options})


def drawn(*iterations):
    """The images of each record, in the order in which they came."""
    images = {}
    for batches in iterations:
        for batch in batches:
            for number, image in zip(batch["number"].tolist(), batch["image"], strict=True):
                images.setdefault(number, []).append(image)
    return images


def check_same(images, expected):
    assert images.keys() == expected.keys()
    for number in expected:
        np.testing.assert_array_equal(images[number], expected[number])


# ---- Random crops ----


@pytest.fixture(scope="module")
def first_epoch(files):
    return drawn(reader_of(files))


def test_crops_are_those_of_the_seed_the_epoch_and_the_record(files, records):
    reader = reader_of(files, RANDOM._replace(dtype=tf.float32, resize="nearest", antialias=False))
    for epoch in range(2):
        images = drawn(reader)
        for file in range(FILES):
            for number, (record, file_bytes) in enumerate(
                zip(records[file], pictures(RECORDS, seed=file), strict=True)
            ):
                pixels = np.asarray(tf.io.decode_image(file_bytes))
                top, left, height, width, mirrored = random_crop(
                    record, *pixels.shape[:2], seed=5, epoch=epoch, number=number
                )
                window = pixels[top : top + height, left : left + width]
                expected = resized(window, (8, 8), method="nearest")
                image = images[file * RECORDS + number][0]
                np.testing.assert_array_equal(image, expected[:, ::-1] if mirrored else expected)


@pytest.mark.parametrize(
    "options",
    [
        {"batch_size": 1},
        {"batch_size": 1000},
        {"num_threads": 1},
        {"num_threads": 5, "batch_size": 3},
        {"deterministic": False, "num_threads": 4, "batch_size": 3},
        {"shuffle_buffer": 16},
        {"shuffle_files": True},
        {"global_shuffle": True, "batch_size": 4},
        {"cycle_length": 3, "block_length": 2},
        {"prefetch_bytes": 0},
        {"num_threads": 3, "prefetch_bytes": 1 << 30},
    ],
    ids=str,
)
def test_crops_do_not_depend_on_how_records_are_read(files, first_epoch, options):
    check_same(drawn(reader_of(files, **options)), first_epoch)


@pytest.mark.parametrize("shuffle", [{}, {"shuffle_buffer": 9}, {"global_shuffle": True}], ids=str)
@pytest.mark.parametrize("shard_by", ["file", "record"])
def test_ranks_draw_the_same(files, first_epoch, shard_by, shuffle):
    if "global_shuffle" in shuffle and shard_by == "file":
        shard_by = "auto"
    readers = [reader_of(files, shard=(i, 2), shard_by=shard_by, batch_size=4, **shuffle) for i in range(2)]
    check_same(drawn(*readers), first_epoch)


def test_compressed_files_and_other_folders_draw_the_same(tmp_path, records, first_epoch):
    for file, rows in enumerate(records):
        (tmp_path / f"{9 - file}.gz").write_bytes(gzip.compress(frames(rows)))
    check_same(drawn(reader_of(str(tmp_path / "*.gz"))), first_epoch)


@pytest.mark.parametrize("shuffle", [{}, {"shuffle_buffer": 9}, {"global_shuffle": True}], ids=str)
def test_epochs_differ_and_each_is_the_same_again(files, shuffle, first_epoch):
    reader = reader_of(files, **shuffle)
    epochs = [drawn(reader) for _ in range(3)]
    check_same(epochs[0], first_epoch)
    changed = [(epochs[0][number][0] != epochs[1][number][0]).any() for number in epochs[0]]
    assert np.mean(changed) > 0.9
    together = drawn(reader_of(files, num_epochs=3, batch_size=11, **shuffle))
    check_same(together, {number: [epoch[number][0] for epoch in epochs] for number in epochs[0]})
    reader.set_epoch(1)
    check_same(drawn(reader), epochs[1])


@pytest.mark.parametrize("shuffle", [{}, {"shuffle_buffer": 9}, {"global_shuffle": True}], ids=str)
@pytest.mark.parametrize("after", [1, 5, 9])
def test_a_resumed_reader_draws_the_same(files, shuffle, after):
    reader = reader_of(files, num_epochs=2, batch_size=8, **shuffle)
    expected, state = [], None
    for i, batch in enumerate(reader, start=1):
        if i > after:
            expected.append(batch)
        elif i == after:
            state = json.dumps(reader.state_dict())
    resumed = reader_of(files, num_epochs=2, batch_size=8, num_threads=1, **shuffle)
    resumed.load_state_dict(json.loads(state))
    batches = list(resumed)
    assert len(batches) == len(expected) > 0
    for a, b in zip(batches, expected, strict=True):
        np.testing.assert_array_equal(a["image"], b["image"])


def test_a_copy_and_its_drawn_seed_draw_the_same(files):
    reader = reader_of(files, seed=None)
    copy = pickle.loads(pickle.dumps(reader))
    expected = drawn(reader)
    check_same(drawn(copy), expected)
    other = drawn(reader_of(files, seed=None))
    assert any((other[number][0] != expected[number][0]).any() for number in expected)


def test_a_seed_of_the_feature_takes_the_place_of_the_readers(files, first_epoch):
    check_same(drawn(reader_of(files, RANDOM._replace(seed=5), seed=99)), first_epoch)


def test_a_reader_s_batch_and_parse_example_draw_the_same(files, first_epoch):
    """A batch of records knows their numbers and their epoch."""
    features = {"image": RANDOM._replace(seed=5), "number": tf.FixedLenFeature([], tf.int64)}
    reader = tf.ShardReader(files, batch_size=9, shuffle_buffer=7)
    check_same(drawn(tf.io.parse_example(batch, features) for batch in reader), first_epoch)
    second = drawn(tf.io.parse_example(batch[::2], features) for batch in reader)
    expected = drawn(reader_of(files, num_epochs=2))
    check_same(second, {number: expected[number][1:] for number in second})


def test_a_dataset_draws_the_same(files, first_epoch):
    features = {"image": RANDOM._replace(seed=5), "number": tf.FixedLenFeature([], tf.int64)}
    dataset = tf.data.TFRecordDataset(files).repeat(2).batch(9)
    images = drawn(dataset.map(lambda batch: tf.io.parse_example(batch, features)))
    check_same(images, drawn(reader_of(files, num_epochs=2)))


def test_an_indexed_reader_draws_the_same_by_number_and_together(files, first_epoch):
    features = {"image": RANDOM._replace(seed=5), "number": tf.FixedLenFeature([], tf.int64)}
    reader = tf.IndexedReader(files, features)
    rows = [reader[i] for i in range(len(reader))]
    assert rows[0]["image"].shape == (8, 8, 3)
    images = {row["number"].item(): [row["image"]] for row in rows}
    check_same(images, first_epoch)
    check_same(drawn([reader.take([30, 2, 17])]), {i: first_epoch[i] for i in (30, 2, 17)})
    for row in reader.__getitems__([5, 40]):
        np.testing.assert_array_equal(row["image"], first_epoch[row["number"].item()][0])
    with pytest.raises(tf.errors.InvalidArgumentError, match='use "zeros"'):
        tf.IndexedReader(files, {"image": ImageFeature(8, on_error="skip")})


# ---- Batches ----


def test_images_of_their_own_sizes_are_lists(files):
    for batch in reader_of(files, ImageFeature()):
        assert type(batch["image"]) is list
        assert len(batch["image"]) == len(batch["number"])
    images = drawn(reader_of(files, ImageFeature()))
    for file in range(FILES):
        for i, picture in enumerate(pictures(RECORDS, seed=file)):
            np.testing.assert_array_equal(images[file * RECORDS + i][0], tf.io.decode_image(picture))


def test_a_label_and_columns_go_with_images(files):
    reader = tf.ShardReader(
        files,
        {"image": ImageFeature(4), "number": tf.FixedLenFeature([], tf.int64), "absent": tf.VarLenFeature(tf.int64)},
        columns=["image"],
        label_key="number",
        batch_size=8,
    )
    columns, label = next(iter(reader))
    assert list(columns) == ["image"]
    assert (columns["image"].shape, label.shape) == ((8, 4, 4, 3), (8,))


@pytest.fixture
def slow(tmp_path):
    """A function from a number of threads to a reader of two batches, which take long to decode."""
    picture = encoded(photograph(1500, 1500), quality=95)
    (tmp_path / "slow").write_bytes(frames(examples([picture] * 240)))

    def reader(threads):
        return tf.ShardReader(
            str(tmp_path / "slow"), {"image": ImageFeature(8)}, batch_size=120, num_threads=threads, prefetch_bytes=1
        )

    return reader


@pytest.mark.alone
def test_an_iteration_that_is_dropped_does_not_finish_its_batch(slow):
    begin = time.monotonic()
    batches = iter(slow(3))
    next(batches)
    whole_batch = time.monotonic() - begin
    time.sleep(0.1)  # the next batch has begun
    begin = time.monotonic()
    del batches
    assert time.monotonic() - begin < whole_batch / 2


@pytest.mark.alone
@pytest.mark.parametrize("threads", [1, 3])
def test_a_signal_handler_stops_decoding(slow, threads):
    begin = time.monotonic()
    next(iter(slow(threads)))
    whole_batch = time.monotonic() - begin
    begin = time.monotonic()
    with pytest.raises(Alarm), alarmed(0.1):
        list(slow(threads))
    assert time.monotonic() - begin < 0.1 + whole_batch / 2
    assert next(iter(slow(threads)))["image"].shape == (120, 8, 8, 3)


def test_two_threads_share_an_iterator(files, first_epoch):
    batches, taken = iter(reader_of(files, batch_size=2)), []

    def take():
        taken.extend(batches)

    threads = [threading.Thread(target=take) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check_same(drawn(taken), first_epoch)


def test_tables_have_no_images(files):
    with pytest.raises(tf.errors.InvalidArgumentError, match="tables have no decoded images"):
        tf.read_table(files, {"image": ImageFeature(8)})


# ---- Images that can't be decoded ----


@pytest.fixture
def damaged(tmp_path):
    good = pictures(8)
    rows = examples([b"junk" if i in (1, 6) else image for i, image in enumerate(good)])
    path = tmp_path / "a.tfrecord"
    path.write_bytes(frames(rows))
    return str(path), rows


@pytest.mark.parametrize("options", [{}, {"num_threads": 1}, {"shuffle_buffer": 3}, {"global_shuffle": True}], ids=str)
def test_an_error_names_the_file_the_record_and_the_feature(damaged, options):
    path, _ = damaged
    with pytest.raises(tf.errors.InvalidArgumentError, match=rf"{path}: feature 'image': .*\(record [16]\)"):
        list(reader_of(path, ImageFeature(8), batch_size=3, **options))


@pytest.mark.parametrize("size", [None, 8])
@pytest.mark.parametrize("on_error", ["skip", "zeros"])
@pytest.mark.parametrize(
    "options", [{}, {"batch_size": 3}, {"shuffle_buffer": 3}, {"global_shuffle": True}, {"cycle_length": 2}], ids=str
)
def test_skipped_lists_the_records(damaged, on_error, options, size):
    path, rows = damaged
    reader = reader_of(path, ImageFeature(size, on_error=on_error), **options)
    images = drawn(reader)
    assert set(images) == set(range(8)) - ({1, 6} if on_error == "skip" else set())
    if on_error == "zeros":
        assert not images[1][0].any()
    starts = offsets(rows)
    stretches = sorted(reader.skipped, key=lambda stretch: stretch.offset)
    assert [(s.path, s.offset, s.bytes) for s in stretches] == [
        (path, starts[i], starts[i + 1] - starts[i]) for i in (1, 6)
    ]
    assert all(s.reason.startswith("feature 'image': ") for s in stretches)


def test_skipped_lists_damage_and_images_together(damaged):
    path, rows = damaged
    contents = bytearray(frames(rows))
    contents[offsets(rows)[3] + 20] ^= 1
    with open(path, "wb") as file:
        file.write(contents)
    reader = reader_of(path, ImageFeature(8, on_error="skip"), on_corrupt="skip")
    assert set(drawn(reader)) == {0, 2, 4, 5, 7}
    assert [stretch.offset for stretch in reader.skipped] == [offsets(rows)[i] for i in (3, 1, 6)]


def test_a_compressed_file_is_counted_by_its_uncompressed_bytes(tmp_path, damaged):
    _, rows = damaged
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(frames(rows)))
    reader = reader_of(str(path), ImageFeature(8, on_error="skip"), shuffle_buffer=2)
    list(reader)
    assert sorted(stretch.offset for stretch in reader.skipped) == [offsets(rows)[i] for i in (1, 6)]
