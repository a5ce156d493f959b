"""Show records in a browser, one at a time, with images, sound, text and numbers. Files may have any size.

This command serves the page on 127.0.0.1, to anyone who knows its address, which has a random token. Nothing is
written. Ctrl-C stops it. Records of uncompressed files are read by index: FILE.idx if it is not older than the file,
else a new index in memory. Compressed files are read from the start; the records read last are cached.

Keys: j and k, or the arrows, show the next and previous record; Home and End the first and last; g asks for a number;
/ for a condition, as of `cat --where`.
"""

from __future__ import annotations

import argparse
import contextlib

from ....base.lazy import lazy_names
from ....files.stores import StoreSettings
from ...arguments import add_file_arguments, storage_options
from ...console import Console
from ...files import named_files
from .sources import File, is_readable_again, look_at

NAME = "view"
SUMMARY = "show records in a browser"
EXAMPLES = """\
tfrecord-fast view train.tfrecord
tfrecord-fast view 'train-*.tfrecord' --open
tfrecord-fast view data/ --port 8000
"""

_MOST_PORT = 65535
_server = lazy_names(__name__, {".server": "in_browser make_server"})  # http.server would slow down all commands


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_file_arguments(parser)
    parser.add_argument("--open", action="store_true", help="open the page in the browser")
    parser.add_argument("--port", type=_port, default=0, metavar="N", help="port on 127.0.0.1 (default: any free port)")


def run(args: argparse.Namespace, console: Console) -> int:
    """Serve the page until Ctrl-C. Returns only if no file can be shown."""
    named, status = named_files(args, console)
    settings = StoreSettings(storage_options(args))
    files: list[File] = []
    for core_file in named:
        file = File(core_file, args.compression, settings)
        problem = look_at(file) if is_readable_again(core_file) else "pipes and devices cannot be shown"
        if problem is None:
            files.append(file)
        else:
            console.problem(f"{file.path}: {problem}")
            status = 2
    if not files:
        return status
    try:
        server = _server.getattr("make_server")(files, args.port)
    except OSError as error:
        console.problem(f"127.0.0.1:{args.port}: {error.strerror}")
        return 2
    with server, contextlib.ExitStack() as stack:
        console.json({"url": server.url}) if args.json else console.line(server.url)
        if args.open:
            try:
                stack.enter_context(_server.getattr("in_browser")(server.url))
            except OSError as error:  # the folder for temporary files is full
                console.problem(f"--open: {error}")
        server.serve_forever()
    return status


def _port(text: str) -> int:
    if not text.isdecimal() or len(text) > len(str(_MOST_PORT)) or int(text) > _MOST_PORT:
        raise argparse.ArgumentTypeError(f"expected a port, 0 to {_MOST_PORT}, got {text!r}")
    return int(text)
