"""Datasets that tensorflow-datasets writes and reads, for comparison.

`made()` is a folder with them, made by a process of its own; as a program, this file is that process. For each set of
features there is a config of the dataset `matrix`, with the values that tensorflow-datasets reads from it in
`FOLDER/NAME.pickle`: {split: [example, …]}. What NumPy has no type for is written as tuples: ("ragged", values,
row_splits…), and a nested dataset as ("dataset", [element, …]).

`FOLDER/splits.pickle` has, of the config `many`: {split: [(file, skip, take), …]}, or the name of the error; of SPECS
and of SPECIAL. `FOLDER/orders.pickle` has {split: [id, …]} of ORDERS.
"""

import atexit
import functools
import json
import os
import pickle
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

CONFIGS = [
    "audio", "beyond", "boxes", "dtypes", "images", "labels", "many", "nested", "optional", "ordered", "plain",
    "ragged", "sequences", "shapes", "steps", "text", "top", "translations", "video",
]  # fmt: skip
SPLITS = {"train": 23, "test": 11}
COUNTS = {("many", "train"): 640, ("many", "test"): 713}
SHARDS = {"many": 20, "ordered": 4}

SPECS = """
train test all train+test train+train train[:10] train[10:] train[:-10] train[-10:] train[5:5] train[700:] train[:641]
train[640:] train[-640:] train[-641:] train[:0] train[0:640] train[:80%] train[80%:] train[:33%] train[33%:67%]
train[-25%:] train[:-75%] train[12.5%:50%] train[:0.1%] train[:101%] train[0%:] train[10:20%] train[10%:20]
train[0shard] train[19shard] train[20shard] train[-1shard] train[:2shard] train[18shard:] train[-3shard:]
train[:-17shard] train[2shard:4shard] train[5] train[5%] train[] train[:] nothing train[a:b] train[:1:2] train[10:2]
train[:80%]+test train[:10]+test[-5:]+train[10:20] test[:50%]+train[90%:] all[:5] test+nothing +train train[1_0:2_0]
train[33%:34%] train[33.3%:] test[:1%] test[1%:2%] test[99%:] train-x train[:5 train[32:64] train[31:65]
""".split()
SPECIAL = """
even_splits("train",3)[0] even_splits("train",3)[1] even_splits("train",3)[2]
even_splits("train",7,drop_remainder=True)[6] even_splits("train[:50%]+test",4)[1]
even_splits(even_splits("test",2)[1],3)[2] even_splits("test",2)[0]+"train[:3]"
ReadInstruction("train",from_=10,to=20) ReadInstruction("train",to=-600,unit="abs")
ReadInstruction("train",from_=10,to=20,unit="%",rounding="pct1_dropremainder")
ReadInstruction("test",from_=90,unit="%",rounding="pct1_dropremainder")
ReadInstruction("train",to=2,unit="shard")+ReadInstruction("test",from_=-1,unit="shard")
ReadInstruction("train",to=101,unit="%") ReadInstruction("train",unit="x") ReadInstruction("train",rounding="x")
""".split()
ORDERS = ["train[:80%]", "train[5:]+test[:100]", "train[100:500]", "test[-3shard:]", "all", "train[:40]+train[:40]"]


