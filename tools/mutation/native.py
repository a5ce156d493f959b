"""Changes the core, one small mistake at a time, and expects the tests of its room to notice.

    python -m tools.mutation.native [--rooms parse,wire] [--only WORD] [--count N] [--seed 1] [--list] [--check]

The mistakes are kept in tools/mutation/native_*.py. Each is compiled alone (one object, and the link) into
build/mutation; the other objects are those of the checkout's own build. The tests that its entry names run on it, then
those of its room, until one fails. `--count` draws so many of them, by the seed: all take hours. `--check` only says
whether every entry still applies.

The last line is `N mutants, M survived, S stale`, and the exit status 1 if M or S is not 0. Mistakes in code that this
processor can't run are left out, and said to be.
"""

import argparse
import functools
import importlib
import os
import random
import re
import shutil
import subprocess
import sys
import sysconfig
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import pybind11

import tfrecord_fast
from tests.support.paths import ROOT
from tools.mutation.overlay import BUILD, Overlay

CORE = ROOT / "csrc"
LIBRARIES = ["isal", "deflate", "jpeg", "png", "z", "zstd", "snappy"]
ROOMS = [
    "base",
    "io",
    "codec",
    "crc32c",
    "framing",
    "seek",
    "pipeline",
    "index",
    "varint",
    "wire",
    "parse",
    "encode",
    "stats",
    "arrow",
    "images",
    "bindings",
]
# Files of crc32c, varint and images, and the backends in them.
BACKENDS = {
    **{name: {name} for name in ("sse42", "pclmul", "vpclmul", "armv8", "pmull", "neon", "avx512_vbmi", "avx2")},
    "bmi2": {"bmi2", "avx2"},
}
SECONDS = 3600  # for the tests of a room without a mistake


class Mutant(NamedTuple):
    """One mistake: `old`, which is in the file once, becomes `new`."""

    file: str  # from csrc/
    old: str
    new: str
    why: str  # what the code is for
    tests: str = ""  # run first, from tests/, separated by spaces

    @property
    def room(self):
        return self.file.split("/")[0]


# The tests of a room, the quick ones first.
TESTS = {
    "base": "core/test_memory core/test_writer files/test_shard_life examples/test_encode examples/test_row_errors",
    "io": """core/test_inputs core/test_reader core/test_writer core/test_append faults/test_io_errors
        files/test_indexed_reader""",
    "codec": "core/test_codec core/test_snappy core/test_block_compression core/test_marked_parts faults/test_damage",
    "crc32c": "core/test_crc32c",
    "framing": """core/test_reader core/test_writer core/test_append core/test_regions faults/test_damage
        files/test_shard_reader files/test_example_writer""",
    "seek": "core/test_checkpoints files/test_compressed_by_number",
    "pipeline": """files/test_shard_order files/test_shard_reader files/test_shard_state files/test_shard_life
        core/test_regions core/test_marked_parts files/test_shard_large_batches faults/test_refused_files""",
    "index": """files/test_index files/test_indexed_reader files/test_indexed_reader_arguments
        files/test_indexed_reader_features faults/test_index_damage files/test_shard_few_resources""",
    "varint": "core/test_varint tools/test_fuzz_corpus",
    "wire": """examples/test_parse_wire examples/test_parse_learnt examples/test_encode_one examples/test_infer
        examples/test_encode_sequences tools/test_fuzz_corpus examples/test_parse_learnt_bytes
        examples/test_parse_step_bytes""",
    "parse": """examples/test_parse_parts examples/test_parse_bounds examples/test_parse_wire examples/test_parse_learnt
        examples/test_parse_learnt_bytes examples/test_parse_step_bytes examples/test_parse_fixed
        examples/test_parse_missing_lists examples/test_parse_order examples/test_row_errors examples/test_infer
        tools/test_fuzz_corpus examples/test_parse_tensorflow""",
    "encode": """examples/test_encode examples/test_encode_values examples/test_encode_errors
        examples/test_encode_sequences examples/test_encode_arrow examples/test_encode_one files/test_example_writer""",
    "stats": "cli/test_stats core/test_stats_native",
    "arrow": "core/test_arrow_native values/test_arrow examples/test_encode_arrow examples/test_encode_arrow_values",
    "images": """core/test_images_native core/test_image_files tensorflow/test_image_pixels
        tensorflow/test_decoded_pixels""",
    "bindings": """core/test_record_batch core/test_writer core/test_inputs values/test_arrow values/test_columns
        examples/test_encode_arrow examples/test_encode_one""",
}


