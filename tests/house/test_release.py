"""What a release needs: one version, metadata that an index takes, workflows that are well formed, drawn diagrams."""

import re
import shutil
import subprocess
import sys

import pytest
import trove_classifiers

import tfrecord_fast
from tests.support.paths import ROOT

try:
    import tomllib
except ImportError:  # Python 3.10
    import pip._vendor.tomli as tomllib

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def test_the_version_is_written_down_in_one_place():
    package = ROOT / "tfrecord_fast"
    written = {path for path in package.rglob("*.py") if re.search(r"(?m)^__version__ = ", path.read_text())}
    of_tensorflow = package / "tensorflow" / "__init__.py"  # the face says which TensorFlow it is like
    assert written - {of_tensorflow} == {package / "base" / "version.py"}
    assert PROJECT["dynamic"] == ["version"] and "version" not in PROJECT


def test_the_citation_is_of_this_version():
    text = (ROOT / "CITATION.cff").read_text()
    assert re.search(r"(?m)^version: (.*)$", text)[1] == tfrecord_fast.__version__
    assert {"cff-version", "message", "title", "authors"} <= set(re.findall(r"(?m)^([\w-]+):", text))


VERSIONS = {
    "tfrecord_fast/base/version.py": '__version__ = "1.2.3"\n',
    "CITATION.cff": "cff-version: 1.2.0\nversion: 1.2.3\n",
    "CHANGELOG.md": "# Changelog\n\n## 1.2.3 (2026-01-31)\n\n### Reading\n\n## 1.2.2 (2026-01-30)\n",
}


def check_release(folder, files, tag="v1.2.3", more=()):
    """Run `.ci/release -c` in a repository that has these files, tagged v1.2.3. `more` are further commands of git."""
    for name in (".ci/release", ".ci/kit"):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "A release"], ["tag", "v1.2.3"], *more):
        names = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
        subprocess.run(["git", "-C", folder, *names, *command], check=True)
    return subprocess.run(["bash", folder / ".ci/release", "-c", tag], capture_output=True, text=True)


def test_a_release_has_the_version_of_its_tag(tmp_path):
    done = check_release(tmp_path, VERSIONS)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("file", VERSIONS)
def test_a_release_with_another_version_in_a_file_is_refused(file, tmp_path):
    done = check_release(tmp_path, {**VERSIONS, file: VERSIONS[file].replace("1.2.3", "1.2.4")})
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert done.stderr.startswith(f"The tag v1.2.3 has '1.2.4' in {file}: write 1.2.3")


@pytest.mark.parametrize("date", [" (unreleased)", "", " (2026-31-01)", " (soon)"])
def test_a_release_whose_changelog_has_no_date_is_refused(tmp_path, date):
    changelog = VERSIONS["CHANGELOG.md"].replace(" (2026-01-31)", date)
    done = check_release(tmp_path, {**VERSIONS, "CHANGELOG.md": changelog})
    assert done.returncode == 1 and "write 1.2.3 (YYYY-MM-DD) there" in done.stderr


def test_a_release_is_of_the_tag_and_not_of_a_branch_of_that_name(tmp_path):
    more = (["checkout", "-q", "-b", "v1.2.3"], ["rm", "-q", "CHANGELOG.md"], ["commit", "-q", "-m", "Another"])
    assert check_release(tmp_path, VERSIONS, more=more).returncode == 0


def test_a_tag_begins_with_a_letter(tmp_path):
    done = check_release(tmp_path, VERSIONS, tag="1.2.3")
    assert done.returncode == 1 and done.stderr == "A release's tag is v and a version, not 1.2.3.\n"


def test_a_release_without_a_tag_is_refused(tmp_path):
    done = check_release(tmp_path, VERSIONS, tag="v1.2.4")
    assert done.returncode == 1 and done.stderr == (
        "The tag v1.2.4 does not exist: create it with git tag v1.2.4 COMMIT\n"
    )


def test_the_classifiers_are_known_to_the_index():
    assert set(PROJECT["classifiers"]) <= trove_classifiers.classifiers


def test_the_extras_of_the_documents_are_those_of_the_project():
    table = (ROOT / "docs" / "install.md").read_text().partition("| extra | for |")[2].partition("\n\n")[0]
    listed = {name for line in table.splitlines()[2:] for name in re.findall(r"`(\w+)`", line.split("|")[1])}
    for_developers = {"test", "oracle", "stores", "dev", "wheel", "docs", "trainers", "engines", "pipelines"}
    assert listed == set(PROJECT["optional-dependencies"]) - for_developers


def test_workflows_are_well_formed():
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows"]
    done = subprocess.run([*command, *map(str, WORKFLOWS)], capture_output=True, text=True)
    assert done.returncode == 0 and WORKFLOWS, done.stdout + done.stderr


def test_workflows_use_fixed_commits():
    actions = [action for path in WORKFLOWS for action in re.findall(r"uses: (\S+)", path.read_text())]
    assert not [action for action in actions if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", action)]


def test_workflows_run_scripts_that_exist():
    scripts = [script for path in WORKFLOWS for script in re.findall(r"bash (\.ci/\w+)", path.read_text())]
    assert not [script for script in scripts if not (ROOT / script).exists()]


def test_the_diagrams_are_those_that_the_script_draws():
    sys.path.insert(0, str(ROOT / "docs" / "making"))
    try:
        import diagrams
    finally:
        sys.path.pop(0)
    for name, text in diagrams.drawn().items():
        assert (ROOT / "docs" / "diagrams" / f"{name}.svg").read_text() == text
