"""The features of a dataset, as features.json describes them.

A feature knows how its values look: `shape`, `dtype` (NumPy's; object for strings). Those of labels know their names.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ...dtypes import as_dtype
from ...errors import InvalidArgumentError
from ...files.system import file_system
from ...files.system.file_system import Options
from ...files.system.whole_files import read_file

__all__ = [
    "Audio",
    "ClassLabel",
    "Dataset",
    "Feature",
    "FeaturesDict",
    "Image",
    "Sequence",
    "Tensor",
    "Unknown",
    "read_features",
]

Shape = tuple[int | None, ...]


class Feature:
    """Any feature. `name` is its place in the dataset, such as "objects/bbox", and `kind` the name of TFDS' class."""

    def __init__(self, name: str, kind: str) -> None:
        self.name = name
        self.kind = kind


class Tensor(Feature):
    """Values of one shape and dtype.

    `encoding` says how they are stored: "none" as a list, "bytes" as they are in memory, "zlib" compressed.
    """

    def __init__(
        self,
        name: str,
        kind: str,
        shape: Shape,
        dtype: np.dtype[Any],
        encoding: str = "none",
        optional: bool = False,
    ) -> None:
        super().__init__(name, kind)
        self.shape = shape
        self.dtype = dtype
        self.encoding = encoding
        self.optional = optional
        if encoding not in ("none", "bytes", "zlib"):
            raise InvalidArgumentError(f"feature {name!r}: unknown encoding {encoding!r}")

    @property
    def has_own_shape(self) -> bool:
        """Whether each value is stored with its shape."""
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
        """The names of the classes in order; their numbers if they have no names."""
        return [str(i) for i in range(self.num_classes or 0)] if self._names is None else list(self._names)

    def int2str(self, value: int) -> str:
        """The name of a class. Raises ValueError if there is no such class."""
        names = self.names
        if not 0 <= value < len(names):
            raise InvalidArgumentError(f"no class {value}: there are {len(names)}")
        return names[value]

    def str2int(self, name: str) -> int:
        """The number of a class. Raises ValueError if there is no such class."""
        try:
            return self.names.index(name)
        except ValueError:
            raise InvalidArgumentError(f"no class {name!r}") from None


class ClassLabel(Tensor, _Labels):
    """A class: an int64, of which -1 means that there is none."""

    def __init__(self, name: str, kind: str, num_classes: int | None, names: list[str] | None) -> None:
        Tensor.__init__(self, name, kind, (), np.dtype(np.int64))
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
        kind: str,
        shape: Shape,
        dtype: np.dtype[Any],
        num_classes: int | None = None,
        names: list[str] | None = None,
    ) -> None:
        Feature.__init__(self, name, kind)
        _Labels.__init__(self, num_classes, names)
        self.shape = shape or (None, None, 3)
        self.dtype = dtype
        if dtype not in (np.uint8, np.uint16, np.float32):
            raise InvalidArgumentError(f"feature {name!r}: an image is uint8, uint16 or float32, not {dtype}")

    def __repr__(self) -> str:
        return f"{self.kind}(shape={self.shape}, dtype={self.dtype.name})"


class Audio(Tensor):
    """Samples `[length]` or `[length, channels]`; with `is_file`, the bytes of a file in `file_format`."""

    def __init__(
        self,
        name: str,
        kind: str,
        shape: Shape,
        dtype: np.dtype[Any],
        encoding: str,
        sample_rate: int | None,
        file_format: str | None,
        is_file: bool,
    ) -> None:
        super().__init__(name, kind, shape, dtype, encoding)
        self.sample_rate = sample_rate
        self.file_format = file_format
        self.is_file = is_file


class Sequence(Feature):
    """Values of another feature; `length` is None where it differs."""

    def __init__(self, name: str, kind: str, feature: Feature, length: int | None) -> None:
        super().__init__(name, kind)
        self.feature = feature
        self.length = length

    def __getitem__(self, key: str) -> Feature:
        """The feature of that key, if it is a sequence of dicts."""
        if not isinstance(self.feature, FeaturesDict):
            raise KeyError(key)
        return self.feature[key]

    def __repr__(self) -> str:
        return f"{self.kind}({self.feature!r})"


class Dataset(Sequence):
    """A dataset in an example, such as the steps of an episode."""