def files_of(names):
    return [f"tests/{name}.py" for name in names]


def mutants():
    """All entries, room by room."""
    kept = []
    for path in sorted((ROOT / "tools" / "mutation").glob("native_*.py")):
        kept += importlib.import_module(f"tools.mutation.{path.stem}").MUTANTS
    return kept


def stale(mutant):
    """Why an entry no longer applies, or None."""
    path = CORE / mutant.file
    if not path.exists():
        return "the file is gone"
    found = path.read_text().count(mutant.old)
    return None if found == 1 else f"its text is there {found} times"


def lacking(mutant):
    """The backend that a mistake is in, if this processor can't run it; else None."""
    available = tfrecord_fast.build_info()["simd_available"].get(mutant.room)
    stem = Path(mutant.file).stem
    return stem if available is not None and BACKENDS.get(stem, set(available)).isdisjoint(available) else None


class Compiler:
    """The objects of the checkout's own build, and links with some of them replaced."""

    def __init__(self):
        self.command = [*os.environ.get("CXX", "g++").split(), "-std=c++20", "-O1", "-fPIC", "-pthread", "-w"]
        self.command += ["-fvisibility=hidden", "-fno-strict-aliasing", f"-I{sysconfig.get_path('include')}"]
        self.command += [f"-I{pybind11.get_include()}"]
        subprocess.run([sys.executable, "setup.py", "-q", "build_ext", "--inplace"], cwd=ROOT, check=True)
        newest = max((ROOT / "build").glob("objects-*/csrc/base/buffer.o"), key=lambda path: path.stat().st_mtime)
        self.objects = newest.parents[2]
        # Those of the bindings are included by the sources in pieces/: see setup.py.
        self.sources = [path for path in sorted(CORE.rglob("*.cc")) if path.parent != CORE / "bindings"]
        self.sources += sorted((self.objects / "pieces").glob("*.cc"))

    def object_of(self, source):
        return self.objects / source.relative_to(ROOT).with_suffix(".o")

    def _compile(self, source, to, includes=()):
        flags = [f"-I{folder}" for folder in (*includes, CORE)]
        done = subprocess.run([*self.command, *flags, "-c", str(source), "-o", str(to)], capture_output=True, text=True)
        if done.returncode != 0:
            raise ValueError(done.stderr[-2000:])

    def link(self, mutant, folder):
        """The extension with a mistake in it; in `folder`, which keeps nothing else."""
        shutil.rmtree(folder, ignore_errors=True)
        changed = folder / "source" / mutant.file
        changed.parent.mkdir(parents=True)
        changed.write_text((CORE / mutant.file).read_text().replace(mutant.old, mutant.new))
        objects = {source: self.object_of(source) for source in self.sources}
        if CORE / mutant.file in objects:
            objects[CORE / mutant.file] = folder / "changed.o"
            self._compile(changed, folder / "changed.o")
        else:  # an included file is found in this folder first
            users = [source for source in self.sources if mutant.file in included_by(source)]
            for source in users:
                objects[source] = folder / (str(source.relative_to(ROOT)).replace("/", "-") + ".o")
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                list(pool.map(lambda source: self._compile(source, objects[source], [folder / "source"]), users))
        extension = folder / ("_core" + sysconfig.get_config_var("EXT_SUFFIX"))
        libraries = [f"-l{name}" for name in LIBRARIES]
        command = [*self.command, "-shared", *map(str, objects.values()), *libraries, "-o", str(extension)]
        subprocess.run(command, check=True)
        return extension


@functools.cache
def included_by(path):
    """The headers, by their paths from csrc/, that a file includes, or one of these does."""
    names = re.findall(r'#include "([^"]+)"', path.read_text())
    return {*names, *(name for one in names for name in included_by(CORE / one))}


