"""The rules of the house, csrc/README.md, held by reading the source."""

import re

from tests.support.paths import ROOT

CORE = ROOT / "csrc"
SOURCES = sorted([*CORE.rglob("*.cc"), *CORE.rglob("*.h")])
PYTHON = sorted(
    path
    for folder in ("tfrecord_fast", "tests", "tools", "benchmarks")
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
    "seek": {"crc32c", "io", "codec"},
    "pipeline": {"io", "codec", "framing", "seek"},
    "index": {"crc32c", "io", "codec", "framing", "pipeline", "seek"},
    "parse": {"crc32c", "images", "varint", "wire"},
    "stats": {"varint", "wire", "parse"},
    "encode": {"varint", "wire", "framing"},
    "arrow": set(),
    "images": set(),
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


def test_the_contracts_on_the_map_exist():
    missing = [f"{room}/{contract}" for room in MAP for contract in MAP[room] if not (CORE / room / contract).exists()]
    assert not missing
    assert all(MAP.values())


def test_only_bindings_knows_python():
    assert not [name(path) for path in SOURCES if room(path) != "bindings" and knows_python(path)]


def knows_python(path):
    headers = [header for names in includes(path) for header in names]
    included = any(re.match(r"(pybind11|numpy)/|Python\.h|structmember", header) for header in headers)
    return included or re.search(r"\bPy[A-Z_]\w+\(|\bpybind11\b|\bPyObject\b", code(path)) is not None


def test_quoted_includes_are_paths_from_csrc():
    quoted = [(name(path), header) for path in SOURCES for header in includes(path)[1]]
    assert not [(file, header) for file, header in quoted if not (CORE / header).exists()]


def test_includes_go_only_where_they_may():
    """Into the room itself, base/, and the rooms listed above; nothing includes bindings/."""
    edges = {(room(path), header.split("/")[0]) for path in SOURCES for header in includes(path)[1]}
    allowed = {
        (here, there) for here, rooms in MAY_INCLUDE.items() for there in (MAY_INCLUDE if rooms is None else rooms)
    }
    allowed = {(here, there) for here, there in allowed if there != "bindings"}
    allowed |= {(here, there) for here in MAY_INCLUDE for there in (here, "base")}
    assert not edges - allowed


def test_rooms_include_each_other_in_no_circle():
    graph = {one: MAY_INCLUDE[one] or set() for one in MAY_INCLUDE}
    while graph:
        free = [one for one, others in graph.items() if not others & set(graph)]
        assert free, f"a circle among {sorted(graph)}"
        graph = {one: others for one, others in graph.items() if one not in free}


LIBRARIES = {
    "jpeglib.h": {"libjpeg"},
    "png.h": {"png_decode", "png_encode"},
    "isa-l.h": {"isal_inflate", "isal_deflate"},
    "libdeflate.h": {"libdeflate_block"},
    "zlib.h": {"zlib_deflate"},
    "zstd.h": {"zstd"},
    "snappy.h": {"snappy"},
}


def test_a_library_is_included_by_its_own_files():
    users = {library: {path.stem for path in SOURCES if library in includes(path)[0]} for library in LIBRARIES}
    assert not {library: stems - LIBRARIES[library] for library, stems in users.items() if stems - LIBRARIES[library]}


# A tag that is made or named, a tag's byte, and a field number that is shifted into one.
TAGS = r"\bWireTag\s*\(|\bk\w*Tags?\s*(?:=|\{|\()|\b0[xX]0*(?:8|[aA]|[dD]|12|1[aA])\b|<<\s*3\s*\|"


def found_in_code(pattern, paths):
    """The places in C++ code, outside of comments and strings, that match."""
    return [f"{name(path)}: {match}" for path in paths for match in re.findall(pattern, code(path))]


def test_tags_are_written_down_in_the_grammar_only():
    """csrc/wire/example.h, whose names other rooms use."""
    users = [path for path in SOURCES if room(path) in ("parse", "stats", "encode", "bindings")]
    assert not found_in_code(TAGS, users)


def test_the_gil_is_released_and_taken_by_our_guards_only():
    """pybind11's own let CPython unwind a thread through them when the interpreter ends, which aborts the process."""
    assert not found_in_code("gil_scoped", SOURCES)


def test_the_core_never_prints_and_never_aborts():
    calls = r"\b(?:f?printf|puts|fputs|abort|exit|_exit|terminate)\s*\("
    assert not found_in_code(rf"{calls}|\bstd::c(?:out|err|log)\b|<iostream>", SOURCES)


def test_a_source_opens_with_its_job():
    assert not [name(path) for path in SOURCES if not re.match(r"// \S", path.read_text())]


def test_a_header_is_included_once():
    assert not [name(path) for path in SOURCES if path.suffix == ".h" and "\n#pragma once\n" not in path.read_text()]


def test_no_file_is_longer_than_500_lines():
    lengths = {name(path): len(path.read_text().splitlines()) for path in SOURCES + PYTHON}
    assert not {file: lines for file, lines in lengths.items() if lines > 500}


def test_what_ships_is_built_for_no_single_machine():
    text = (ROOT / "setup.py").read_text()
    assert not re.search(r"-march|-mtune|-mcpu|-m(?:avx|sse|bmi|pclmul|vpclmul)", text)
    assert not any("#pragma GCC target" in path.read_text() for path in SOURCES)


def test_the_package_has_no_absolute_path_of_a_machine():
    pattern = r'"/(?:home|root|work|Users)/'
    assert not [name(path) for path in SOURCES + PYTHON if re.search(pattern, path.read_text())]
