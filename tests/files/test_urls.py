"""URLs: what is written appears whole or not at all; every function asks the same question whether a name is one."""

import gc
import os
import pickle
import subprocess
import sys
import zipfile
from typing import ClassVar

import pytest

import tfrecord_fast as tf
from tests.support.paths import ROOT
from tfrecord_fast.files.system.url_writer import UrlWriter

fsspec = pytest.importorskip("fsspec")
from fsspec.spec import AbstractBufferedFile, AbstractFileSystem  # noqa: E402

KINDS = ["", "GZIP", "ZLIB", "ZSTD", "SNAPPY"]


@pytest.fixture
def memory():
    """An empty file system at memory://; it has what an object store has not: what is written there shows at once."""
    system = fsspec.filesystem("memory")
    empty(system)
    yield system
    empty(system)


def empty(system):
    system.store.clear()
    system.pseudo_dirs[:] = [""]


class Bucket(AbstractFileSystem):
    """An object store: an object appears when its upload is completed."""

    protocol = "bucket"
    objects: ClassVar = {}
    aborted: ClassVar = []

    def _open(self, path, mode="rb", **kwargs):
        return Upload(self, path, mode, **kwargs)

    def info(self, path, **kwargs):
        if path not in self.objects:
            raise FileNotFoundError(path)
        return {"name": path, "size": len(self.objects[path]), "type": "file"}

    def ls(self, path, detail=False, **kwargs):
        return [self.info(name) if detail else name for name in self.objects]


class Upload(AbstractBufferedFile):
    """Uploads in parts; `close` completes it, even when it is dropped."""

    parts = b""

    def _upload_chunk(self, final=False):
        self.parts += self.buffer.getvalue()
        if final:
            self.fs.objects[self.path] = self.parts
        return True

    def _fetch_range(self, start, end):
        return self.fs.objects[self.path][start:end]

    def discard(self):
        self.fs.aborted.append(self.path)


fsspec.register_implementation("bucket", Bucket, clobber=True)


@pytest.fixture
def bucket():
    Bucket.objects.clear()
    Bucket.aborted.clear()
    return Bucket.objects


@pytest.fixture(params=["memory", "bucket"])
def folder(request):
    """A URL under which nothing is yet."""
    request.getfixturevalue(request.param)
    return f"{request.param}://urls"


def contents(url):
    """The names below a URL, hidden ones included."""
    system, path = fsspec.core.url_to_fs(url)
    return sorted(name.rpartition("/")[2] for name in system.find(path))


class MineError(Exception):
    """Of the user's code."""


def write_and_fail(writer):
    with pytest.raises(MineError), writer as open_writer:
        open_writer.write(b"x" * 100_000 if "b" in getattr(writer, "mode", "b") else "x" * 100_000)
        raise MineError


WRITERS = [
    *(lambda url, kind=kind: tf.io.TFRecordWriter(url, kind) for kind in KINDS),
    lambda url: tf.io.gfile.GFile(url, "wb"),
    lambda url: tf.io.gfile.GFile(url, "w"),
]


@pytest.mark.parametrize("open_writer", WRITERS)
def test_an_exception_discards_what_was_written(folder, open_writer):
    write_and_fail(open_writer(f"{folder}/x"))
    assert contents(folder) == []


@pytest.mark.parametrize("open_writer", WRITERS)
def test_an_exception_leaves_what_was_there(folder, open_writer):
    tf.io.write_file(f"{folder}/x", b"before")
    write_and_fail(open_writer(f"{folder}/x"))
    assert tf.io.read_file(f"{folder}/x") == b"before" and contents(folder) == ["x"]


@pytest.mark.parametrize("open_writer", WRITERS)
def test_a_writer_that_is_dropped_writes_nothing_and_says_so(folder, open_writer):
    writer = open_writer(f"{folder}/x")
    writer.write("x" * 100_000 if getattr(writer, "mode", "") == "w" else b"x" * 100_000)
    with pytest.warns(RuntimeWarning, match="urls/x: not closed"):
        del writer
        gc.collect()
    assert contents(folder) == []


