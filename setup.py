"""Builds the native core, `tfrecord_fast._core`, from csrc/. Metadata and tool settings are in pyproject.toml.

Switches, all environment variables:
  DEBUG=1             assertions on, optimisation off, debug information; each source is compiled alone, so that a
                      missing #include shows
  SANITIZE=address,undefined | thread
                      builds with those sanitizers (see docs/dev/testing.md)
  TFRECORD_FAST_CODECS=FOLDER
                      links the libraries that .ci/codecs built in this folder into the core, as wheels have them,
                      in place of the system's
  TFRECORD_FAST_JOBS  how many compilers run at the same time; one per core by default
"""

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import pybind11
from pybind11.setup_helpers import ParallelCompile, Pybind11Extension, build_ext, naive_recompile
from setuptools import find_packages, setup

ROOT = Path(__file__).parent

MAC = sys.platform == "darwin"

# header, library to link, Debian package that brings both, Homebrew's
SYSTEM_LIBRARIES = [
    ("isa-l.h", "isal", "libisal-dev", "isa-l"),
    ("libdeflate.h", "deflate", "libdeflate-dev", "libdeflate"),
    ("jpeglib.h", "jpeg", "libjpeg-dev", "jpeg-turbo"),
    ("png.h", "png", "libpng-dev", "libpng"),
    ("zlib.h", "z", "zlib1g-dev", "zlib"),
    ("zstd.h", "zstd", "libzstd-dev", "zstd"),
    ("snappy.h", "snappy", "libsnappy-dev", "snappy"),
]

# Compiled once, in front of every source: parsing them is half the time that most sources take.
STANDARD_HEADERS = """
    algorithm atomic condition_variable cstdint cstring deque functional memory mutex optional string string_view thread
    utility vector
""".split()

# csrc/bindings is compiled in this many pieces: alone, each of its sources takes seconds for pybind11's own functions.
BINDING_PIECES = 2

debug = os.environ.get("DEBUG", "0") not in ("", "0")
sanitizers = os.environ.get("SANITIZE", "")
codecs = os.environ.get("TFRECORD_FAST_CODECS", "")
jobs = os.environ.get("TFRECORD_FAST_JOBS", "1")
compiler = shlex.split(os.environ.get("CXX") or ("c++" if MAC else "g++"))

compile_args = ["-Wall", "-Wextra", "-fno-strict-aliasing", "-fvisibility=hidden", "-pthread"]
# After CXXFLAGS: a library that is linked with -ffast-math makes the whole process take small numbers for 0.
PRECISE = ["-fno-fast-math", "-fno-unsafe-math-optimizations"]
compile_args += [*PRECISE, "-ffp-contract=off"]  # figures are the same on every processor
link_args = ["-pthread", *PRECISE]
if debug:
    compile_args += ["-O0", "-g", "-UNDEBUG"]
else:
    compile_args += ["-O1" if sanitizers else "-O3", "-g1"]  # with sanitizers, -O3 compiles for twice as long
if sanitizers:
    compile_args += [f'-DTFRECORD_FAST_SANITIZE="{sanitizers}"', f"-fsanitize={sanitizers}"]
    compile_args += ["-fno-sanitize-recover=all", "-fno-omit-frame-pointer", "-g"]
    link_args += [f"-fsanitize={sanitizers}"]
include_dirs = ["csrc"]
library_dirs = []
if codecs:
    include_dirs.insert(0, str(Path(codecs, "include").absolute()))
    library_dirs.append(str(Path(codecs, "lib").absolute()))
    # Only what is used of them, and none of their names for others to find.
    if MAC:
        link_args += ["-Wl,-dead_strip", "-Wl,-exported_symbol,_PyInit__core"]
    else:
        link_args += ["-Wl,--gc-sections", "-Wl,--exclude-libs,ALL", "-Wl,-z,noexecstack"]
