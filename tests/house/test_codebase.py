"""The rules of the house, csrc/README.md, held by reading the source."""

import re

import pytest

from tests.support.paths import ROOT

CORE = ROOT / "csrc"
SOURCES = sorted([*CORE.rglob("*.cc"), *CORE.rglob("*.h")])
PYTHON = sorted(
    path
    for folder in ("tfrecord_fast", "tests", "benchmarks")
    for path in (ROOT / folder).rglob("*.py")
    if not any(part.startswith(".") for part in path.relative_to(ROOT).parts)  # rivals' environments
)

# What each room may include of the others, besides base/.
MAY_INCLUDE = {
    "base": set(),
    "crc32c": set(),
    "varint": set(),
    "wire": {"varint"},
    "io": set(),
    "codec": {"io"},
    "framing": {"crc32c", "io", "codec"},
    "pipeline": {"io", "codec", "framing"},
    "index": {"io", "framing", "pipeline"},
    "parse": {"varint", "wire"},
    "stats": {"varint", "wire", "parse"},
    "encode": {"varint", "wire", "framing"},
    "arrow": set(),
    "bindings": None,  # all
}

MAP = {
    room: re.findall(r"`(\w+\.(?:h|cc))`", contracts)
    for room, contracts in re.findall(r"(?m)^\| `(\w+)/` \|[^|]*\|([^|]*)\|$", (CORE / "README.md").read_text())
}


def name(path):
    return str(path.relative_to(ROOT))


def room(path):
    return path.relative_to(CORE).parts[0]


def code(path):
    """Without comments and strings."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
    return re.sub(r'"(?:\\.|[^"\\\n])*"', '""', text)


def includes(path):
    """(bracketed, quoted) names."""
    text = path.read_text()
    return re.findall(r"#\s*include\s*<([^>]+)>", text), re.findall(r'#\s*include\s*"([^"]+)"', text)


def test_every_room_has_its_place_in_the_table_and_on_the_map():
    rooms = {path.name for path in CORE.iterdir() if path.is_dir()}
    assert rooms <= set(MAY_INCLUDE), "a new room: say above what it may include"
    assert set(MAP) == rooms


@pytest.mark.parametrize("room", MAP)
def test_the_contracts_on_the_map_exist(room):
    assert MAP[room] and all((CORE / room / contract).exists() for contract in MAP[room])


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_only_bindings_knows_python(path):
    bracketed, quoted = includes(path)
    knows = [header for header in bracketed + quoted if re.match(r"(pybind11|numpy)/|Python\.h|structmember", header)]
    assert room(path) == "bindings" or not knows
    assert room(path) == "bindings" or not re.search(r"\bPy[A-Z_]\w+\(|\bpybind11\b|\bPyObject\b", code(path))


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_includes_go_only_where_they_may(path):
    """Own headers by their path from csrc/, in a room that this one may include; nothing includes bindings/."""
    here = room(path)
    for header in includes(path)[1]:
        assert (CORE / header).exists(), f"{header} is not a path from csrc/"
        there = header.split("/")[0]
        if there not in (here, "base"):
            assert there != "bindings"
            assert MAY_INCLUDE[here] is None or there in MAY_INCLUDE[here], f"{here}/ may not include {there}/"


def test_rooms_include_each_other_in_no_circle():
    graph = {one: MAY_INCLUDE[one] or set() for one in MAY_INCLUDE}
    while graph:
        free = [one for one, others in graph.items() if not others & set(graph)]
        assert free, f"a circle among {sorted(graph)}"
        graph = {one: others for one, others in graph.items() if one not in free}


@pytest.mark.parametrize(
    ("library", "owners"),
    [
        ("isa-l.h", {"isal_inflate", "isal_deflate"}),
        ("libdeflate.h", {"libdeflate_block"}),
        ("zlib.h", {"zlib_deflate"}),
        ("zstd.h", {"zstd"}),
        ("snappy.h", {"snappy"}),
    ],
)
def test_a_codecs_library_is_included_by_its_own_files(library, owners):
    assert {path.stem for path in SOURCES if library in includes(path)[0]} <= owners


# A tag that is made or named, a tag's byte, and a field number that is shifted into one.
TAGS = r"\bWireTag\s*\(|\bk\w*Tags?\s*(?:=|\{|\()|\b0[xX]0*(?:8|[aA]|[dD]|12|1[aA])\b|<<\s*3\s*\|"


@pytest.mark.parametrize(
    "path", [path for path in SOURCES if room(path) in ("parse", "stats", "encode", "bindings")], ids=name
)
def test_tags_are_written_down_in_the_grammar_only(path):
    """csrc/wire/example.h, whose names other rooms use."""
    assert not re.findall(TAGS, code(path))


@pytest.mark.parametrize("path", [path for path in SOURCES if room(path) == "bindings"], ids=name)
def test_the_gil_is_released_and_taken_by_our_guards_only(path):
    """pybind11's own let CPython unwind a thread through them when the interpreter ends, which aborts the process."""
    assert "gil_scoped" not in code(path)


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_the_core_never_prints_and_never_aborts(path):
    calls = r"\b(?:f?printf|puts|fputs|abort|exit|_exit|terminate)\s*\("
    assert not re.findall(rf"{calls}|\bstd::c(?:out|err|log)\b|<iostream>", code(path))


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_a_source_opens_with_its_job_and_guards_its_header(path):
    text = path.read_text()
    assert re.match(r"// \S", text)
    if path.suffix == ".h":
        guard = "TFRECORD_FAST_" + re.sub(r"\W", "_", str(path.relative_to(CORE))).upper() + "_"
        assert f"#ifndef {guard}\n#define {guard}\n" in text


@pytest.mark.parametrize("path", SOURCES + PYTHON, ids=name)
def test_no_file_is_longer_than_500_lines(path):
    assert len(path.read_text().splitlines()) <= 500


def test_what_ships_is_built_for_no_single_machine():
    text = (ROOT / "setup.py").read_text()
    assert not re.search(r"-march|-mtune|-mcpu|-m(?:avx|sse|bmi|pclmul|vpclmul)", text)
    assert not any("#pragma GCC target" in path.read_text() for path in SOURCES)


def test_the_package_has_no_absolute_path_of_a_machine():
    for path in SOURCES + PYTHON:
        assert not re.search(r'"/(?:home|root|work|Users)/', path.read_text()), path
