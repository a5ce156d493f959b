"""The micro-benchmarks: they check their answers before they time anything, and say what they can't run."""

import json

import pytest

from benchmarks.native import __main__ as command
from benchmarks.native import build, programs
from tests.support.contenders import more_contenders

ROOMS = programs.ROOMS


def needs(*rooms):
    for name in rooms:
        if programs.why_not(ROOMS[name]) is not None:
            pytest.skip(programs.why_not(ROOMS[name]))


@pytest.mark.parametrize("rooms", [["crc32c"], *more_contenders(["crc32c", "inflate"])], ids=" ".join)
def test_a_room_gives_figures_of_every_backend(rooms, tmp_path, capsys):
    needs(*rooms)
    out = tmp_path / "out.json"
    assert command.main([*rooms, "--quick", "--data", str(tmp_path), "--json", str(out)]) == 0
    found = json.loads(out.read_text())["figures"]
    assert all(len(one["rounds"]) == 3 and min(one["rounds"]) > 0 for one in found)
    assert {one["case"] for one in found if one["how"] == "portable"} == {"64 B", "600 B", "100000 B"}
    inflated = {one["how"] for one in found if one["room"] == "inflate"}
    assert inflated >= ({"this project's source", "ISA-L alone"} if "inflate" in rooms else set())
    printed = capsys.readouterr()
    assert all(one["how"] in printed.out for one in found)
    timed = {one["how"] for one in found if one["room"] == "crc32c"}
    assert all(
        f"not measured: {name}" in printed.err
        for name in {"vpclmul", "pclmul", "sse42"} - timed
        if build.compiles("#ifndef __x86_64__\n#error\n#endif")
    )


@pytest.mark.parametrize("room", more_contenders("varint", "parse", "framing", "deflate"))
def test_the_other_rooms_give_figures_too(room, tmp_path):
    needs(room)
    out = tmp_path / "out.json"
    assert command.main([room, "--quick", "--data", str(tmp_path), "--json", str(out)]) == 0
    found = json.loads(out.read_text())["figures"]
    assert found and all(one["room"] == room and min(one["rounds"]) > 0 for one in found)


def test_a_wrong_answer_ends_it_before_a_time_is_taken(tmp_path, monkeypatch, capsys):
    needs("crc32c")
    folder = tmp_path / "native"
    folder.mkdir()
    (folder / "measure.h").write_text((build.HERE / "measure.h").read_text())
    spoilt = (build.HERE / "crc32c.cc").read_text().replace("uint32_t sum = 0;", "uint32_t sum = 1;")
    (folder / "crc32c.cc").write_text(spoilt)
    monkeypatch.setattr(build, "HERE", folder)
    assert command.main(["crc32c", "--quick"]) == 1
    printed = capsys.readouterr()
    assert "wrong answer" in printed.err and "GB/s" not in printed.out


def test_a_missing_compiler_is_reported(monkeypatch, capsys):
    needs("crc32c")
    monkeypatch.setenv("CXX", "no-such-compiler")
    assert command.main(["crc32c"]) == 2
    assert "no-such-compiler not found" in capsys.readouterr().err


def test_a_missing_header_is_reported(monkeypatch):
    needs("crc32c")
    monkeypatch.setitem(programs.HEADERS, "isal", ("no-such.h", "no-such-dev"))
    assert "no-such.h (Debian: no-such-dev)" in programs.why_not(ROOMS["inflate"])


def test_lines_of_a_program_are_rows_and_what_the_processor_lacks(tmp_path):
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\nprintf 'row\\ta case\\thow\\tGB/s\\t1 3 2\\nlacking\\tavx\\ttoo old\\n'\n")
    program.chmod(0o755)
    (figure,), (lacking,) = programs.run(program, 3, 1.0)
    assert (figure.case, figure.unit, figure.rounds) == ("a case", "GB/s", [1.0, 3.0, 2.0])
    assert lacking == ("avx", "too old")
