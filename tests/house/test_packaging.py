"""What goes into a release: pinned libraries with their licences, and builds that say at once why they can't be."""

import ast
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile

import pytest

import tfrecord_fast
from tests.support.paths import ROOT
from tfrecord_fast import _core

LINES = [line.split("\t") for line in (ROOT / ".ci/codecs.tsv").read_text().splitlines() if not line.startswith("#")]
LIBRARIES = {name for name, *_ in LINES if name != "nasm"}  # which only builds


def test_the_libraries_of_wheels_are_pinned():
    for name, version, sha256, url in LINES:
        assert re.fullmatch("[0-9a-f]{64}", sha256), name
        assert url == "-" or (url.startswith("https://") and version in url and name in url)


def test_every_library_has_one_release_and_an_address():
    for library in {name for name, *_ in LINES}:
        lines = [line for line in LINES if line[0] == library]
        assert len({version for _, version, *_ in lines}) == 1
        assert [line[3] for line in lines if line[3] != "-"] == [lines[0][3]]


def test_every_library_in_a_wheel_has_its_licence():
    table = (ROOT / "licenses/README.md").read_text()
    for library in LIBRARIES | {"pybind11"}:
        assert "opyright" in (ROOT / "licenses" / f"{library}.txt").read_text()
        assert f"`{library}.txt`" in table
    assert {path.stem for path in (ROOT / "licenses").glob("*.txt")} == LIBRARIES | {"pybind11"}


def test_wheels_carry_what_the_build_links():
    linked = set(re.findall(r'\("[\w-]+\.h", "(\w+)", "[\w-]+", "[\w-]+"\)', (ROOT / "setup.py").read_text()))
    names = {"isa-l": "isal", "libjpeg-turbo": "jpeg"}
    inside = {names.get(library, library.removeprefix("lib")) for library in LIBRARIES}
    assert linked - {"z"} == inside  # zlib is the system's


def test_a_wheel_lists_each_library_that_is_linked_into_it():
    command = [sys.executable, ROOT / ".ci/sbom.py", _core.__file__]
    document = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.6")
    package, components = document["metadata"]["component"], document["components"]
    assert (package["name"], package["version"]) == ("tfrecord_fast", tfrecord_fast.__version__)
    references = [component["bom-ref"] for component in components]
    assert document["dependencies"] == [{"ref": package["bom-ref"], "dependsOn": references}]

    assert sorted(component["name"] for component in components) == sorted(LIBRARIES | {"pybind11"})
    for component in components:
        name, version = component["name"], component["version"]
        assert component["type"] == "library" and component["purl"] == component["bom-ref"]
        assert re.fullmatch(rf"pkg:(github/[\w-]+|pypi)/{name}@v?{re.escape(version)}", component["purl"])
        [licence] = component["licenses"]
        assert re.fullmatch("(BSD-3-Clause|IJG|MIT|libpng-2.0)( AND BSD-3-Clause)?", licence["expression"])
        if name == "pybind11":
            assert _core.compiler.endswith(f", pybind11 {version}")
        else:
            [source] = component["externalReferences"]
            assert [name, version, source["hashes"][0]["content"], source["url"]] in LINES


def test_a_core_without_the_version_of_pybind11_has_no_list(tmp_path):
    core = tmp_path / "core"
    core.write_bytes(b"pybind11")
    done = subprocess.run([sys.executable, ROOT / ".ci/sbom.py", core], capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.startswith(f"{core} lacks the version of pybind11")


BUILD = """
import sys
__file__ = "setup.py"
sys.argv = ["setup.py", "build"]
{}
exec(compile(open("setup.py").read(), "setup.py", "exec"))
"""


def build(code="", **environment):
    pytest.importorskip("pybind11", reason="setup.py needs it")
    command = [sys.executable, "-c", BUILD.format(code)]
    return subprocess.run(command, cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True)


def test_a_build_without_a_compiler_says_so_in_its_only_line():
    done = build(CXX="no-such-compiler")
    assert done.returncode == 1 and done.stdout == ""
    assert re.fullmatch(
        r"tfrecord_fast can't be built here without .*no-such-compiler, .*apt-get install .*g\+\+.*\n", done.stderr
    )


@pytest.fixture
def without_libraries(tmp_path):
    """Make a compiler that finds the C library alone and logs its arguments; return the value for CXX."""
    compiler = tmp_path / "a compiler"
    compiler.write_text(f'#!/bin/sh\necho "$@" >>{tmp_path}/arguments\ncase "$*" in *" -lc "*) ;; *) exit 1 ;; esac\n')
    compiler.chmod(0o755)
    return f"'{compiler}'"


def test_a_build_without_the_libraries_names_them_and_their_packages(without_libraries):
    done = build(CXX=without_libraries)
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert "libisal, libdeflate, libjpeg, libpng, libz, libzstd, libsnappy." in done.stderr
    assert "libisal-dev libdeflate-dev libjpeg-dev libpng-dev zlib1g-dev libzstd-dev libsnappy-dev" in done.stderr


def test_a_build_on_macos_looks_where_homebrew_installs_and_names_its_packages(tmp_path, without_libraries):
    done = build(
        "import pybind11.setup_helpers; sys.platform = 'darwin'", CXX=without_libraries, HOMEBREW_PREFIX="/brew"
    )
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert "macOS: brew install isa-l libdeflate jpeg-turbo libpng zlib zstd snappy" in done.stderr
    assert "-I/brew/include -L/brew/lib" in (tmp_path / "arguments").read_text()


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"CXX": "false"}, "tfrecord_fast can't be built: false "),
        ({"CXXFLAGS": "--no-such-option"}, "fails on an empty program\n.*--no-such-option"),
        ({"TFRECORD_FAST_JOBS": "all"}, "TFRECORD_FAST_JOBS='all' is not a number of compilers"),
        ({"TFRECORD_FAST_CODECS": "/none"}, "TFRECORD_FAST_CODECS=/none has no libraries: bash .ci/codecs /none "),
    ],
    ids=str,
)
def test_a_build_that_is_set_up_wrongly_is_not_blamed_on_libraries(environment, said):
    done = build(**environment)
    assert done.returncode == 1 and "apt-get" not in done.stderr
    assert re.search(said, done.stderr), done.stderr