class FeaturesDict(Feature, Mapping[str, Feature]):
    """Features by key."""

    def __init__(self, name: str, kind: str, features: dict[str, Feature]) -> None:
        super().__init__(name, kind)
        self._features = features

    def __getitem__(self, key: str) -> Feature:
        return self._features[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._features)

    def __len__(self) -> int:
        return len(self._features)

    def __repr__(self) -> str:
        return f"{self.kind}({self._features!r})"


class Unknown(Feature):
    """A feature that can't be read; `why` says so."""

    def __init__(self, name: str, kind: str, why: str) -> None:
        super().__init__(name, kind)
        self.why = why

    def __repr__(self) -> str:
        return f"{self.kind}(unknown)"


# ---- features.json ----


def read_features(path: str, content: Mapping[str, Any], folder: str, options: Options = None) -> FeaturesDict:
    """The tree of features in features.json.

    Args:
      content: of that file.
      folder: where the files with the names of labels are.
      options: of the store of a URL.

    Raises:
      errors.InvalidArgumentError: the content is not as TFDS writes it; names the file.
    """
    try:
        features = _Reader(folder, options).feature(content, "", None)
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
        if isinstance(error, InvalidArgumentError):
            raise InvalidArgumentError(f"{path}: {error}") from None
        raise InvalidArgumentError(f"{path}: not as TFDS writes it: {type(error).__name__} {error}") from None
    if not isinstance(features, FeaturesDict):
        raise InvalidArgumentError(f"{path}: expected a FeaturesDict, got {features.kind}")
    return features


class _Reader:
    """Makes features of JSON: of protobuf's kind, and of TFDS' own, which it wrote before 4.3."""

    def __init__(self, folder: str, options: Options) -> None:
        self._folder = folder
        self._options = options

    def feature(self, content: Mapping[str, Any], name: str, file_name: str | None) -> Feature:
        """A feature; `file_name` is what its file of labels is named after."""
        full_kind = str(content.get("pythonClassName") or content.get("python_class_name") or content.get("type") or "")
        kind = full_kind.rpartition(".")[2]
        make = getattr(self, f"_{kind.lower()}", None)
        if make is None or not full_kind.startswith("tensorflow_datasets."):
            return Unknown(
                name, kind, f"it is a {full_kind or 'feature without a class'}, which is not one of TFDS' own"
            )
        return make(_details(content), name, kind, file_name)  # type: ignore[no-any-return]

    def _featuresdict(self, details: Mapping[str, Any], name: str, kind: str, file_name: str | None) -> Feature:
        members = details["features"] if "features" in details and not _is_feature(details["features"]) else details
        return FeaturesDict(
            name,
            kind,
            {
                key: self.feature(one, f"{name}/{key}" if name else key, _file_name(file_name, key))
                for key, one in members.items()
            },
        )

    def _sequence(self, details: Mapping[str, Any], name: str, kind: str, file_name: str | None) -> Feature:
        length = details.get("length")
        inner = self.feature(details["feature"], name, file_name)
        made = Dataset if kind == "Dataset" else Sequence
        return made(name, kind, inner, None if length is None or int(length) < 0 else int(length))

    _dataset = _sequence

    def _tensor(self, details: Mapping[str, Any], name: str, kind: str, file_name: str | None) -> Feature:
        dtype = _dtype(details, "int64")
        if dtype is None:
            return Unknown(name, kind, f"there is no NumPy dtype {details['dtype']!r}")
        encoding = str(details.get("encoding") or "none").lower()
        return Tensor(name, kind, _shape(details), dtype, encoding, bool(details.get("optional")))

    _scalar = _tensor

    def _bboxfeature(self, details: Mapping[str, Any], name: str, kind: str, file_name: str | None) -> Feature:
        return Tensor(name, kind, (4,), np.dtype(np.float32))

    def _text(self, details: Mapping[str, Any], name: str, kind: str, file_name: str | None) -> Feature:
        if details.get("use_encoder"):
            return Unknown(name, kind, "it is text as numbers of an encoder, which TFDS has given up")
        return Tensor(name, kind, (), np.dtype(object))

    def _classlabel(self, details: Mapping[str, Any], name: str, kind: str, file_name: str | None) -> Feature:
        return ClassLabel(name, kind, _count(details), self._names(file_name))

    def _image(self, details: Mapping[str, Any], name: str, kind: str, file_name: str | None) -> Feature:
        dtype = _dtype(details, "uint8")
        if dtype is None:
            return Unknown(name, kind, f"there is no NumPy dtype {details['dtype']!r}")
        if kind != "LabeledImage":
            return Image(name, kind, _shape(details), dtype)
        return Image(name, kind, _shape(details), dtype, _count(details.get("label") or {}), self._names(file_name))

    _labeledimage = _image

    def _video(self, details: Mapping[str, Any], name: str, kind: str, file_name: str | None) -> Feature:
        shape = _shape(details)
        frame = {**details, "shape": list(shape[1:])}
        return Sequence(name, kind, self._image(frame, name, "Image", file_name), shape[0] if shape else None)

    def _audio(self, details: Mapping[str, Any], name: str, kind: str, file_name: str | None) -> Feature:
        dtype = _dtype(details, "int64")
        if dtype is None:
            return Unknown(name, kind, f"there is no NumPy dtype {details['dtype']!r}")
        rate = _of(details, "sampleRate", "sample_rate")
        return Audio(
            name,
            kind,
            _shape(details) or (None,),
            dtype,
            str(details.get("encoding") or "none").lower(),
            None if rate is None else int(rate),
            _of(details, "fileFormat", "file_format"),
            bool(_of(details, "lazyDecode", "lazy_decode")),
        )

    def _translation(self, details: Mapping[str, Any], name: str, kind: str, file_name: str | None) -> Feature:
        languages = list(details.get("languages") or [])
        return FeaturesDict(name, kind, {key: self._text({}, f"{name}/{key}", "Text", None) for key in languages})

    def _translationvariablelanguages(
        self, details: Mapping[str, Any], name: str, kind: str, file_name: str | None
    ) -> Feature:
        keys = ("language", "translation")
        texts: dict[str, Feature] = {key: self._text({}, f"{name}/{key}", "Text", None) for key in keys}
        return Sequence(name, kind, FeaturesDict(name, "FeaturesDict", texts), None)

    def _names(self, file_name: str | None) -> list[str] | None:
        """The names of labels, if there is a file of them."""
        path = file_system.join(self._folder, f"{file_name}.labels.txt")
        if not file_system.exists(path, storage_options=self._options):
            return None
        lines = (line.strip() for line in read_file(path, storage_options=self._options).decode().split("\n"))
        return [line for line in lines if line]


