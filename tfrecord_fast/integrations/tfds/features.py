"""The features of a dataset, as features.json describes them.

A feature has the `shape` and `dtype` of its values (NumPy's; object for strings). Features of labels have their names.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...dtypes import as_dtype
from ...errors import InvalidArgumentError
from ...files.system import file_system
from ...files.system.file_system import Options, read_file

Shape = tuple[int | None, ...]


@dataclass(eq=False)
class Feature:
    """Any feature. `name` is its path in the dataset, such as "objects/bbox", and `kind` the name of TFDS' class."""

    name: str
    kind: str


@dataclass(eq=False, repr=False)
class Tensor(Feature):
    """Values of one shape and dtype.

    `encoding` is how they are stored: "none" as a list, "bytes" like in memory, "zlib" compressed.
    """

    shape: Shape
    dtype: np.dtype[Any]
    encoding: str = "none"
    optional: bool = False

    def __post_init__(self) -> None:
        if self.encoding not in ("none", "bytes", "zlib"):
            raise InvalidArgumentError(f"feature {self.name!r}: unknown encoding {self.encoding!r}")

    @property
    def has_own_shape(self) -> bool:
        """True if each value is stored with its shape."""
        return self.shape.count(None) > 1

    def __repr__(self) -> str:
        return f"{self.kind}(shape={self.shape}, dtype={self.dtype.name})"


class _Labels:
    """Names of classes."""

    def __init__(self, num_classes: int | None, names: list[str] | None) -> None:
        if names is not None and num_classes not in (None, 0, len(names)):
            raise InvalidArgumentError(f"{len(names)} names of labels for {num_classes} classes")
        self.num_classes = num_classes if names is None else len(names)
        self._names = names

    @property
    def names(self) -> list[str]:
        """The names of the classes, in order; their numbers if they have no names."""
        return [str(i) for i in range(self.num_classes or 0)] if self._names is None else list(self._names)

    def int2str(self, value: int) -> str:
        """Return the name of a class. Raises ValueError if the class does not exist."""
        names = self.names
        if not 0 <= value < len(names):
            raise InvalidArgumentError(f"no class {value}: there are {len(names)}")
        return names[value]

    def str2int(self, name: str) -> int:
        """Return the number of a class. Raises ValueError if the class does not exist."""
        try:
            return self.names.index(name)
        except ValueError:
            raise InvalidArgumentError(f"no class {name!r}") from None


class ClassLabel(Tensor, _Labels):
    """A class: an int64; -1 means "not labelled"."""

    def __init__(self, name: str, class_name: str, num_classes: int | None, names: list[str] | None) -> None:
        Tensor.__init__(self, name, class_name, (), np.dtype(np.int64))
        _Labels.__init__(self, num_classes, names)

    def __repr__(self) -> str:
        return f"ClassLabel(num_classes={self.num_classes})"


class Image(Feature, _Labels):
    """An encoded image: `[height, width, channels]`, or a GIF's `[frames, height, width, channels]`.

    The names are those of a LabeledImage, whose pixels are classes.
    """

    def __init__(
        self,
        name: str,
        class_name: str,
        shape: Shape,
        dtype: np.dtype[Any],
        num_classes: int | None = None,
        names: list[str] | None = None,
    ) -> None:
        Feature.__init__(self, name, class_name)
        _Labels.__init__(self, num_classes, names)
        self.shape = shape or (None, None, 3)
        self.dtype = dtype
        if dtype not in (np.uint8, np.uint16, np.float32):
            raise InvalidArgumentError(f"feature {name!r}: an image is uint8, uint16 or float32, not {dtype}")

    __repr__ = Tensor.__repr__


@dataclass(eq=False, repr=False)
class Audio(Tensor):
    """Samples `[length]` or `[length, channels]`; with `is_file`, the bytes of a file in `file_format`."""

    sample_rate: int | None = None
    file_format: str | None = None
    is_file: bool = False


@dataclass(eq=False, repr=False)
class Sequence(Feature):
    """Values of another feature; `length` is None if it differs from example to example."""

    feature: Feature
    length: int | None

    def __getitem__(self, key: str) -> Feature:
        """Return the feature under `key` of a sequence of dicts."""
        if not isinstance(self.feature, FeaturesDict):
            raise KeyError(key)
        return self.feature[key]

    def __repr__(self) -> str:
        return f"{self.kind}({self.feature!r})"


