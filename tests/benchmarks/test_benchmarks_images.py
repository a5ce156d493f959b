"""The task of images: synthetic photographs, decoded and resized by every contender, with answers compared."""

import copy
import io
import re

import numpy as np
import pytest
from PIL import Image

from benchmarks import contenders
from benchmarks.contenders.kit.imaging import Photos, collated, computed, count_of, of_arrays, photos_of, random_box
from benchmarks.contenders.ours.images import INEXACT, ONE_THREAD
from benchmarks.data.answers import difference
from benchmarks.data.photos import DECODE, EVALUATE, PHOTOS, RATIO, SCALE, SIZE, TRAIN, described_images, resized_size
from benchmarks.data.tasks import TASKS
from benchmarks.reporting.targets import over_likes, targets
from benchmarks.running import likeness
from benchmarks.running.harness import run
from benchmarks.running.method import Method
from benchmarks.running.results import Row, Size, Table
from tests.support.contenders import more_contenders

FOUND = contenders.found()
SHORT = Method(rounds=1, trials=1, min_time=0.0)
RECORDS = {"photos-large": 2}  # of a file
SMALL = {name: RECORDS.get(name, 12) / workload.records for name, workload in PHOTOS.items()}


def photo(height=40, width=60, seed=0):
    rng = np.random.default_rng(seed)
    return np.asarray(Image.fromarray(rng.integers(0, 256, (5, 7, 3), np.uint8)).resize((width, height)))


def described(images, step=EVALUATE):
    return described_images(enumerate(images), step)


def test_every_workload_of_photographs_is_one_of_the_task():
    assert set(TASKS["images"].workloads) == set(PHOTOS)


@pytest.mark.parametrize("name", PHOTOS)
def test_photographs_have_the_sizes_that_are_stated(name):
    workload = PHOTOS[name]
    n = 4 if name == "photos-large" else 24
    ((columns, records),) = (next(workload.chunks(0, min(n, workload.chunk))),)
    assert np.mean([len(record) for record in records]) == pytest.approx(workload.mean_bytes, rel=0.06)
    sizes = {Image.open(io.BytesIO(image)).size[::-1] for image in columns["image"]}
    assert sizes <= set(workload.sizes)
    assert len(set(columns["label"].tolist())) == len(records)


def test_photographs_have_edges_and_textures_of_all_scales():
    (columns, _) = next(PHOTOS["photos-decode"].chunks(0, 4))
    for image in columns["image"]:
        levels = np.asarray(Image.open(io.BytesIO(image)).convert("L"), np.float64)
        assert 25 < levels.std() < 90
        spectrum = np.abs(np.fft.rfft(levels[:256, :256] - levels[:256, :256].mean(), axis=1)).mean(0)
        octaves = [spectrum[low : 2 * low].mean() for low in (4, 8, 16, 32, 64)]
        assert octaves == sorted(octaves, reverse=True)


@pytest.mark.parametrize(
    "name, names",
    [
        ("photos-evaluate", ["ours", "torch"]),
        ("photos-decode", ["ours", "floor"]),
        *more_contenders(
            *((name, ["ours", "tensorflow", "torch", "array_record", "dali", "webdataset"]) for name in PHOTOS)
        ),
    ],
)
def test_contenders_give_the_images_of_pillow(name, names, data):
    table = run("images", data("images", name), {key: FOUND[key] for key in names}, SHORT)
    assert [(row.label, row.reason) for row in table.rows if row.status not in ("timed", "missing")] == []
    assert [(t.label, t.reason) for row in table.rows for t in row.tried if t.status != "ok"] == []
    assert table.timed


def test_the_floor_decodes_every_photograph(data, tmp_path):
    floor = contenders.load(FOUND["floor"])
    settings = floor.tasks["images"](contenders.Job("images", data("images", "photos-decode"), tmp_path))
    assert {setting.run() for setting in settings} == {24}
    with pytest.raises(contenders.CannotError, match="more than decoding"):
        floor.tasks["images"](contenders.Job("images", data("images", "photos-train"), tmp_path))


# Answers


def brighter(image):
    return np.minimum(image.astype(np.int16) + 12, 255).astype(np.uint8)


def moved(image):
    return np.roll(image, 4, axis=1)


def mirrored(image):
    return image[:, ::-1]


def of_another_size(image):
    return image[:-1]


@pytest.mark.parametrize("change", [brighter, moved, mirrored, of_another_size])
@pytest.mark.parametrize("step", [DECODE, EVALUATE])
def test_images_that_differ_are_found(step, change):
    images = [photo(300, 300, seed) for seed in range(3)]
    expected = described(images, step)
    assert difference(expected, described(images, step)) is None
    assert "image 1: " in difference(expected, described([images[0], change(images[1]), images[2]], step))


