"""Shows records in a browser: one at a time, with images, sound, text and numbers, of files of any size.

The page is served by this command on 127.0.0.1, to who knows its address, which has a random part; nothing is written.
Ctrl-C stops it. Records of uncompressed files are reached by their index, which is taken from FILE.idx if that is not
older than the file, and is made otherwise. Compressed files are read from their start; what was read last is kept.

Keys: j and k, or the arrows, go to the next record and to the one before; Home and End to the first and last; g to a
number; / to the condition, which is one as of `cat --where`.
"""

from __future__ import annotations

import argparse
import threading
import webbrowser
from functools import partial

from ....base.lazy import lazy_names
from ....files.stores import StoreSettings
from ...console import Console
from ...files import add_file_arguments, named_files, storage_options
from .sources import File, is_readable_again, look_at

__all__ = ["EXAMPLES", "NAME", "SUMMARY", "add_arguments", "run"]

NAME = "view"
SUMMARY = "show records in a browser"
EXAMPLES = """\
tfrecord-fast view train.tfrecord
tfrecord-fast view 'train-*.tfrecord' --open
tfrecord-fast view data/ --port 8000
"""

_MOST_PORT = 65535
_server = lazy_names(
    __name__, {".server": "make_server"}
)  # with it comes http.server, which all commands would wait for


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """FILE…, --compression, --json, --storage-option, --open, --port."""
    add_file_arguments(parser)
    parser.add_argument("--open", action="store_true", help="open the page in the browser")
    parser.add_argument("--port", type=_port, default=0, metavar="N", help="of 127.0.0.1 (default: any that is free)")


def run(args: argparse.Namespace, console: Console) -> int:
    """Serves the page until Ctrl-C; returns only if there is nothing to show."""
    named, status = named_files(args, console)
    settings = StoreSettings(storage_options(args))
    files: list[File] = []
    for one in named:
        file = File(one, args.compression, settings)
        problem = look_at(file) if is_readable_again(one) else "only files that can be read twice are shown"
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
    with server:
        console.json({"url": server.url}) if args.json else console.line(server.url)
        if args.open:
            # Some browsers run in the terminal, until they are left.
            threading.Thread(target=partial(webbrowser.open, server.url), daemon=True).start()
        server.serve_forever()
    return status


def _port(text: str) -> int:
    if not text.isdecimal() or len(text) > len(str(_MOST_PORT)) or int(text) > _MOST_PORT:
        raise argparse.ArgumentTypeError(f"expected a port, 0 to {_MOST_PORT}, got {text!r}")
    return int(text)
