"""`convert` from folders of images and from Hugging Face's columns of images: the bytes of the files, unchanged."""

import io

import numpy as np
import pytest

import tfrecord_fast as tf
from tfrecord_fast.cli import main
from tfrecord_fast.cli.formats import base

Image = pytest.importorskip("PIL.Image")
FEATURES = {
    "image/encoded": tf.io.FixedLenFeature([], tf.string),
    "image/format": tf.io.FixedLenFeature([], tf.string),
    "image/height": tf.io.FixedLenFeature([], tf.int64),
    "image/width": tf.io.FixedLenFeature([], tf.int64),
    "image/class/label": tf.io.FixedLenFeature([], tf.int64),
    "image/class/text": tf.io.FixedLenFeature([], tf.string),
    "image/filename": tf.io.FixedLenFeature([], tf.string),
}


def encoded(form, height, width, seed=0, **options):
    pixels = np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, form, **options)
    return file.getvalue()


# (class, name, format, height, width), in the order of the records
FILES = [
    ("Zebra", "a.JPEG", "JPEG", 5, 7),
    ("chat noir", "0.jpg", "PNG", 9, 2),  # its bytes are those of a PNG
    ("chat noir", "1.png", "PNG", 1, 1),
    ("chat noir", "2.gif", "GIF", 4, 3),
    ("été", "b.bmp", "BMP", 6, 8),
    ("été", "c.webp", "WebP", 8, 8),
]


@pytest.fixture
def folder(tmp_path):
    for number, (name, file, form, height, width) in enumerate(FILES):
        (tmp_path / "set" / name).mkdir(parents=True, exist_ok=True)
        (tmp_path / "set" / name / file).write_bytes(encoded(form, height, width, number))
    return tmp_path / "set"


def rows(*paths):
    columns = tf.io.parse_example(list(tf.data.TFRecordDataset([*map(str, paths)])), FEATURES)
    return [dict(zip(FEATURES, row, strict=True)) for row in zip(*(columns[key] for key in FEATURES), strict=True)]


def expected(folder):
    classes = sorted({name for name, *_ in FILES})
    return [
        {
            "image/encoded": (folder / name / file).read_bytes(),
            "image/format": form.encode(),
            "image/height": height,
            "image/width": width,
            "image/class/label": classes.index(name),
            "image/class/text": name.encode(),
            "image/filename": file.encode(),
        }
        for name, file, form, height, width in FILES
    ]


def test_each_image_is_a_record(folder, tmp_path):
    assert main(["convert", str(folder), str(tmp_path / "a.tfrecord")]) == 0
    assert rows(tmp_path / "a.tfrecord") == expected(folder)


def test_labels_are_those_of_all_inputs_in_any_order(folder, tmp_path):
    files = [str(folder / name / file) for name, file, *_ in FILES]
    assert main(["convert", *files[::-1], str(tmp_path / "a.tfrecord")]) == 0
    assert rows(tmp_path / "a.tfrecord") == expected(folder)[::-1]


def test_shards_limits_and_other_outputs(folder, tmp_path):
    assert main(["convert", str(folder), str(tmp_path / "a.tfrecord"), "--shards", "2", "--limit", "5"]) == 0
    first, second = (tmp_path / f"a-0000{n}-of-00002.tfrecord" for n in range(2))
    assert (rows(first), rows(second)) == (expected(folder)[:5:2], expected(folder)[1:5:2])
    pytest.importorskip("pyarrow")
    assert main(["convert", str(folder), str(tmp_path / "a.parquet")]) == 0
    assert main(["convert", str(tmp_path / "a.parquet"), str(tmp_path / "b.tfrecord")]) == 0
    assert rows(tmp_path / "b.tfrecord") == expected(folder)


def test_batches_are_bounded_by_bytes(folder, tmp_path, monkeypatch):
    from tfrecord_fast.cli.formats import images

    sizes = []
    encode = images.ImageSource.encode
    monkeypatch.setattr(images, "BATCH_BYTES", 300)
    monkeypatch.setattr(
        images.ImageSource, "encode", lambda self, columns, count: sizes.append(count) or encode(self, columns, count)
    )
    assert main(["convert", str(folder), str(tmp_path / "a.tfrecord")]) == 0
    assert len(sizes) > 2 and sum(sizes) == len(FILES)
    assert rows(tmp_path / "a.tfrecord") == expected(folder)


@pytest.mark.parametrize("data", [b"", b"no image", encoded("JPEG", 40, 40)[:150], b"\x89PNG\r\n\x1a\n"])
def test_a_file_that_is_not_an_image_is_named(folder, tmp_path, capsys, data):
    (folder / "Zebra" / "b.jpg").write_bytes(data)
    assert main(["convert", str(folder), str(tmp_path / "a.tfrecord")]) == 1
    assert "b.jpg: not a JPEG, PNG, GIF, BMP or WebP image" in capsys.readouterr().err
    assert not (tmp_path / "a.tfrecord").exists()


def test_other_files_among_the_images_are_an_error(folder, tmp_path, capsys):
    (folder / "labels.csv").write_text("a,b\n")
    assert main(["convert", str(folder), str(tmp_path / "a.tfrecord")]) == 2
    assert "has images and other files: pass --from images" in capsys.readouterr().err
    assert main(["convert", f"{folder}/*/*", str(tmp_path / "a.tfrecord")]) == 0
    assert rows(tmp_path / "a.tfrecord") == expected(folder)