def _details(content: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a feature's JSON says of it, besides its class."""
    if "type" not in content or "content" not in content:
        known = {"pythonClassName", "python_class_name", "description", "valueRange", "value_range"}
        found: list[Any] = [value for key, value in content.items() if key not in known]
        details = found[0] if found else {}
        return json.loads(details["json"]) if set(details) == {"json"} else details
    details = content["content"]
    return json.loads(details) if isinstance(details, str) else details or {}


def _is_feature(content: Any) -> bool:
    """Whether it is one feature, and not several by key."""
    return isinstance(content.get("pythonClassName", content.get("type")), str)


def _file_name(parent: str | None, key: str) -> str:
    own = key.replace("/", ".")
    return own if parent is None else f"{parent.replace('/', '-')}-{own}"


def _of(details: Mapping[str, Any], *keys: str) -> Any:
    return next((details[key] for key in keys if details.get(key) is not None), None)


def _count(details: Mapping[str, Any]) -> int | None:
    count = _of(details, "numClasses", "num_classes")
    return None if count is None else int(count)


def _shape(details: Mapping[str, Any]) -> Shape:
    given = details.get("shape") or []
    lengths = given.get("dimensions", []) if isinstance(given, Mapping) else given
    shape = tuple(None if length is None or int(length) < 0 else int(length) for length in lengths)
    return shape


def _dtype(details: Mapping[str, Any], default: str) -> np.dtype[Any] | None:
    name = str(details.get("dtype") or default)
    if name in ("string", "str", "object", "bytes"):
        return np.dtype(object)
    try:
        dtype = np.dtype(as_dtype(name).as_numpy_dtype)
    except (ImportError, TypeError, ValueError):  # bfloat16 is NumPy's only with ml_dtypes
        return None
    return None if dtype.kind == "c" else dtype