elif MAC:
    homebrew = Path(os.environ.get("HOMEBREW_PREFIX", "/opt/homebrew"))
    include_dirs.append(str(homebrew / "include"))
    library_dirs.append(str(homebrew / "lib"))


def objects_folder():
    """Where objects are kept between builds: one folder for each way to compile, so that they never mix."""
    environment = [os.environ.get(name, "") for name in ("CXX", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS")]
    python = sysconfig.get_config_var("SOABI") or ""
    ways = [*compile_args, *link_args, *include_dirs[:-1], *environment, pybind11.__version__, python]
    return f"build/objects-{hashlib.sha256(repr(ways).encode()).hexdigest()[:12]}"


def linked(header="stdio.h", library="c"):
    """Compiles and links a program that includes this header with this library; returns the finished process."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "probe.cc"
        source.write_text(f"#include <stdio.h>\n#include <{header}>\nint main() {{ return 0; }}\n")
        where = [f"-I{path}" for path in include_dirs] + [f"-L{path}" for path in library_dirs]
        flags = [os.environ.get(name, "") for name in ("CPPFLAGS", "CFLAGS", "CXXFLAGS", "LDFLAGS")]
        output = str(Path(folder) / "probe")
        command = [*compiler, *shlex.split(" ".join(flags)), *where, str(source), f"-l{library}", "-o", output]
        return subprocess.run(command, capture_output=True, text=True)


def missing():
    """Return (name, package that brings it) for all that the build needs and this machine lacks."""
    lacks = []
    if not Path(sysconfig.get_path("include"), "Python.h").exists():
        lacks.append(("Python.h", "python3" if MAC else "python3-dev"))
    if shutil.which(compiler[0]) is None:
        lacks.append((compiler[0], "llvm" if MAC else "g++"))
        libraries = SYSTEM_LIBRARIES  # there is no telling whether they are there
    else:
        if (probe := linked()).returncode != 0:
            sys.exit(
                f"tfrecord_fast can't be built: {shlex.join(probe.args)} fails on an empty program\n{probe.stderr}"
            )
        libraries = [entry for entry in SYSTEM_LIBRARIES if linked(*entry[:2]).returncode != 0]
    return [*lacks, *((f"lib{library}", packages[MAC]) for _, library, *packages in libraries)]


def check_machine():
    """Ends the build before it has begun if it can't succeed: with one line that says why."""
    if sys.platform == "win32":
        sys.exit("tfrecord_fast does not run on Windows: the core reads and writes files with POSIX calls. Use WSL.")
    if codecs and not Path(codecs, "include").is_dir():
        sys.exit(f"TFRECORD_FAST_CODECS={codecs} has no libraries: bash .ci/codecs {codecs} builds them")
    if not re.fullmatch("[0-9]+", jobs):
        sys.exit(f"TFRECORD_FAST_JOBS={jobs!r} is not a number of compilers")
    if lacks := missing():
        names, packages = (", ".join(column) for column in zip(*lacks, strict=True))
        packages = packages.replace(",", "")
        command = "macOS: brew install" if MAC else "Debian, Ubuntu: apt-get install"
        sys.exit(f"tfrecord_fast can't be built here without {names}. {command} {packages}")


if {"bdist_wheel", "build", "build_ext", "develop", "editable_wheel", "install"} & set(sys.argv):
    check_machine()


def binding_pieces(folder, sources):
    """Write sources into `folder` that include those of csrc/bindings, and return their names."""
    folder.mkdir(parents=True, exist_ok=True)
    pieces = []
    for number in range(BINDING_PIECES):
        included = [Path(source) for source in sources[number::BINDING_PIECES]]
        text = "".join(f'#include "{path.relative_to("csrc")}"\n' for path in included)
        piece = folder / f"bindings_{number}.cc"
        if not piece.exists() or piece.read_text() != text:
            piece.write_text(text)
        elif piece.stat().st_mtime < max(path.stat().st_mtime for path in included):
            piece.touch()
        pieces.append(str(piece))
    return pieces


def precompile_headers(folder, compiler_so, arguments):
    """Return arguments that make GCC use precompiled standard headers; none if it cannot precompile them.

    GCC ignores a precompiled header that another compiler or other arguments made, and includes the headers instead.
    """
    version = subprocess.run([*compiler_so, "--version"], capture_output=True, text=True).stdout
    if "Free Software Foundation" not in version:
        return []
    folder.mkdir(parents=True, exist_ok=True)
    header = folder / "standard.h"
    precompiled = folder / "standard.h.gch"
    text = "".join(f"#include <{name}>\n" for name in STANDARD_HEADERS)
    if not (header.exists() and header.read_text() == text and precompiled.exists()):
        header.write_text(text)
        command = [*compiler_so, *arguments, "-x", "c++-header", str(header), "-o", str(precompiled)]
        if subprocess.run(command, capture_output=True).returncode != 0:
            return []
    return ["-include", str(header)]


class BuildExt(build_ext):
    """Keeps its objects, and compiles only what has changed."""

    def finalize_options(self):
        super().finalize_options()
        # Even when setuptools would use a fresh folder, as for editable installs.
        self.build_temp = objects_folder()
        self.force = True  # always links: a library newer than its sources may have been built with other switches

    def build_extension(self, extension):
        if not debug:
            folder = Path(self.build_temp)
            bindings = [source for source in extension.sources if source.startswith("csrc/bindings/")]
            others = [source for source in extension.sources if source not in bindings]
            extension.sources = [*binding_pieces(folder / "pieces", bindings), *others]
            compiler_so = getattr(self.compiler, "compiler_so_cxx", self.compiler.compiler_so)
            arguments = extension.extra_compile_args
            extension.extra_compile_args = [*arguments, *precompile_headers(folder, compiler_so, arguments)]
        super().build_extension(extension)


# Recompiles a source only when it, or any header, is newer than its object file.
newest_header = max((path.stat().st_mtime for path in (ROOT / "csrc").rglob("*.h")), default=0.0)


def needs_recompile(obj, src):
    return naive_recompile(obj, src) or os.stat(obj).st_mtime < newest_header or os.stat(obj).st_size == 0


ParallelCompile("TFRECORD_FAST_JOBS", default=os.cpu_count() or 1, needs_recompile=needs_recompile).install()

# The benchmark harness comes with the package, for `tfrecord-fast bench`: its folders as they are in the checkout, and
# the parts of the core that its native loops are compiled with.
HARNESS = [
    "benchmarks",
    "benchmarks/contenders",
    "benchmarks/contenders/kit",
    "benchmarks/contenders/ours",
    "benchmarks/contenders/tensorflow_",
    "benchmarks/data",
    "benchmarks/data/scripts",
    "benchmarks/native",
    "benchmarks/reporting",
    "benchmarks/results",
    "benchmarks/running",
    "csrc/base",
    "csrc/crc32c",
]
harness = {"tfrecord_fast._bench." + folder.replace("/", "."): folder for folder in HARNESS}

setup(
    packages=[*find_packages(include=["tfrecord_fast*"]), *harness],
    package_dir=harness,
    ext_modules=[
        Pybind11Extension(
            "tfrecord_fast._core",
            sources=sorted(str(path.relative_to(ROOT)) for path in (ROOT / "csrc").rglob("*.cc")),
            depends=sorted(str(path.relative_to(ROOT)) for path in (ROOT / "csrc").rglob("*.h")),
            include_dirs=include_dirs,
            library_dirs=library_dirs,
            libraries=[library for _, library, *_ in SYSTEM_LIBRARIES],
            cxx_std=20,
            extra_compile_args=compile_args,
            extra_link_args=link_args,
        )
    ],
    cmdclass={"build_ext": BuildExt},
)