def test_images_are_not_an_output(folder, tmp_path, capsys):
    assert main(["convert", str(folder), str(tmp_path / "a.png")]) == 2
    assert "unknown extension .png" in capsys.readouterr().err


# ---- Hugging Face ----


@pytest.mark.parametrize("form", ["folder", "parquet"])
def test_columns_of_images_keep_their_bytes(folder, tmp_path, form):
    datasets = pytest.importorskip("datasets")
    paths = [folder / name / file for name, file, *_ in FILES[:3]]
    features = datasets.Features({"image": datasets.Image(), "label": datasets.ClassLabel(names=["x", "y"])})
    images = [{"path": path.name, "bytes": path.read_bytes()} for path in paths]
    dataset = datasets.Dataset.from_dict({"image": images, "label": [0, 1, 0]}, features=features)
    source = tmp_path / ("d" if form == "folder" else "d.parquet")
    dataset.save_to_disk(source) if form == "folder" else dataset.to_parquet(source)
    assert main(["convert", str(source), str(tmp_path / "a.tfrecord")]) == 0
    text, number = tf.io.FixedLenFeature([], tf.string), tf.io.FixedLenFeature([], tf.int64)
    features = {"image": text, "image/path": text, "label": number}
    columns = tf.io.parse_example(list(tf.data.TFRecordDataset(str(tmp_path / "a.tfrecord"))), features)
    assert columns["image"].tolist() == [path.read_bytes() for path in paths]
    assert columns["image/path"].tolist() == [path.name.encode() for path in paths]
    assert columns["label"].tolist() == [0, 1, 0]


def test_rows_of_a_batch_depend_on_their_bytes():
    assert base.rows_of_batch(0, 0) == base.rows_of_batch(10, 10) == base.rows_of_batch(1000, 4096) == base.ROWS
    assert base.rows_of_batch(10 * base.BATCH_BYTES, 1000) == 100
    assert base.rows_of_batch(10 * base.BATCH_BYTES, 2) == 1


def test_large_rows_come_in_small_batches(tmp_path, monkeypatch):
    parquet, pa = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow")
    from tfrecord_fast.cli.formats.parquet import ArrowSource

    sizes = []
    encode = ArrowSource.encode_plain
    monkeypatch.setattr(base, "BATCH_BYTES", 4000)
    monkeypatch.setattr(
        ArrowSource,
        "encode_plain",
        lambda self, path, first, batch: sizes.append(batch.num_rows) or encode(self, path, first, batch),
    )
    table = pa.table({"a": [np.random.default_rng(i).bytes(1000) for i in range(20)]})
    parquet.write_table(table, tmp_path / "a.parquet")
    with pa.ipc.new_file(tmp_path / "a.arrow", table.schema) as writer:
        writer.write_table(table)
    for name in ("a.parquet", "a.arrow"):
        sizes.clear()
        assert main(["convert", str(tmp_path / name), str(tmp_path / "a.tfrecord")]) == 0
        assert sum(sizes) == 20 and max(sizes) <= 4
        batch = list(tf.data.TFRecordDataset(str(tmp_path / "a.tfrecord")))
        column = tf.io.parse_example(batch, {"a": tf.io.FixedLenFeature([], tf.string)})["a"]
        assert column.tolist() == table["a"].to_pylist()


def test_a_class_is_the_first_folder_below(tmp_path):
    for name in ("n1/images/0.png", "n2/images/1.png", "n3/x/y/2.png"):
        (tmp_path / "set" / name).parent.mkdir(parents=True)
        (tmp_path / "set" / name).write_bytes(encoded("PNG", 2, 3))
    (tmp_path / "set" / "n11").mkdir()  # without an image
    assert main(["convert", str(tmp_path / "set"), str(tmp_path / "a.tfrecord")]) == 0
    classes = [(row["image/class/text"], row["image/class/label"]) for row in rows(tmp_path / "a.tfrecord")]
    assert classes == [(b"n1", 0), (b"n2", 2), (b"n3", 3)]


def test_a_file_beside_the_classes_is_an_error(folder, tmp_path, capsys):
    (folder / "preview.png").write_bytes(encoded("PNG", 2, 3))
    assert main(["convert", str(folder), str(tmp_path / "a.tfrecord")]) == 1
    assert "preview.png: lies beside the folders of the classes" in capsys.readouterr().err


def test_names_with_an_underscore_and_other_files_change_no_label(tmp_path, capsys):
    for name in ("_other/_DSC1.jpg", "a/1.jpg", "a/Thumbs.db", "b/2.JPG", "b/boxes.txt", "b/old.tfrecord"):
        (tmp_path / "set" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "set" / name).write_bytes(encoded("JPEG", 2, 3) if name.lower().endswith("jpg") else b"")
    out = tmp_path / "out.tfrecord"
    assert main(["convert", str(tmp_path / "set"), str(out)]) == 2
    assert "pass --from images" in capsys.readouterr().err
    assert main(["convert", "--from", "images", str(tmp_path / "set"), str(out)]) == 0
    found = [(row["image/class/text"], row["image/class/label"], row["image/filename"]) for row in rows(out)]
    assert found == [(b"_other", 0, b"_DSC1.jpg"), (b"a", 1, b"1.jpg"), (b"b", 2, b"2.JPG")]
