"""--help, suggestions, completion and the man page."""

import os
import re
import shlex
import subprocess

import pytest

from tests.support.paths import ROOT
from tfrecord_fast.cli import main
from tfrecord_fast.cli.app import COMMANDS
from tfrecord_fast.cli.commands import convert
from tfrecord_fast.cli.manual import manual
from tfrecord_fast.cli.parsing import command_line


def ends(*argv):
    with pytest.raises(SystemExit) as end:
        main(list(argv))
    return end.value.code


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.NAME)
def test_help_has_examples_that_can_be_parsed(command, capsys):
    if command.NAME == "bench":  # has its own
        return
    assert ends(command.NAME, "--help") == 0
    text = capsys.readouterr().out
    assert "examples:" in text and command.__doc__.splitlines()[0][:40] in text
    _, parsers = command_line(COMMANDS)
    for line in command.EXAMPLES.splitlines():
        words = shlex.split(re.split(r" [|>] ?| \|\| ", line.partition("| tfrecord-fast")[2] or line)[0])
        parsers[command.NAME].parse_args([word for word in words if word not in ("tfrecord-fast", command.NAME)])


@pytest.mark.parametrize(
    "said", ["The output must not be one of the inputs", "If a file changes in between, that is an error"]
)
def test_convert_says_what_it_refuses(said):
    assert said in " ".join(convert.__doc__.split()) and said in " ".join(manual().split())


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("verfy a", "verify"),
        ("ct a", "cat"),
        ("shcema a", "schema"),
        ("cat --limt 5 a", "--limit"),
        ("cat --whre=x a", "--where"),
        ("cat --as exmaple a", "example"),
        ("convert a b --shard-s 5", "--shards"),
        ("info --jsno a", "--json"),
    ],
)
def test_what_is_misspelled_is_suggested(line, meant, capsys):
    assert ends(*line.split()) == 2
    assert f"(did you mean {meant}?)" in capsys.readouterr().err


def test_help_lists_all_commands_in_four_groups_within_80_columns(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert ends("--help") == 0
    text = capsys.readouterr().out
    groups = re.findall(r"^([a-z ]+):\n((?:  \w+ +\S.*\n)+)\n", text, re.M)
    assert [title for title, _ in groups] == ["look at files", "check and repair", "write files", "other"]
    listed = [line.split()[0] for _, lines in groups for line in lines.splitlines()]
    assert sorted(listed) == [command.NAME for command in COMMANDS]
    assert max(map(len, text.splitlines())) <= 80


def test_what_is_like_nothing_lists_what_there_is(capsys):
    assert ends("xyzzyx") == 2
    assert "choose from bench, cat, convert" in capsys.readouterr().err


def test_no_command_is_usage(capsys):
    assert ends() == 2 and "COMMAND" in capsys.readouterr().err


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_completion_knows_commands_and_options(shell, capsys, tmp_path):
    pytest.importorskip("shtab")
    assert main(["--print-completion", shell]) == 0
    script = capsys.readouterr().out
    assert "verify" in script and ("--where" in script or shell == "tcsh")
    if shell == "bash":
        (tmp_path / "script").write_text(script)
        assert subprocess.run(["bash", "-n", tmp_path / "script"]).returncode == 0


def test_completion_without_its_package_says_what_to_install(capsys, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "shtab", None)
    assert main(["--print-completion", "bash"]) == 2
    assert "tfrecord_fast[completion]" in capsys.readouterr().err


def test_the_man_page_is_that_of_the_commands(monkeypatch):
    monkeypatch.setitem(os.environ, "COLUMNS", "100")
    text = manual()
    assert text == (ROOT / "docs" / "tfrecord-fast.1").read_text(), (
        "run COLUMNS=100 python -m tfrecord_fast.cli.manual > docs/tfrecord-fast.1"
    )
    for command in COMMANDS:
        assert f'.SS "{command.NAME}"' in text
    assert r"\fB\-\-where CONDITION\fR" in text and r"\fB\-n, \-\-limit N\fR" in text