@functools.cache
def made():
    """A folder with all of it, made once per process."""
    folder = tempfile.mkdtemp(prefix="tfds-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    environment = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}  # of sanitizers
    run = subprocess.run(
        [sys.executable, __file__, folder], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert run.returncode == 0, run.stdout[-5000:]
    return Path(folder)


def loaded(name):
    """What is in one of the pickles."""
    return pickle.loads((made() / f"{name}.pickle").read_bytes())


def copied(target, config):
    """A copy of a dataset's folder, to be changed, in the folder `target`."""
    return shutil.copytree(made() / "matrix" / config / "1.0.0", target / "1.0.0")


def change(path, function):
    """Changes a JSON file by a function of its content."""
    content = json.loads(path.read_text())
    function(content)
    path.write_text(json.dumps(content))


def main(folder):
    os.environ |= {
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "CUDA_VISIBLE_DEVICES": "-1",
        "TFDS_DATA_DIR": folder,
        "NO_GCE_CHECK": "true",
    }
    import numpy as np
    import tensorflow as tf
    import tensorflow_datasets as tfds

    f = tfds.features
    tfds.disable_progress_bar()
    tfds.core.utils.gcs_utils._is_gcs_disabled = True  # nothing is asked of the network

    def pixels(draw, *shape, dtype=np.uint8):
        return np.random.default_rng(draw.randrange(1 << 30)).integers(0, np.iinfo(dtype).max, shape, dtype)

    def lists(draw, most, make):
        return [make() for _ in range(draw.randrange(most))]

    def number(draw):
        return draw.randrange(-1000, 1000)

    # By config: the features, and a function that makes an example of a random number generator and a number.
    matrix = {
        "plain": (
            {"id": np.int64, "x": np.float32, "name": f.Text(), "vector": f.Tensor(shape=(3,), dtype=np.float32)},
            lambda r, i: {"id": i, "x": i / 7, "name": f"näme {i}", "vector": np.float32([i, 1, r.random()])},
        ),
        "many": ({"id": np.int64}, lambda r, i: {"id": i}),
        "ordered": ({"id": np.int64}, lambda r, i: {"id": i}),
        "dtypes": (
            {
                **{k: np.dtype(k) for k in ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64")},
                **{k: np.dtype(k) for k in ("uint64", "float16", "float32", "float64")},
                "string": tf.string,
                "bools": f.Tensor(shape=(None,), dtype=np.bool_),
                "bytes_u64": f.Tensor(shape=(2,), dtype=np.uint64, encoding="bytes"),
                "u64s": f.Tensor(shape=(2,), dtype=np.uint64),
                "scalar": f.Scalar(np.int16),
            },
            lambda r, i: {
                "bool": bool(i % 2), "int8": i - 10, "uint8": i * 9, "int16": -i * 99, "uint16": i * 999,
                "int32": -i * 9999, "uint32": 2**32 - 1 - i, "int64": -(2**62) - i, "uint64": 2**64 - 1 - i,
                "float16": i / 3, "float32": i / 3, "float64": i / 3,
                "string": b"\0bytes \xff\0", "bools": np.array([True, False] * (i % 3), np.bool_),
                "bytes_u64": np.array([2**64 - 1, i], np.uint64), "u64s": np.array([2**64 - 1, i], np.uint64),
                "scalar": i,
            },
        ),
        "shapes": (
            {
                "matrix": f.Tensor(shape=(2, 3), dtype=np.int32),
                "first": f.Tensor(shape=(None, 2), dtype=np.float32),
                "second": f.Tensor(shape=(2, None), dtype=np.int64),
                "strings": f.Tensor(shape=(2, 2), dtype=np.str_),
                "names": f.Tensor(shape=(None,), dtype=np.str_),
                "bytes": f.Tensor(shape=(2, 2), dtype=np.int16, encoding="bytes"),
                "zlib": f.Tensor(shape=(None, 3), dtype=np.float64, encoding="zlib"),
                "dynamic": f.Tensor(shape=(None, None), dtype=np.int32, encoding="zlib"),
                "dynamic_bytes": f.Tensor(shape=(None, 2, None), dtype=np.uint8, encoding="bytes"),
                "bool_bytes": f.Tensor(shape=(4,), dtype=np.bool_, encoding="bytes"),
            },
            lambda r, i: {
                "matrix": np.arange(6, dtype=np.int32).reshape(2, 3) + i,
                "first": np.full((i % 4, 2), i, np.float32),
                "second": np.full((2, i % 3), i, np.int64),
                "strings": np.array([["a", "b"], ["", f"{i}"]], dtype=object),
                "names": np.array(["x"] * (i % 3), dtype=object),
                "bytes": np.full((2, 2), -i, np.int16),
                "zlib": np.full((i % 3, 3), i / 3),
                "dynamic": np.full((i % 3, i % 4), i, np.int32),
                "dynamic_bytes": np.full((i % 3, 2, i % 4), i, np.uint8),
                "bool_bytes": np.array([True, False, True, bool(i % 2)]),
            },
        ),
        "text": (
            {"text": f.Text(), "texts": f.Sequence(f.Text())},
            lambda r, i: {"text": "ünï" * (i % 3), "texts": ["ü", "", "abc"][: i % 4]},
        ),
        "labels": (
            {
                "label": f.ClassLabel(names=["cat", "dog", "größer"]),
                "number": f.ClassLabel(num_classes=30),
                "labels": f.Sequence(f.ClassLabel(names=["a", "b"])),
                "deep": {"label/x": f.ClassLabel(names=["y", "z"])},
            },
            lambda r, i: {
                "label": i % 3, "number": i, "labels": ["a", "b", "a"][: i % 4], "deep": {"label/x": "z"},
            },
        ),
        "images": (
            {
                "png": f.Image(shape=(4, 5, 3)),
                "jpeg": f.Image(encoding_format="jpeg"),
                "gray": f.Image(shape=(None, None, 1), encoding_format="png"),
                "gray_jpeg": f.Image(shape=(16, 16, 1), encoding_format="jpeg"),
                "alpha": f.Image(shape=(3, 3, 4)),
                "deep": f.Image(shape=(None, None, 1), dtype=np.uint16, encoding_format="png"),
                "float": f.Image(shape=(4, 4, 1), dtype=np.float32),
                "mask": f.LabeledImage(labels=["bg", "fg"], shape=(None, None, 1)),
                "frames": f.Sequence(f.Image(shape=(2, 2, 3))),
                "free": f.Sequence(f.Image()),
                "four": f.Sequence(f.Image(shape=(2, 2, 1), dtype=np.float32), length=4),
            },
            lambda r, i: {
                "png": pixels(r, 4, 5, 3), "jpeg": pixels(r, 8 + i, 9, 3), "gray": pixels(r, 3 + i % 3, 2, 1),
                "gray_jpeg": pixels(r, 16, 16, 1), "alpha": pixels(r, 3, 3, 4),
                "deep": pixels(r, 2 + i % 2, 3, 1, dtype=np.uint16),
                "float": np.float32(pixels(r, 4, 4, 1)) / 7, "mask": pixels(r, 2, 2, 1) % 2,
                "frames": [pixels(r, 2, 2, 3) for _ in range(i % 3)],
                "free": [pixels(r, 1 + i, 2, 3) for _ in range(i % 3)],
                "four": [np.float32(pixels(r, 2, 2, 1)) for _ in range(4)],
            },
        ),
        "video": (
            {"video": f.Video(shape=(None, 4, 4, 3)), "fixed": f.Video(shape=(2, 4, 4, 1), encoding_format="jpeg")},
            lambda r, i: {
                "video": [pixels(r, 4, 4, 3) for _ in range(i % 3)], "fixed": [pixels(r, 4, 4, 1) for _ in range(2)],
            },
        ),
        "audio": (
            {
                "audio": f.Audio(sample_rate=16000),
                "stereo": f.Audio(shape=(None, 2), dtype=np.int16),
            },
            lambda r, i: {
                "audio": np.arange(i % 5), "stereo": np.full((i % 4, 2), i, np.int16),
            },
        ),
        "beyond": (  # tensorflow-datasets can't read what it has written
            {
                "two": f.Sequence(f.Sequence(np.int32), length=2),
                "three": f.Sequence(f.Sequence(np.int64, length=3)),
                "steps": f.Dataset({"tokens": f.Sequence(np.int64, length=2)}),
            },
            lambda r, i: {
                "two": [[1] * (i % 3), [2] * (i % 2)], "three": [[i, i, i]] * (i % 3),
                "steps": [{"tokens": [k, i]} for k in range(i % 3)],
            },
        ),
        "boxes": (
            {"box": f.BBoxFeature(), "boxes": f.Sequence({"bbox": f.BBoxFeature(), "area": np.int64})},
            lambda r, i: {
                "box": f.BBox(0.1, 0.2, 0.3, 1.0),
                "boxes": [{"bbox": f.BBox(0.0, 0.0, 1.0, i / 30), "area": i} for _ in range(i % 3)],
            },
        ),
        "sequences": (
            {
                "ints": f.Sequence(np.int32),
                "fixed": f.Sequence(np.int64, length=2),
                "vectors": f.Sequence(f.Tensor(shape=(2,), dtype=np.float32)),
                "dicts": f.Sequence({"a": np.int64, "b": {"c": f.Text()}}),
                "encoded": f.Sequence(f.Tensor(shape=(2,), dtype=np.int16, encoding="zlib")),
                "u64": f.Sequence(np.uint64),
                "bools": f.Sequence(np.bool_),
            },
            lambda r, i: {
                "ints": list(range(i % 4)), "fixed": [i, -i], "vectors": [[1.0, i]] * (i % 3),
                "dicts": [{"a": i, "b": {"c": f"{i}"}}] * (i % 3),
                "encoded": [np.array([i, -i], np.int16)] * (i % 3), "u64": [2**64 - 1] * (i % 3),
                "bools": [True] * (i % 3),
            },
        ),
        "ragged": (
            {
                "two": f.Sequence(f.Sequence(np.int64)),
                "three": f.Sequence(f.Sequence(f.Sequence(np.float32))),
                "words": f.Sequence({"tokens": f.Sequence(f.Text())}),
                "points": f.Sequence(f.Sequence(f.Tensor(shape=(2,), dtype=np.float32))),
                "images": f.Sequence(f.Sequence(f.Image(shape=(2, 2, 3)))),
                "videos": f.Sequence(f.Video(shape=(None, 2, 2, 3))),
                "bools": f.Sequence(f.Sequence(np.bool_)),
            },
            lambda r, i: {
                "two": lists(r, 4, lambda: lists(r, 3, lambda: number(r))),
                "three": lists(r, 3, lambda: lists(r, 3, lambda: lists(r, 3, r.random))),
                "words": [{"tokens": ["ä", "b"][: k % 3]} for k in range(i % 4)],
                "points": lists(r, 3, lambda: lists(r, 3, lambda: [r.random(), 1.0])),
                "images": lists(r, 3, lambda: lists(r, 3, lambda: pixels(r, 2, 2, 3))),
                "videos": lists(r, 3, lambda: lists(r, 3, lambda: pixels(r, 2, 2, 3))),
                "bools": lists(r, 3, lambda: lists(r, 3, lambda: bool(number(r) % 2))),
            },
        ),
        "nested": (
            {"a": {"b": {"c": np.int64, "d": f.Text()}, "e/f": np.float32}, "empty": {}},
            lambda r, i: {"a": {"b": {"c": i, "d": f"{i}"}, "e/f": i / 3}, "empty": {}},
        ),
        "optional": (
            {
                "int": f.Scalar(np.int32, optional=True),
                "float": f.Scalar(np.float32, optional=True),
                "bool": f.Scalar(np.bool_, optional=True),
                "vector": f.Tensor(shape=(2,), dtype=np.int64, optional=True),
                "id": np.int64,
            },
            lambda r, i: {
                "int": i if i % 3 else None, "float": i / 3 if i % 2 else None,
                "bool": True if i % 2 else None, "vector": [i, i] if i % 2 else None, "id": i,
            },
        ),
        "steps": (
            {
                "episode": np.int64,
                "steps": f.Dataset({
                    "observation": {"image": f.Image(shape=(2, 2, 3)), "state": f.Tensor(shape=(2,), dtype=np.float32)},
                    "reward": np.float32, "is_last": np.bool_, "language": f.Text(), "tokens": f.Sequence(np.int64),
                    "blob": f.Tensor(shape=(None, None), dtype=np.int32, encoding="zlib"),
                }),
                "values": f.Dataset(np.int64),
            },
            lambda r, i: {
                "episode": i,
                "steps": [
                    {
                        "observation": {"image": pixels(r, 2, 2, 3), "state": [k, i]},
                        "reward": k / 3, "is_last": k == 2,
                        "language": f"{k}", "tokens": [i] * (k % 3), "blob": np.full((k, 2), i, np.int32),
                    }
                    for k in range(i % 4)
                ],
                "values": list(range(i % 3)),
            },
        ),
        "translations": (
            {
                "pair": f.Translation(languages=["en", "de"]),
                "many": f.TranslationVariableLanguages(languages=["en", "de", "fr"]),
            },
            lambda r, i: {"pair": {"en": f"{i}", "de": "ü"}, "many": {"en": "a", "de": ["b", "c"][: 1 + i % 2]}},
        ),
        "top": ({"image": f.Image(shape=(2, 2, 1)), "label": f.ClassLabel(num_classes=30)},
                lambda r, i: {"image": pixels(r, 2, 2, 1), "label": i}),
    }  # fmt: skip
    assert sorted(matrix) == CONFIGS

    class Matrix(tfds.core.GeneratorBasedBuilder):
        VERSION = tfds.core.Version("1.0.0")
        BUILDER_CONFIGS = [tfds.core.BuilderConfig(name=name, description="…") for name in matrix]  # noqa: RUF012

        def _info(self):
            name = self.builder_config.name
            return tfds.core.DatasetInfo(
                builder=self,
                features=f.FeaturesDict(matrix[name][0]),
                supervised_keys={"top": ("image", "label"), "nested": ({"x": "a"}, "a")}.get(name),
                disable_shuffling=name == "ordered",
                description="Features of all kinds.",
                homepage="https://example.org/",
                citation="None.",
            )

        def _split_generators(self, dl_manager):
            return {split: self._generate_examples(split, count) for split, count in SPLITS.items()}

        def _generate_examples(self, split, count):
            name = self.builder_config.name
            for i in range(COUNTS.get((name, split), count)):
                yield i, matrix[name][1](random.Random(f"{name} {split} {i}"), i)

    def plain(value):
        if isinstance(value, dict):
            return {key: plain(one) for key, one in value.items()}
        if isinstance(value, tf.RaggedTensor):
            return ("ragged", value.flat_values.numpy(), *[splits.numpy() for splits in value.nested_row_splits])
        if isinstance(value, tf.data.Dataset):
            return ("dataset", [plain(one) for one in value])
        return value.numpy()

    def keep(name, value):
        with open(os.path.join(folder, f"{name}.pickle"), "wb") as file:
            pickle.dump(value, file)

    for name in matrix:
        config = tfds.download.DownloadConfig(num_shards=SHARDS.get(name, 2))
        builder = Matrix(config=name, data_dir=folder)
        builder.download_and_prepare(download_config=config)
        if name == "beyond":
            continue
        reader = tfds.builder_from_directory(os.path.join(folder, "matrix", name, "1.0.0"))
        read = {split: [plain(one) for one in reader.as_dataset(split=split)] for split in SPLITS}
        keep(name, read)

    def files_of(split):
        found = many.info.splits[split].file_instructions
        return [(os.path.basename(one.filename), one.skip, one.take) for one in found]

    many = tfds.builder_from_directory(os.path.join(folder, "matrix", "many", "1.0.0"))
    names = {"even_splits": tfds.even_splits, "ReadInstruction": tfds.core.ReadInstruction}
    splits = {}
    for spec in [*SPECS, *SPECIAL]:
        try:
            splits[spec] = files_of(eval(spec, names) if spec in SPECIAL else spec)
        except Exception as error:
            splits[spec] = type(error).__name__
    keep("splits", splits)
    keep("orders", {spec: [int(one["id"]) for one in many.as_dataset(split=spec)] for spec in ORDERS})


if __name__ == "__main__":
    main(sys.argv[1])