@pytest.mark.filterwarnings("ignore:.*not closed:RuntimeWarning")
def test_a_writer_that_is_part_of_a_circle_writes_nothing(folder):
    writer = tf.io.gfile.GFile(f"{folder}/x", "w")
    writer.write("x")
    writer.myself = writer
    del writer
    gc.collect()
    assert contents(folder) == []


def test_until_it_is_closed_nothing_shows_to_readers(folder):
    with tf.io.TFRecordWriter(f"{folder}/x") as writer:
        writer.write(b"x" * 1_000_000)
        writer.flush()
        assert tf.io.gfile.glob(f"{folder}/*") == []
    assert contents(folder) == ["x"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_writer_that_is_closed_replaces_what_was_there(folder, kind):
    tf.io.write_file(f"{folder}/x", b"before")
    with tf.io.TFRecordWriter(f"{folder}/x", kind) as writer:
        writer.write_batch([b"a", b"b"])
    assert list(tf.data.TFRecordDataset(f"{folder}/x")) == [b"a", b"b"] and contents(folder) == ["x"]


def test_an_upload_is_aborted_once(bucket):
    write_and_fail(tf.io.TFRecordWriter("bucket://urls/x"))
    gc.collect()
    assert Bucket.aborted == ["urls/x"]


def test_text_is_written_to_a_url_as_utf8(folder):
    with tf.io.gfile.GFile(f"{folder}/x", "w") as file:
        file.write("zwölf\n")
    assert tf.io.read_file(f"{folder}/x") == "zwölf\n".encode()
    assert tf.io.gfile.GFile(f"{folder}/x").read() == "zwölf\n"


def test_options_that_are_none_leave_no_url(folder):
    with pytest.raises(ValueError):
        tf.io.TFRecordWriter(f"{folder}/x", "lzma")
    assert contents(folder) == []


def test_a_failed_close_leaves_nothing(memory, monkeypatch):
    monkeypatch.setattr(memory, "mv", lambda *names: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    writer = tf.io.TFRecordWriter("memory://urls/x")
    writer.write(b"x")
    with pytest.raises(OSError, match="No space"):
        writer.close()
    assert contents("memory://urls") == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_close_that_is_interrupted_writes_nothing(folder, monkeypatch, kind):
    def interrupt(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(UrlWriter, "flush", interrupt)
    writer = tf.io.TFRecordWriter(f"{folder}/x", kind)
    writer.write(b"x")
    with pytest.raises(KeyboardInterrupt):
        writer.close()
    assert contents(folder) == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_part_that_can_not_be_written_discards_the_rest(bucket, monkeypatch, kind):
    tried = []

    def refuse_once(self, data):
        tried.append(data)
        if len(tried) == 1:
            raise OSError(28, "No space left on device")
        return len(data)

    writer = tf.io.TFRecordWriter("bucket://urls/x", kind)
    monkeypatch.setattr(Upload, "write", refuse_once)
    with pytest.raises(OSError, match="No space"):
        for _ in range(20):
            writer.write(os.urandom(1 << 20))
        writer.close()
    with pytest.raises((OSError, ValueError)):
        writer.close()
        writer.write(b"more")
    del writer
    gc.collect()
    assert not bucket and Bucket.aborted == ["urls/x"]


def test_a_forked_process_that_drops_the_writer_leaves_it_alone(bucket):
    writer = tf.io.TFRecordWriter("bucket://urls/x")
    writer.write(b"x")
    child = os.fork()
    if child == 0:
        del writer
        gc.collect()
        os._exit(bool(Bucket.aborted) or bool(Bucket.objects))
    assert os.waitpid(child, 0)[1] == 0
    writer.close()
    assert list(bucket) == ["urls/x"]


AT_EXIT = """
import atexit, sys
import tfrecord_fast as tf
from tests.files.test_urls import Bucket, contents

@atexit.register  # runs after what was registered later
def look():
    print(sorted(Bucket.objects), contents("memory://urls"))
writers = [tf.io.TFRecordWriter(f"{s}://urls/x{kind}", kind) for s in ("bucket", "memory") for kind in ("", "GZIP")]
writers += [tf.io.gfile.GFile("bucket://urls/y", "w"), tf.io.gfile.GFile("memory://urls/y", "w")]
for writer in writers:
    writer.write("x" * 100)
"""


def test_a_writer_that_is_open_at_exit_writes_nothing():
    done = subprocess.run([sys.executable, "-c", AT_EXIT], capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert done.stdout == "[] []\n", done.stderr
    assert done.stderr.count("not closed, so nothing was written") == 6
    assert "Error" not in done.stderr


def test_a_local_file_keeps_what_was_written_before_an_exception(tmp_path):
    with pytest.raises(MineError), tf.io.TFRecordWriter(tmp_path / "x") as writer:
        writer.write(b"a")
        raise MineError
    assert list(tf.data.TFRecordDataset(tmp_path / "x")) == [b"a"]


# ---- Is it a URL? ----

GFILE = tf.io.gfile
USES = {
    "GFile": lambda url: GFILE.GFile(url).read(),
    "GFile w": lambda url: GFILE.GFile(url, "w").write("x"),
    "copy from": lambda url: GFILE.copy(url, "local"),
    "copy to": lambda url: GFILE.copy(__file__, url),
    "exists": GFILE.exists,
    "glob": GFILE.glob,
    "isdir": GFILE.isdir,
    "listdir": GFILE.listdir,
    "makedirs": GFILE.makedirs,
    "mkdir": GFILE.mkdir,
    "remove": GFILE.remove,
    "rename from": lambda url: GFILE.rename(url, "local"),
    "rename to": lambda url: GFILE.rename(__file__, url),
    "rmtree": GFILE.rmtree,
    "stat": GFILE.stat,
    "walk": lambda url: list(GFILE.walk(url)),
    "read_file": tf.io.read_file,
    "write_file": lambda url: tf.io.write_file(url, b"a"),
    "matching_files": tf.io.matching_files,
    "TFRecordWriter": tf.io.TFRecordWriter,
    "TFRecordDataset": lambda url: list(tf.data.TFRecordDataset(url)),
    "ShardReader": lambda url: list(tf.ShardReader(url)),
    "IndexedReader": lambda url: len(tf.IndexedReader(url)),
    "ExampleWriter": tf.ExampleWriter,
    "RecordIndex.build": tf.RecordIndex.build,
    "RecordIndex.save": lambda url: tf.RecordIndex([], []).save(url),
    "infer_features": tf.infer_features,
}


def test_an_unknown_scheme_is_refused_and_leaves_nothing(tmp_path, monkeypatch):
    for scheme in ["nope", "no-pe", "no.pe", "no_pe"]:
        for use in USES:
            monkeypatch.chdir(tmp_path)
            with pytest.raises(tf.errors.InvalidArgumentError if "Index" not in use else ValueError, match=scheme):
                USES[use](f"{scheme}://x/y")
            assert os.listdir() == []


def test_mkdir_makes_a_folder_of_a_url(memory, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        GFILE.mkdir("memory://d")
    assert GFILE.isdir("memory://d") and os.listdir() == []


def test_mkdir_where_a_url_is_a_file_is_refused(memory):
    tf.io.write_file("memory://urls/x", b"")
    with pytest.raises(FileExistsError):
        GFILE.mkdir("memory://urls/x")


def test_a_url_is_renamed(memory):
    tf.io.write_file("memory://urls/x", b"1")
    GFILE.rename("memory://urls/x", "memory://urls/y")
    assert contents("memory://urls") == ["y"] and tf.io.read_file("memory://urls/y") == b"1"


@pytest.mark.usefixtures("memory")
def test_a_file_is_not_renamed_into_another_file_system(tmp_path):
    tf.io.write_file(tmp_path / "x", b"1")
    with pytest.raises(tf.errors.InvalidArgumentError, match="copy it"):
        GFILE.rename(tmp_path / "x", "memory://urls/x")
    assert tf.io.read_file(tmp_path / "x") == b"1"


@pytest.mark.usefixtures("memory")
def test_files_are_copied_to_urls_and_back(tmp_path):
    tf.io.write_file(tmp_path / "x", b"1")
    GFILE.copy(tmp_path / "x", "memory://urls/x")
    GFILE.copy("memory://urls/x", tmp_path / "y")
    assert tf.io.read_file(tmp_path / "y") == b"1"


@pytest.mark.parametrize("mode", ["r", "rb"])
def test_a_store_that_gives_less_than_was_asked_for_is_asked_again(bucket, monkeypatch, tmp_path, mode):
    bucket["x"] = b"one\ntwo and three\n"
    monkeypatch.setattr(Upload, "_fetch_range", lambda self, start, end: bucket["x"][start : min(end, start + 3)])
    text = bucket["x"] if mode == "rb" else bucket["x"].decode()
    assert GFILE.GFile("bucket://x", mode).read() == text
    assert GFILE.GFile("bucket://x", mode).readlines() == text.splitlines(keepends=True)
    GFILE.copy("bucket://x", tmp_path / "x")
    assert (tmp_path / "x").read_bytes() == bucket["x"]


@pytest.mark.usefixtures("memory")
def test_a_tree_of_urls_is_walked():
    tf.io.write_file("memory://urls/sub/x", b"")
    tf.io.write_file("memory://urls/y", b"")
    assert list(GFILE.walk("memory://urls")) == [
        ("memory:///urls", ["sub"], ["y"]),
        ("memory:///urls/sub", [], ["x"]),
    ]


def test_a_pattern_matches_no_hidden_url(memory):
    memory.pipe({"/urls/.x.0.tmp": b"", "/urls/x": b""})
    assert GFILE.glob("memory://urls/*") == ["memory:///urls/x"]
    assert GFILE.glob("memory://urls/.*") == ["memory:///urls/.x.0.tmp"]
    assert tf.TFRecordDataset("memory://urls/*") is not None
    assert list(tf.data.TFRecordDataset("memory://urls/*")) == []


@pytest.mark.parametrize("use", ["exists", "isdir", "stat", "read_file", "listdir", "walk"])
def test_a_file_url_is_a_local_path(tmp_path, use):
    (tmp_path / "sub").mkdir()
    (tmp_path / "x").write_bytes(b"1")
    path = tmp_path / ("sub" if use in ("isdir", "listdir", "walk") else "x")
    ours, theirs = (USES[use](name) for name in (f"file://{path}", str(path)))
    assert getattr(ours, "length", ours) == getattr(theirs, "length", theirs)


def test_a_name_with_a_colon_is_a_local_path(tmp_path):
    tf.io.write_file(tmp_path / "a:b", b"1")
    tf.io.write_file(tmp_path / "c:" / "d", b"2")
    assert tf.io.read_file(tmp_path / "a:b") == b"1" and tf.io.read_file(tmp_path / "c:" / "d") == b"2"


def test_datasets_of_urls_pickle(folder):
    with tf.io.TFRecordWriter(f"{folder}/x") as writer:
        writer.write(b"a")
    reader = pickle.loads(pickle.dumps(tf.ShardReader(f"{folder}/x")))
    assert [record for batch in reader for record in batch.tolist()] == [b"a"]


@pytest.mark.parametrize("packed", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_file_in_an_archive_can_be_read(tmp_path, packed):
    records = [b"%d" % i for i in range(100_000)]
    with tf.io.TFRecordWriter(tmp_path / "a.tfrecord") as writer:
        writer.write_batch(records)
    with zipfile.ZipFile(tmp_path / "a.zip", "w", packed) as archive:
        archive.write(tmp_path / "a.tfrecord", "a.tfrecord")
    url = f"zip://a.tfrecord::file://{tmp_path}/a.zip"
    assert list(tf.data.TFRecordDataset(url)) == records
    assert tf.io.read_file(url) == (tmp_path / "a.tfrecord").read_bytes()