def of_setup(tmp_path, expression):
    """Return the value of an expression in setup.py; its `extension` is the core's."""
    value = tmp_path / "value"
    code = f"""
import setuptools
def setup(ext_modules, **_):
    extension = ext_modules[0]
    open({str(value)!r}, "w").write(repr({expression}))
setuptools.setup = setup
"""
    assert build(code).returncode == 0
    return ast.literal_eval(value.read_text())


def test_no_flag_of_the_environment_makes_arithmetic_imprecise(tmp_path):
    """A library that is linked with -ffast-math makes the processor take small numbers for 0."""
    compiling, linking = of_setup(tmp_path, "(extension.extra_compile_args, extension.extra_link_args)")
    source, library = tmp_path / "a.cc", tmp_path / "a.so"
    source.write_text('extern "C" __attribute__((visibility("default"))) int differs(double x) { return x != x; }')
    compiler = [os.environ.get("CXX") or "g++", "-ffast-math", "-fPIC"]
    subprocess.run([*compiler, "-c", source, "-o", tmp_path / "a.o", *compiling], check=True)
    subprocess.run([*compiler, "-shared", tmp_path / "a.o", "-o", library, *linking], check=True)
    code = f"import ctypes; f = ctypes.CDLL({str(library)!r}).differs; f.argtypes = [ctypes.c_double]"
    code += "; print(f(float('nan')), 5e-324 * 1.0)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "1 5e-324\n"


@pytest.mark.parametrize("size", [0, 1])
def test_an_object_file_without_a_byte_is_compiled_again(tmp_path, size):
    (tmp_path / "a.o").write_bytes(b"x" * size)
    assert of_setup(tmp_path, f"needs_recompile({str(tmp_path / 'a.o')!r}, 'setup.py')") == (size == 0)


def test_a_build_on_windows_is_refused():
    done = build("import shutil; sys.platform = 'win32'")  # shutil is that of the true system
    assert done.returncode == 1 and done.stderr.startswith("tfrecord_fast does not run on Windows:")


@pytest.fixture
def codecs(tmp_path):
    """Runs .ci/codecs, with isa-l the archive that is given here."""
    if missing := [tool for tool in ("make", "cmake", "gcc", "g++", "curl") if shutil.which(tool) is None]:
        pytest.skip(f"{missing} are not installed")

    def run(sha256, licence):
        for folder in (".ci", "licenses", "isa-l"):
            (tmp_path / folder).mkdir()
        shutil.copy(ROOT / ".ci/codecs", tmp_path / ".ci")
        shutil.copy(ROOT / "licenses/isa-l.txt", tmp_path / "licenses")
        (tmp_path / "isa-l/LICENSE").write_text(licence)
        archive = tmp_path / "isa-l.tar.gz"
        with tarfile.open(archive, "w:gz") as tar:
            tar.add(tmp_path / "isa-l", "isa-l")
        sha256 = sha256 or hashlib.sha256(archive.read_bytes()).hexdigest()
        (tmp_path / ".ci/codecs.tsv").write_text(f"isa-l\t1.0\t{sha256}\tfile://{archive}\n")
        command = ["bash", tmp_path / ".ci/codecs", tmp_path / "made", tmp_path / "archives"]
        environment = {**os.environ, "CC": "gcc", "CXX": "g++", "MACHINE": "aarch64"}
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        assert done.returncode == 1
        return done.stderr

    return run


def test_an_archive_that_is_not_the_pinned_one_is_refused(codecs):
    said = codecs("0" * 64, "any")
    assert "has the SHA-256" in said and "not " + "0" * 64 in said


def test_a_release_with_another_licence_is_refused(codecs):
    assert "licenses/isa-l.txt is not the licence of this release." in codecs(None, "All rights reserved.\n")