class Runner:
    """Tries mutants, one after another."""

    def __init__(self, compiler):
        self.compiler = compiler
        self.overlay = Overlay("native")
        for extension in self.overlay.package.glob("*.so"):
            extension.unlink()
        self.limits = {}  # seconds, after which the tests of a room hang

    def check(self, rooms):
        """Without a mistake, all tests of these rooms pass."""
        for extension in (ROOT / "tfrecord_fast").glob("_core*.so"):
            shutil.copy(extension, self.overlay.package)
        for room in rooms:
            began = time.monotonic()
            passed, said = self.overlay.pytest(files_of(TESTS[room].split()), SECONDS)
            if not passed:
                sys.exit(f"the tests of {room} fail without a mistake:\n{said}")
            self.limits[room] = 60 + 4 * (time.monotonic() - began)
            print(f"the tests of {room} pass without a mistake in {time.monotonic() - began:.0f} s", flush=True)

    def survives(self, mutant):
        """(whether no test failed, a word on how it ended)."""
        folder = BUILD / "mutant"
        try:
            extension = self.compiler.link(mutant, folder)
        except ValueError as error:
            return True, f"DOES NOT COMPILE: {' '.join(str(error).split())[:300]}"
        extension.replace(self.overlay.package / extension.name)
        os.environ["MUTATED_CORE"] = str(folder / "source")  # for tests that compile files of the core
        first = mutant.tests.split()
        for tests in (first, [test for test in TESTS[mutant.room].split() if test not in first]):
            if tests:
                passed, said = self.overlay.pytest(files_of(tests), self.limits[mutant.room])
                if not passed:
                    return False, said
        return True, "no test failed"


def line_of(mutant):
    text = (CORE / mutant.file).read_text()
    return text[: text.index(mutant.old)].count("\n") + 1


def killed_by(said):
    """The test that failed, as pytest says it in the end; or the last line."""
    failed = [line for line in said.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return (failed or said.splitlines()[-1:] or ["it crashed"])[0][:150]


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="tools.mutation.native", description=__doc__.split("\n")[0])
    parser.add_argument("--rooms", help="of csrc/, separated by commas; all without it")
    parser.add_argument("--only", default="", help="a word that file, text or purpose has to hold")
    parser.add_argument("--count", type=int, default=0, help="how many are drawn; all without it")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--list", action="store_true", help="only lists the entries")
    parser.add_argument("--check", action="store_true", help="only says which no longer apply")
    args = parser.parse_args(arguments)
    rooms = args.rooms.split(",") if args.rooms else ROOMS
    chosen = [mutant for mutant in mutants() if mutant.room in rooms and args.only in " ".join(mutant)]
    outdated = [(mutant, reason) for mutant in chosen if (reason := stale(mutant))]
    for mutant, reason in outdated:
        print(f"STALE {mutant.file} ({reason}): {mutant.old!r}", flush=True)
    chosen = [mutant for mutant in chosen if not stale(mutant)]
    for mutant in filter(lacking, chosen):
        print(f"LEFT OUT {mutant.file}:{line_of(mutant)} {mutant.why}: this processor has no {lacking(mutant)}")
    chosen = [mutant for mutant in chosen if not lacking(mutant)]
    if 0 < args.count < len(chosen):
        chosen = random.Random(args.seed).sample(chosen, args.count)
    if args.list:
        for mutant in chosen:
            print(f"{mutant.file}:{line_of(mutant)}: {mutant.why}: {mutant.old!r} -> {mutant.new!r}")
    survived = 0 if args.list or args.check else run(chosen)
    print(f"{len(chosen)} mutants, {survived} survived, {len(outdated)} stale")
    return 1 if survived or outdated else 0


def run(chosen):
    """How many survived."""
    runner = Runner(Compiler())
    runner.check(sorted({mutant.room for mutant in chosen}))
    survived = 0
    for mutant in sorted(chosen, key=lambda mutant: mutant.file.endswith(".h")):  # headers take many objects
        began = time.monotonic()
        alive, said = runner.survives(mutant)
        survived += alive
        word = "SURVIVED" if alive else "killed"
        took = f"{time.monotonic() - began:.0f} s"
        print(f"{word} {mutant.file}:{line_of(mutant)} {mutant.why} ({took}): {killed_by(said)}", flush=True)
    return survived


if __name__ == "__main__":
    sys.exit(main())
