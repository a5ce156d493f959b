"""tf.io.gfile over stores of objects; options come from the environment, or as `storage_options`."""

import os

import pytest

import tfrecord_fast as tf

GFILE = tf.io.gfile
KEYS = ["a/one.txt", "a/two.txt", "a/deep/er/three.txt", "a.b", "ab/x", "top"]


@pytest.fixture(params=["s3", "azure"])
def tree(request, monkeypatch):
    """A bucket with some objects, which the environment tells how to reach."""
    bucket = request.getfixturevalue(request.param)
    names = {
        "aws_access_key_id": "AWS_ACCESS_KEY_ID",
        "aws_secret_access_key": "AWS_SECRET_ACCESS_KEY",
        "aws_region": "AWS_REGION",
        "account_name": "AZURE_STORAGE_ACCOUNT_NAME",
        "account_key": "AZURE_STORAGE_ACCOUNT_KEY",
        "allow_http": "AWS_ALLOW_HTTP",
    }
    for name, value in bucket.options.items():
        variable = "AWS_ENDPOINT_URL" if request.param == "s3" else "AZURE_STORAGE_ENDPOINT"
        monkeypatch.setenv(variable if name == "endpoint" else names[name], value)
    for key in KEYS:
        bucket.put(key, key.encode())
    return bucket


def test_files_and_folders_are_told_apart(tree):
    assert [GFILE.exists(tree.url(name)) for name in ("top", "a", "a/deep", "a/deep/", "b", "a/on")] == [
        True,
        True,
        True,
        True,
        False,
        False,
    ]
    assert [GFILE.isdir(tree.url(name)) for name in ("top", "a", "a/", "", "b")] == [False, True, True, True, False]
    assert GFILE.stat(tree.url("top")).length == 3 and GFILE.stat(tree.url("a")).is_directory
    with pytest.raises(FileNotFoundError, match="nothing"):
        GFILE.stat(tree.url("nothing"))


def test_folders_are_listed_and_walked(tree):
    assert GFILE.listdir(tree.url("a")) == ["deep", "one.txt", "two.txt"]
    assert GFILE.listdir(tree.url()) == ["a", "a.b", "ab", "top"]
    with pytest.raises(FileNotFoundError):
        GFILE.listdir(tree.url("nothing"))
    assert [(top[len(tree.url()) :], folders, files) for top, folders, files in GFILE.walk(tree.url("a"))] == [
        ("a", ["deep"], ["one.txt", "two.txt"]),
        ("a/deep", ["er"], []),
        ("a/deep/er", [], ["three.txt"]),
    ]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("a/*", ["a/deep", "a/one.txt", "a/two.txt"]),
        ("a/[!o]*.txt", ["a/two.txt"]),
        ("a*", ["a", "a.b", "ab"]),
        ("*/*.txt", ["a/one.txt", "a/two.txt"]),
        ("a/**/*.txt", ["a/deep/er/three.txt", "a/one.txt", "a/two.txt"]),
        ("a/???.txt", ["a/one.txt", "a/two.txt"]),
        ("top", ["top"]),
        ("nothing*", []),
    ],
)
def test_patterns(tree, pattern, found):
    assert GFILE.glob(tree.url(pattern)) == [tree.url(key) for key in found]


def test_files_are_copied_renamed_and_removed(tree, tmp_path):
    GFILE.copy(tree.url("top"), tree.url("copy"))
    with pytest.raises(FileExistsError):
        GFILE.copy(tree.url("top"), tree.url("copy"))
    GFILE.rename(tree.url("copy"), tree.url("moved"))
    assert tree.get("moved") == b"top" and "copy" not in tree.keys()
    GFILE.copy(tree.url("moved"), tmp_path / "local")
    GFILE.copy(tmp_path / "local", tree.url("up"))
    assert tree.get("up") == b"top"
    GFILE.remove(tree.url("up"))
    with pytest.raises(FileNotFoundError):
        GFILE.remove(tree.url("up"))
    assert "up" not in tree.keys()


def test_a_folder_is_removed_with_all_below_it(tree):
    GFILE.rmtree(tree.url("a"))
    assert tree.keys() == ["a.b", "ab/x", "top"]
    with pytest.raises(FileNotFoundError):
        GFILE.rmtree(tree.url("a"))