class Dataset(Sequence):
    """A dataset in an example, such as the steps of an episode."""


class FeaturesDict(dict[str, Feature], Feature):
    """Features by key."""

    def __init__(self, name: str, class_name: str, features: dict[str, Feature]) -> None:
        super().__init__(features)
        Feature.__init__(self, name, class_name)

    def __repr__(self) -> str:
        return f"{self.kind}({super().__repr__()})"


@dataclass(eq=False, repr=False)
class Unknown(Feature):
    """A feature that can't be read, with the reason."""

    why: str

    def __repr__(self) -> str:
        return f"{self.kind}(unknown)"


# ---- features.json ----


def read_features(path: str, content: Mapping[str, Any], folder: str, options: Options = None) -> FeaturesDict:
    """Return the tree of features in features.json.

    Args:
      content: the content of that file.
      folder: the folder of the files with the names of labels.
      options: those of the store of a URL.
    """
    try:
        features = _Reader(folder, options).feature(content, "", None)
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
        if isinstance(error, InvalidArgumentError):
            raise InvalidArgumentError(f"{path}: {error}") from None
        raise InvalidArgumentError(f"{path}: not written by TFDS: {type(error).__name__} {error}") from None
    if not isinstance(features, FeaturesDict):
        raise InvalidArgumentError(f"{path}: expected a FeaturesDict, got {features.kind}")
    return features


class _Reader:
    """Converter of JSON to features: of protobuf's JSON, and of the format that TFDS wrote before 4.3."""

    def __init__(self, folder: str, options: Options) -> None:
        self._folder = folder
        self._options = options

    def feature(self, content: Mapping[str, Any], name: str, file_name: str | None) -> Feature:
        """Convert a feature. The name of its file of labels begins with `file_name`."""
        full_name = str(content.get("pythonClassName") or content.get("python_class_name") or content.get("type") or "")
        class_name = full_name.rpartition(".")[2]
        make = getattr(self, f"_{class_name.lower()}", None)
        if make is None or not full_name.startswith("tensorflow_datasets."):
            return Unknown(name, class_name, f"its class {full_name or '(missing)'} is not one of TFDS")
        try:
            return make(_details(content), name, class_name, file_name)  # type: ignore[no-any-return]
        except _UnknownDtypeError as error:
            return Unknown(name, class_name, f"NumPy has no dtype {error.args[0]!r}")

    def _featuresdict(self, details: Mapping[str, Any], name: str, class_name: str, file_name: str | None) -> Feature:
        members = details["features"] if "features" in details and not _is_feature(details["features"]) else details
        return FeaturesDict(
            name,
            class_name,
            {
                key: self.feature(member, f"{name}/{key}" if name else key, _file_name(file_name, key))
                for key, member in members.items()
            },
        )

    def _sequence(self, details: Mapping[str, Any], name: str, class_name: str, file_name: str | None) -> Feature:
        length = details.get("length")
        inner = self.feature(details["feature"], name, file_name)
        sequence_class = Dataset if class_name == "Dataset" else Sequence
        return sequence_class(name, class_name, inner, None if length is None or int(length) < 0 else int(length))

    _dataset = _sequence

    def _tensor(self, details: Mapping[str, Any], name: str, class_name: str, file_name: str | None) -> Feature:
        dtype, encoding = _dtype(details, "int64"), str(details.get("encoding") or "none").lower()
        return Tensor(name, class_name, _shape(details), dtype, encoding, bool(details.get("optional")))

    _scalar = _tensor

    def _bboxfeature(self, details: Mapping[str, Any], name: str, class_name: str, file_name: str | None) -> Feature:
        return Tensor(name, class_name, (4,), np.dtype(np.float32))

    def _text(self, details: Mapping[str, Any], name: str, class_name: str, file_name: str | None) -> Feature:
        if details.get("use_encoder"):
            return Unknown(name, class_name, "its text is encoded as numbers, which TFDS no longer supports")
        return Tensor(name, class_name, (), np.dtype(object))

    def _classlabel(self, details: Mapping[str, Any], name: str, class_name: str, file_name: str | None) -> Feature:
        return ClassLabel(name, class_name, _count(details), self._names(file_name))

    def _image(self, details: Mapping[str, Any], name: str, class_name: str, file_name: str | None) -> Feature:
        dtype = _dtype(details, "uint8")
        if class_name != "LabeledImage":
            return Image(name, class_name, _shape(details), dtype)
        return Image(
            name, class_name, _shape(details), dtype, _count(details.get("label") or {}), self._names(file_name)
        )

    _labeledimage = _image

    def _video(self, details: Mapping[str, Any], name: str, class_name: str, file_name: str | None) -> Feature:
        shape = _shape(details)
        frame = {**details, "shape": list(shape[1:])}
        return Sequence(name, class_name, self._image(frame, name, "Image", file_name), shape[0] if shape else None)

    def _audio(self, details: Mapping[str, Any], name: str, class_name: str, file_name: str | None) -> Feature:
        rate = _first_value(details, "sampleRate", "sample_rate")
        return Audio(
            name,
            class_name,
            _shape(details) or (None,),
            _dtype(details, "int64"),
            str(details.get("encoding") or "none").lower(),
            sample_rate=None if rate is None else int(rate),
            file_format=_first_value(details, "fileFormat", "file_format"),
            is_file=bool(_first_value(details, "lazyDecode", "lazy_decode")),
        )

    def _translation(self, details: Mapping[str, Any], name: str, class_name: str, file_name: str | None) -> Feature:
        languages = list(details.get("languages") or [])
        return FeaturesDict(name, class_name, {key: self._text({}, f"{name}/{key}", "Text", None) for key in languages})

    def _translationvariablelanguages(
        self, details: Mapping[str, Any], name: str, class_name: str, file_name: str | None
    ) -> Feature:
        keys = ("language", "translation")
        texts: dict[str, Feature] = {key: self._text({}, f"{name}/{key}", "Text", None) for key in keys}
        return Sequence(name, class_name, FeaturesDict(name, "FeaturesDict", texts), None)

    def _names(self, file_name: str | None) -> list[str] | None:
        """Return the names of labels, if they have a file."""
        path = file_system.join(self._folder, f"{file_name}.labels.txt")
        if not file_system.exists(path, storage_options=self._options):
            return None
        lines = (line.strip() for line in read_file(path, storage_options=self._options).decode().split("\n"))
        return [line for line in lines if line]


