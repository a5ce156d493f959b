"""The pages of the API reference: a table of public names by page. mkdocstrings fills in the docstrings.

A name has one entry, on the first page that lists it. Modules that export the name again link there.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import griffe

__all__ = ["API", "Page", "entry_of", "names_of", "pages"]

API = "api"
TOP = "tfrecord_fast"


class Page(NamedTuple):
    """A page of the reference. `names` are full names; a module means its public names that no earlier page has."""

    file: str
    title: str
    text: str
    names: list[str]


def _top(names: str) -> list[str]:
    return [f"{TOP}.{name}" for name in names.split()]


PAGES = [
    Page(
        "readers",
        "Readers",
        "Records and columns from files. [Reading](../guide/reading.md) helps to choose one.",
        _top(
            "ShardReader TFRecordDataset IndexedReader RecordIndex RecordBatch read_table read_batches ShardList "
            "ObjectCache"
        ),
    ),
    Page(
        "writers",
        "Writers",
        "Records and columns to files. See [Writing](../guide/writing.md).",
        _top("TFRecordWriter ExampleWriter TFRecordOptions encode_examples encode_sequence_examples"),
    ),
    Page(
        "features",
        "Features and parsing",
        "Serialized Examples to columns. See [Parsing](../guide/parsing.md).",
        _top(
            "parse_example parse_single_example parse_sequence_example parse_single_sequence_example infer_features "
            "FixedLenFeature FixedLenSequenceFeature VarLenFeature RaggedFeature SparseFeature ImageFeature decode_raw"
        ),
    ),
    Page(
        "values",
        "Values",
        "Columns other than NumPy arrays.",
        _top("BytesArray RaggedTensor SparseTensor TensorSpec"),
    ),
    Page("data", "tf.data", "Datasets, with TensorFlow's names.", [f"{TOP}.data", f"{TOP}.data.experimental"]),
    Page("io", "tf.io", "Records, features, files, images and tensors.", [f"{TOP}.io"]),
    Page("gfile", "tf.io.gfile", "Files by name or URL.", [f"{TOP}.io.gfile", f"{TOP}.gfile"]),
    Page("train", "tf.train", "The messages in records.", [f"{TOP}.train"]),
    Page("image", "tf.image", "Images to arrays, and back.", [f"{TOP}.image"]),
    Page("errors", "tf.errors", "Exceptions. See [Errors](../guide/errors.md).", [f"{TOP}.errors"]),
    Page("dtypes", "tf.dtypes", "The types of values.", [f"{TOP}.dtypes"]),
    Page(
        "functions",
        "Functions on arrays",
        "Functions that scripts use around parsing. They take and return NumPy arrays.",
        [
            *_top(
                "cast concat constant convert_to_tensor expand_dims numpy_function one_hot py_function reshape shape "
                "squeeze stack transpose"
            ),
            f"{TOP}.sparse",
            f"{TOP}.random",
        ],
    ),
    Page(
        "compat",
        "tf.compat, tf.python_io",
        "Names of TensorFlow 1.",
        [f"{TOP}.compat", f"{TOP}.compat.v1", f"{TOP}.python_io"],
    ),
    Page("typing", "typing", "Types for annotations.", [f"{TOP}.typing"]),
    Page("package", "The package", "The installed build.", _top("build_info __version__")),
    *(
        Page(f"integrations/{file}", title, text, [f"{TOP}.integrations.{file}"])
        for file, title, text in [
            ("torch", "PyTorch", "See [PyTorch](../../integrations/torch.md)."),
            ("keras", "Keras", "See [Keras](../../integrations/keras.md)."),
            ("grain", "Grain", "See [Grain and JAX](../../integrations/grain.md)."),
            ("jax", "JAX", "See [Grain and JAX](../../integrations/grain.md#onto-devices)."),
            ("polars", "polars", "See [Tables](../../integrations/tables.md#polars)."),
            ("duckdb", "DuckDB", "See [Tables](../../integrations/tables.md#duckdb)."),
            ("huggingface", "Hugging Face", "See [Tables](../../integrations/tables.md#hugging-face)."),
            ("tfds", "TensorFlow Datasets", "See [TensorFlow Datasets](../../integrations/tfds.md)."),
            ("ray", "Ray", "See [Ray](../../integrations/ray.md)."),
            ("dask", "Dask", "See [Dask](../../integrations/dask.md)."),
            ("spark", "Spark", "See [Spark](../../integrations/spark.md)."),
            ("beam", "Apache Beam", "See [Apache Beam](../../integrations/beam.md)."),
        ]
    ),
]
# Names of modules that can't be imported without their project; a test compares them.
INTEGRATIONS = {
    "torch": "TFRecordIterableDataset TFRecordMapDataset Batch LabelledBatch SequenceBatch",
    "keras": "TFRecordPyDataset",
    "grain": "TFRecordIterDataset TFRecordDataSource",
    "jax": "device_put",
    "polars": "scan_tfrecord",
    "duckdb": "from_tfrecord",
    "huggingface": "from_tfrecord",
    "tfds": "load info DatasetInfo SplitInfo Split ReadInstruction even_splits SkipDecoding Examples Steps",
    "ray": "read_tfrecords write_tfrecords TFRecordDatasource TFRecordDatasink",
    "dask": "read_tfrecords",
    "spark": "register TFRecordDataSource",
    "beam": "ReadFromTFRecord ReadAllFromTFRecord WriteToTFRecord",
}
MESSAGES = "google._upb", "google.protobuf"  # modules of classes without a readable source


def names_of(module: str) -> list[str]:
    """Return the full public names of a module, without modules."""
    prefix = f"{TOP}.integrations."
    if module.startswith(prefix):
        return [f"{module}.{name}" for name in INTEGRATIONS[module.removeprefix(prefix)].split()]
    inside = importlib.import_module(module)
    return [f"{module}.{name}" for name in inside.__all__ if not inspect.ismodule(getattr(inside, name))]


def thing_of(name: str) -> Any:
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


def _identity(name: str) -> Any:
    thing = None if ".integrations." in name else thing_of(name)
    return name if thing is None or isinstance(thing, int | str) else id(thing)


def entry_of() -> dict[str, str]:
    """Return, for each public name, the name that has the entry: itself or another."""
    first: dict[Any, str] = {}
    entries = {}
    for page in PAGES:
        for name in _all_names(page):
            entries[name] = first.setdefault(_identity(name), name)
    for name in names_of(TOP):
        if _identity(name) not in first:
            raise LookupError(f"{name} is public, but on no page: add it to PAGES in docs/making/reference.py")
        entries[name] = first[_identity(name)]
    return entries


def _all_names(page: Page) -> Iterator[str]:
    for name in page.names:
        yield from names_of(name) if _is_module(name) else [name]


def _is_module(name: str) -> bool:
    if ".integrations." in name:
        return True
    return name != TOP and inspect.ismodule(thing_of(name))


def pages() -> dict[str, tuple[str, str]]:
    """Return title and Markdown by file."""
    entries = entry_of()
    texts = {f"{API}/index.md": ("Overview", _overview(entries))}
    for page in PAGES:
        texts[f"{API}/{page.file}.md"] = (page.title, "\n\n".join(_page(page, entries)) + "\n")
    return texts


def _page(page: Page, entries: dict[str, str]) -> Iterator[str]:
    yield f"# {page.title}"
    yield page.text
    for name in page.names:
        if not _is_module(name):
            yield _entry(name)
            continue
        here = names_of(name)
        if len(page.names) > 1 and name.replace(TOP, "tf", 1) != page.title:
            yield f"## `{name.replace(TOP, 'tf', 1)}`"
        own = [full for full in here if entries[full] == full]
        others = [full for full in here if entries[full] != full]
        if others:
            # Raw HTML, because mkdocstrings already has these names as aliases of the entries.
            links = ", ".join(f'<a id="{full}"></a>[`{full.rpartition(".")[2]}`][{entries[full]}]' for full in others)
            yield f"{'Also here' if own else 'Here are'}, with their entries elsewhere: {links}."
        constants = [full for full in own if _is_constant(full)]
        if constants:
            yield _table(constants)
        yield from (_entry(full) for full in own if full not in constants)


def _is_constant(name: str) -> bool:
    if ".integrations." in name or ".typing." in name:
        return False
    thing = thing_of(name)
    return not (inspect.isclass(thing) or callable(thing))


def _table(constants: list[str]) -> str:
    lines = ["| name | value |", "| --- | --- |"]
    for name in constants:
        short = name.rpartition(".")[2]
        lines.append(f"| [](){{#{name}}}`{short}` | `{thing_of(name)!r}` |")
    return "\n".join(lines)


def _entry(name: str) -> str:
    if name.endswith(".__version__"):
        return f'<a id="{name}"></a>\n\n## `__version__`\n\nThe version of the package, a `str`.'
    if ".integrations." not in name and type(thing_of(name)).__module__.startswith(MESSAGES):
        return _message(name)
    short = name.replace(TOP, "tf", 1) if name.count(".") > 1 else name.rpartition(".")[2]
    options = ["heading_level: 2", f"heading: {short if '.integrations.' not in name else name.rpartition('.')[2]}"]
    bases = _public_bases(name)
    if not bases:
        options.append("inherited_members: true")
    lines = [f"::: {name}", "    options:", *(f"      {option}" for option in options)]
    if bases:
        lines += ["", f"It also has the methods of {' and '.join(f'[`{_short(base)}`][{base}]' for base in bases)}."]
    return "\n".join(lines)


def _short(name: str) -> str:
    return name.replace(TOP, "tf", 1)


def _public_bases(name: str) -> list[str]:
    """Return the base classes with an entry of their own, which has their methods."""
    if ".integrations." in name or not inspect.isclass(thing_of(name)):
        return []
    entries = {id(thing_of(f"{TOP}.data.{base}")): f"{TOP}.data.{base}" for base in ("Dataset",)}
    return [entries[id(base)] for base in thing_of(name).__mro__[1:] if id(base) in entries]


def _message(name: str) -> str:
    """Return the entry of a protobuf message."""
    thing, short = thing_of(name), name.rpartition(".")[2]
    lines = [f"## `{short}` {{ #{name} }}", "", f"The protobuf message `tensorflow.{short}`, with its fields:", ""]
    for field in thing.DESCRIPTOR.fields:
        type_name = field.message_type.name if field.message_type else ("bytes", "float", "int64")[_number(field)]
        if field.message_type and field.message_type.GetOptions().map_entry:
            inner = field.message_type.fields_by_name["value"].message_type.name
            type_name = f"map of str to {inner}"
        lines.append(f"- `{field.name}`: {type_name}")
    return "\n".join(lines)


def _number(field: Any) -> int:
    return {field.CPPTYPE_STRING: 0, field.CPPTYPE_FLOAT: 1, field.CPPTYPE_INT64: 2}[field.cpp_type]


def summary_of(name: str) -> str:
    """Return the first sentence of a name's docstring, as a cell of a table."""
    if ".integrations." in name or ".typing." in name:
        described = _package()[name.removeprefix(f"{TOP}.")]
        text = described.docstring.value if described.docstring else f"`{described.value}`"
    elif type(thing_of(name)).__module__.startswith(MESSAGES):
        text = f"The protobuf message `tensorflow.{name.rpartition('.')[2]}`"
    else:
        text = inspect.getdoc(thing_of(name)) or ""
    sentence = re.split(r"(?<=\.)\s", inspect.cleandoc(text))[0]
    return " ".join(sentence.split()).replace("|", "\\|").removesuffix(".")


@cache
def _package() -> Any:
    """Return the package as its source describes it, since integrations need their projects to be imported."""
    return griffe.load(TOP, search_paths=[str(Path(__file__).parents[2])], resolve_aliases=True)


def _overview(entries: dict[str, str]) -> str:
    lines = ["# API reference", ""]
    lines += [
        "Generated from docstrings. `tf` is `tfrecord_fast`. Names exported from several modules are listed once."
    ]
    for page in PAGES:
        own = [name for name in _all_names(page) if entries[name] == name and not _is_constant(name)]
        text = page.text.replace("../../", "../")
        lines += ["", f"## [{page.title}]({page.file}.md)", "", text, "", "| name | |", "| --- | --- |"]
        lines += [f"| [`{name.rpartition('.')[2]}`][{name}] | {summary_of(name)} |" for name in own]
    lines += ["", "## tfrecord_fast.tensorflow", ""]
    lines += ["The same names with TensorFlow's tensors, and other names that pipelines use: "]
    lines[-1] += "[Scripts for TensorFlow](../tensorflow.md)."
    return "\n".join(lines) + "\n"