def test_files_are_written_and_read(tree):
    data = os.urandom(9 << 20)
    GFILE.makedirs(tree.url("new/er"))
    with GFILE.GFile(tree.url("new/er/x"), "wb") as file:
        file.write(data)
    with GFILE.GFile(tree.url("new/er/x"), "rb") as file:
        assert file.read(10) == data[:10]
        file.seek(5 << 20)
        assert file.read() == data[5 << 20 :]
    assert tf.io.read_file(tree.url("new/er/x")) == data
    with pytest.raises(FileExistsError), GFILE.GFile(tree.url("new/er/x"), "x") as file:
        file.write("x")
    assert tree.get("new/er/x") == data


def test_every_function_takes_options(s3, tmp_path):
    options = {"storage_options": s3.options}
    local = str(tmp_path / "local")
    one, two = s3.url("deep/one"), s3.url("deep/two")
    tf.io.write_file(one, "1", **options)
    assert tf.io.read_file(one, **options) == b"1"
    assert GFILE.exists(one, **options) and GFILE.isdir(s3.url("deep"), **options)
    assert GFILE.stat(one, **options).length == 1
    GFILE.copy(one, two, **options)
    GFILE.copy(two, local, **options)
    GFILE.copy(local, two, overwrite=True, **options)
    GFILE.rename(two, s3.url("deep/three"), **options)
    assert GFILE.glob(s3.url("deep/*"), **options) == [one, s3.url("deep/three")]
    assert tf.io.matching_files(s3.url("deep/o*"), **options).tolist() == [one.encode()]
    GFILE.makedirs(s3.url("new/er"), **options)
    GFILE.mkdir(s3.url("new"), **options)
    assert GFILE.listdir(s3.url("deep"), **options) == ["one", "three"]
    assert [files for _, _, files in GFILE.walk(s3.url(), **options)] == [[], ["one", "three"]]
    GFILE.remove(one, **options)
    assert s3.keys() == ["deep/three"]
    GFILE.rmtree(s3.url("deep"), **options)
    assert s3.keys() == []


def test_a_file_that_is_copied_or_renamed_onto_itself_stays(bucket):
    name, options = bucket.url("x"), {"storage_options": bucket.options}
    bucket.put("x", b"content")
    for function in (GFILE.rename, GFILE.copy):
        function(name, name, overwrite=True, **options)
        assert bucket.get("x") == b"content"
        with pytest.raises(FileExistsError):
            function(name, name, **options)
        with pytest.raises(FileNotFoundError):
            function(bucket.url("none"), bucket.url("none"), overwrite=True, **options)
    assert bucket.keys() == ["x"]


def test_a_local_file_that_is_copied_or_renamed_onto_itself_stays(tmp_path):
    (tmp_path / "x").write_bytes(b"content")
    os.symlink(tmp_path / "x", tmp_path / "link")
    for function in (GFILE.rename, GFILE.copy):
        function(tmp_path / "x", tmp_path / "x", overwrite=True)
        assert (tmp_path / "x").read_bytes() == b"content"
    GFILE.copy(tmp_path / "x", tmp_path / "link", overwrite=True)
    GFILE.copy(tmp_path / "link", tmp_path / "x", overwrite=True)
    assert (tmp_path / "x").read_bytes() == b"content"


def test_an_object_with_the_name_of_a_folder_is_found_once(s3):
    s3.put("d/a", b"1")
    s3.put("d/a/b", b"2")
    assert GFILE.glob(s3.url("d/*"), storage_options=s3.options) == [s3.url("d/a")]


def test_size_uses_the_options_of_the_file(s3):
    s3.put("x", b"12345")
    with GFILE.GFile(s3.url("x"), "rb", storage_options=s3.options) as file:
        assert file.size() == 5


@pytest.mark.parametrize("chain", ["blockcache", "simplecache", "filecache"])
def test_an_exception_leaves_what_was_there_behind_a_cache(tmp_path, chain):
    name = f"/{tmp_path.name}-{chain}"
    inner, outer = f"memory:/{name}", f"{chain}::memory:/{name}"
    with GFILE.GFile(inner, "wb") as file:
        file.write(b"before")
    with pytest.raises(ZeroDivisionError), GFILE.GFile(outer, "wb") as file:
        file.write(b"after")
        raise ZeroDivisionError
    with GFILE.GFile(inner, "rb") as file:
        assert file.read() == b"before"
    with GFILE.GFile(outer, "wb") as file:
        file.write(b"after")
    with GFILE.GFile(inner, "rb") as file:
        assert file.read() == b"after"