def _details(content: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the content of a feature's JSON without its class."""
    if "type" not in content or "content" not in content:
        known = {"pythonClassName", "python_class_name", "description", "valueRange", "value_range"}
        others: list[Any] = [value for key, value in content.items() if key not in known]
        details = others[0] if others else {}
        return json.loads(details["json"]) if set(details) == {"json"} else details
    details = content["content"]
    return json.loads(details) if isinstance(details, str) else details or {}


def _is_feature(content: Any) -> bool:
    """Return True for JSON of one feature, and False for several features by key."""
    return isinstance(content.get("pythonClassName", content.get("type")), str)


def _file_name(parent: str | None, key: str) -> str:
    own = key.replace("/", ".")
    return own if parent is None else f"{parent.replace('/', '-')}-{own}"


def _first_value(details: Mapping[str, Any], *keys: str) -> Any:
    return next((details[key] for key in keys if details.get(key) is not None), None)


def _count(details: Mapping[str, Any]) -> int | None:
    count = _first_value(details, "numClasses", "num_classes")
    return None if count is None else int(count)


def _shape(details: Mapping[str, Any]) -> Shape:
    shape = details.get("shape") or []
    lengths = shape.get("dimensions", []) if isinstance(shape, Mapping) else shape
    return tuple(None if length is None or int(length) < 0 else int(length) for length in lengths)


class _UnknownDtypeError(Exception):
    """A dtype that NumPy lacks."""


def _dtype(details: Mapping[str, Any], default: str) -> np.dtype[Any]:
    name = str(details.get("dtype") or default)
    if name in ("string", "str", "object", "bytes"):
        return np.dtype(object)
    try:
        dtype = np.dtype(as_dtype(name).as_numpy_dtype)
    except (ImportError, TypeError, ValueError):  # bfloat16 is NumPy's only with ml_dtypes
        raise _UnknownDtypeError(name) from None
    if dtype.kind == "c":
        raise _UnknownDtypeError(name)
    return dtype
