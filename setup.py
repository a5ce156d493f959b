"""Builds the native core, `tfrecord_fast._core`, from csrc/. Metadata and tool settings are in pyproject.toml.

Switches, all environment variables:
  DEBUG=1             assertions on, optimisation off, debug information
  SANITIZE=address,undefined | thread
                      builds with those sanitizers (see CONTRIBUTING.md for running the suite under them)
  TFRECORD_FAST_JOBS  how many compilers run at the same time; one per core by default
"""

import hashlib
import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import pybind11
from pybind11.setup_helpers import ParallelCompile, Pybind11Extension, build_ext, naive_recompile
from setuptools import find_packages, setup

ROOT = Path(__file__).parent

# header, library to link, Debian package that brings both
SYSTEM_LIBRARIES = [
    ("isa-l.h", "isal", "libisal-dev"),
    ("libdeflate.h", "deflate", "libdeflate-dev"),
    ("zlib.h", "z", "zlib1g-dev"),
    ("zstd.h", "zstd", "libzstd-dev"),
    ("snappy.h", "snappy", "libsnappy-dev"),
]

debug = os.environ.get("DEBUG", "0") not in ("", "0")
sanitizers = os.environ.get("SANITIZE", "")

compile_args = ["-Wall", "-Wextra", "-fno-strict-aliasing", "-fvisibility=hidden", "-pthread"]
link_args = ["-pthread"]
if debug:
    compile_args += ["-O0", "-g", "-UNDEBUG"]
else:
    compile_args += ["-O1" if sanitizers else "-O3", "-g1"]  # with sanitizers, -O3 compiles for twice as long
if sanitizers:
    compile_args += [f'-DTFRECORD_FAST_SANITIZE="{sanitizers}"', f"-fsanitize={sanitizers}"]
    compile_args += ["-fno-sanitize-recover=all", "-fno-omit-frame-pointer", "-g"]
    link_args += [f"-fsanitize={sanitizers}"]


def objects_folder():
    """Where objects are kept between builds: one folder for each way to compile, so that they never mix."""
    environment = [os.environ.get(name, "") for name in ("CXX", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS")]
    ways = [*compile_args, *link_args, *environment, pybind11.__version__, sysconfig.get_config_var("SOABI") or ""]
    return f"build/objects-{hashlib.sha256(repr(ways).encode()).hexdigest()[:12]}"


class BuildExt(build_ext):
    """Checks for the system libraries before it compiles, so that the error names what is missing."""

    def finalize_options(self):
        super().finalize_options()
        # Even when setuptools would use a fresh folder, as for editable installs: only what changed is compiled.
        self.build_temp = objects_folder()
        self.force = True  # always links: a library newer than its sources may have been built with other switches

    def build_extensions(self):
        missing = [(lib, package) for header, lib, package in SYSTEM_LIBRARIES if not self.links(header, lib)]
        if missing:
            names = ", ".join(lib for lib, _ in missing)
            packages = " ".join(package for _, package in missing)
            sys.exit(
                f"tfrecord_fast: missing system libraries: {names}\n"
                f"On Debian or Ubuntu install them with:\n    apt-get install {packages}"
            )
        super().build_extensions()

    def links(self, header, library):
        compiler = os.environ.get("CXX", "g++").split()
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "probe.cc"
            source.write_text(f"#include <stddef.h>\n#include <{header}>\nint main() {{ return 0; }}\n")
            command = [*compiler, str(source), f"-l{library}", "-o", str(Path(folder) / "probe")]
            return subprocess.run(command, capture_output=True).returncode == 0


# Recompiles a source only when it, or any header, is newer than its object file.
newest_header = max((path.stat().st_mtime for path in (ROOT / "csrc").rglob("*.h")), default=0.0)


def needs_recompile(obj, src):
    return naive_recompile(obj, src) or os.stat(obj).st_mtime < newest_header


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
            include_dirs=["csrc"],
            libraries=[library for _, library, _ in SYSTEM_LIBRARIES],
            cxx_std=20,
            extra_compile_args=compile_args,
            extra_link_args=link_args,
        )
    ],
    cmdclass={"build_ext": BuildExt},
)
