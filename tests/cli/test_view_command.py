"""`tfrecord-fast view`: the command, its options, and what it opens."""

import gzip
import json
import os
import signal
import socket
import subprocess
import tempfile
import urllib.request
import webbrowser
from pathlib import Path

import pytest

from tests.cli.test_view import labels, write
from tests.support.command import COMMAND, interruptible
from tests.support.other_files import LFS
from tests.support.threads import wait_until
from tfrecord_fast.cli import main
from tfrecord_fast.cli.app import run
from tfrecord_fast.cli.commands.view.server import Server


@pytest.fixture
def started(tmp_path):
    """Starts the command; gives the process and its address."""
    running = []

    def start(*argv):
        how = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "preexec_fn": interruptible}
        process = subprocess.Popen([*COMMAND, "view", *map(str, argv)], **how)
        running.append(process)
        return process, process.stdout.readline().decode().strip()

    yield start
    for process in running:
        process.kill()
        process.communicate()


def test_the_command_prints_its_address_and_dies_of_ctrl_c(tmp_path, started):
    process, url = started(write(tmp_path / "a", *labels(3)))
    with urllib.request.urlopen(f"{url}api/files") as answer:
        assert json.load(answer)["files"][0]["path"] == str(tmp_path / "a")
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) == -signal.SIGINT
    assert process.stderr.read() == b""


def test_ctrl_c_does_not_wait_for_requests(tmp_path, started):
    process, url = started(write(tmp_path / "a", *labels(3)))
    port = int(url.split(":")[2].split("/")[0])
    with socket.create_connection(("127.0.0.1", port)) as waits:
        waits.sendall(b"GET / HT")
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == -signal.SIGINT


def test_json_and_a_port_of_ones_own(tmp_path, started):
    _, line = started(write(tmp_path / "a", *labels(3)), "--json")
    port = json.loads(line)["url"].split(":")[2].split("/")[0]
    other = subprocess.run([*COMMAND, "view", tmp_path / "a", "--port", port], capture_output=True, text=True)
    assert other.returncode == 2 and "in use" in other.stderr


def test_the_browser_is_opened_only_if_asked_for(tmp_path, monkeypatch, capsys):
    opened = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    monkeypatch.setattr(signal, "signal", lambda *handler: None)
    path = write(tmp_path / "a", *labels(3))

    def interrupt(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(Server, "serve_forever", interrupt)
    for options in ([], ["--open"]):
        assert not opened
        with pytest.raises(KeyboardInterrupt):
            run(["view", str(path), *options])
    assert len(opened) == 1
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    with pytest.raises(KeyboardInterrupt):
        run(["view", str(path), "--open"])
    assert len(opened) == 1 and "--open: " in capsys.readouterr().err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_token_is_on_no_command_line_but_in_a_file_of_the_user(tmp_path, monkeypatch, started, number):
    browser, seen = tmp_path / "browser", tmp_path / "seen"
    browser.write_text(f'#!/bin/sh\n(echo "$@"; env) > {seen}.new; mv {seen}.new {seen}; exec sleep 5 >&- 2>&-\n')
    browser.chmod(0o755)
    monkeypatch.setenv("BROWSER", str(browser))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    process, url = started(write(tmp_path / "a", *labels(3)), "--open")
    wait_until(seen.exists)
    command_line = seen.read_text()
    page = Path(command_line.split()[0].removeprefix("file://"))
    token = url.split("/")[3]
    assert len(token) >= 32 and token not in command_line
    assert f"url={url}" in page.read_text()
    assert (page.stat().st_mode & 0o777, page.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    process.send_signal(number)
    assert process.wait(timeout=20) == (-number if number == signal.SIGINT else 128 + number)
    assert not page.parent.exists() and process.stderr.read() == b""


def test_what_is_no_tfrecord_file_is_named(tmp_path, capsys):
    (tmp_path / "lfs").write_text(LFS)
    (tmp_path / "text.gz").write_bytes(gzip.compress(b"some words and more of them\n"))
    os.mkfifo(tmp_path / "fifo")
    for name, said in (
        ("lfs", "run `git lfs pull`"),
        ("text.gz", "text, compressed with GZIP"),
        ("fifo", "pipes and devices cannot be shown"),
        ("missing", "No such file"),
    ):
        assert main(["view", str(tmp_path / name)]) == 2
        assert said in capsys.readouterr().err
    assert main(["view", "-"]) == 2
    assert "pipes and devices" in capsys.readouterr().err


@pytest.mark.parametrize("port", ["-1", "65536", "x", "9" * 30])
def test_a_port_that_is_none_is_usage(port):
    with pytest.raises(SystemExit) as end:
        main(["view", "a", "--port", port])
    assert end.value.code == 2