def test_rounding_is_no_difference():
    images = [photo(300, 300, seed) for seed in range(3)]
    noise = np.random.default_rng(0).integers(-2, 3, images[0].shape)
    rounded = [np.clip(image + noise, 0, 255).astype(np.float32) for image in images]
    assert difference(described(images), described(rounded)) is None


def test_images_under_other_labels_are_found():
    images = [photo(seed=seed) for seed in range(3)]
    assert difference(described(images), described(images[::-1])) is not None
    assert "labels: 1 of 3" in difference(described(images), described(images[:2]) | {"records": 3})


def test_random_crops_are_compared_by_their_levels():
    images = [photo(300, 300, seed) for seed in range(100)]
    expected = described(images, TRAIN)
    crops = described([image[10:250, 10:260] for image in images], TRAIN)
    assert difference(expected, crops) is None
    scaled = described([image / 255 for image in images], TRAIN)
    assert "mean of the levels" in difference(expected, scaled)
    flat = copy.deepcopy(expected)
    flat["images"]["deviation"] = 0.0
    assert "deviation of the levels" in difference(expected, flat)


def setting(data, tmp_path, name, batches):
    return Photos(contenders.Job("images", data("images", name), tmp_path), "s", batches, of_arrays, count_of, "")


def test_crops_that_repeat_are_refused(data, tmp_path):
    fixed = [collated([(photo(SIZE, SIZE, seed), seed) for seed in range(30)])]
    with pytest.raises(ValueError, match="not random"):
        setting(data, tmp_path, "photos-train", fixed).answer()
    rng = np.random.default_rng(0)
    varied = lambda: [collated([(photo(SIZE, SIZE, int(rng.integers(1e9))), seed) for seed in range(30)])]  # noqa: E731
    assert setting(data, tmp_path, "photos-train", varied).answer()["records"] == 30


def test_images_of_a_wrong_size_are_refused(data, tmp_path):
    batches = [collated([(photo(), 1)])]
    with pytest.raises(ValueError, match=re.escape("shape (40, 60, 3), expected (224, 224, 3)")):
        setting(data, tmp_path, "photos-evaluate", batches).answer()
    assert setting(data, tmp_path, "photos-decode", batches).answer()["images"]["of"]["1"][0] == [40, 60, 3]


# Steps


@pytest.mark.parametrize(
    "height, width", {size for workload in PHOTOS.values() for size in workload.sizes} | {(9, 500)}
)
def test_random_boxes_lie_inside(height, width):
    rng = np.random.default_rng(0)
    for _ in range(200):
        left, top, right, bottom = random_box(height, width, rng)
        assert 0 <= left < right <= width and 0 <= top < bottom <= height
        area, ratio = (right - left) * (bottom - top) / (height * width), (right - left) / (bottom - top)
        if height > 9:
            assert SCALE[0] - 0.01 <= area <= SCALE[1] and RATIO[0] - 0.02 <= ratio <= RATIO[1] + 0.02


def test_the_shorter_side_is_resized():
    assert resized_size(375, 500) == (256, 341)
    assert resized_size(500, 375) == (341, 256)


def test_pillow_computes_each_step(data, tmp_path):
    job = contenders.Job("images", data("images", "photos-decode"), tmp_path)
    (_, image), *_ = next(photos_of(job))
    whole = computed(DECODE, image)
    assert whole.shape[:2] in PHOTOS["photos-decode"].sizes
    assert computed(EVALUATE, image).shape == computed(TRAIN, image).shape == (SIZE, SIZE, 3)
    first, again, other = (computed(TRAIN, image, np.random.default_rng(seed)) for seed in (0, 0, 1))
    assert (first == again).all() and (first != other).any()


# Reports


def row(contender, name, seconds, title="tfrecord_fast"):
    times = [seconds, seconds]
    return Row(contender, title, row=name, ours=contender == "ours", setting="s", wall=times, cpu=times)


def table_of(workload, *rows):
    return Table("images", workload, Size(1000, 1_000_000, 0), list(rows))


def test_rows_are_compared_with_ours_that_resizes_alike():
    ours = [row("ours", "antialias", 2.0), row("ours", "bilinear", 1.0), row("ours", INEXACT, 0.5)]
    rivals = [row("tensorflow", "bilinear", 4.0, "TensorFlow"), row("torch", "Pillow, antialias", 5.0, "PyTorch")]
    table = table_of("photos-large", *ours, *rivals)
    assert [table.ratio(rival).median for rival in rivals] == [4.0, 2.5]
    assert over_likes(table) == 2.5
    measured = {target.measure: target.measured for target in targets([table])}
    assert measured["exact=False: speed ÷ TensorFlow bilinear"] == 8.0
    assert measured["bilinear: speed ÷ TensorFlow bilinear"] == 4.0


def test_rows_that_do_other_work_are_beside():
    assert {*ONE_THREAD, INEXACT} == set(likeness.BESIDE["images"])
