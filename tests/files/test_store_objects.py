"""Objects behind obstore, with a library that does what a test says: ranges, cut answers, listings, uploads."""

import datetime
import errno
import pickle
import threading
from types import SimpleNamespace

import pytest

from tfrecord_fast.errors import InvalidArgumentError
from tfrecord_fast.files.naming.addresses import address_of
from tfrecord_fast.files.stores import obstore_upload as object_upload
from tfrecord_fast.files.stores.obstore_options import cloud_options
from tfrecord_fast.files.stores.obstore_store import ObjectStore, _just_before
from tfrecord_fast.files.stores.obstore_upload import ObjectUpload, PartSizes, part_sizes
from tfrecord_fast.files.stores.store import Version

TIME = datetime.datetime(2024, 1, 2, tzinfo=datetime.timezone.utc)
BEGINNING = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


class Answer:
    def __init__(self, meta, data, place, cut):
        self.meta, self.range = meta, place
        self._data = data[: len(data) - cut]

    def bytes(self):
        return self._data

    def stream(self, min_chunk_size):
        assert min_chunk_size == 1 << 20
        return (self._data[i : i + 3] for i in range(0, len(self._data), 3))


class AlreadyExistsError(Exception):
    """As obstore's."""


class NotSupportedError(Exception):
    """As obstore's."""


class Library:
    """As obstore is: objects by key, with a tag that changes with each writing."""

    def __init__(self):
        self.objects, self.tags, self.made, self.log = {}, 0, [], []
        self.ranges, self.cut, self.error = True, 0, None
        kinds = ("S3Store", "GCSStore", "AzureStore", "HTTPStore")
        self.store = SimpleNamespace(**{kind: self._maker(kind) for kind in kinds})
        self.put_parts = None

    def _maker(self, kind):
        def make(place, **given):
            self.made.append((kind, place, given))
            return (kind, given["retry_config"].get("max_retries"))

        return make

    def set(self, key, data, tag=None, time=TIME):
        self.tags += 1
        self.objects[key] = (data, f'"{self.tags}"' if tag is None else tag, time)

    def _meta(self, key):
        if self.error is not None:
            raise self.error
        if key not in self.objects:
            raise FileNotFoundError(key)
        data, tag, time = self.objects[key]
        return {"path": key, "size": len(data), "e_tag": tag, "last_modified": time}

    def head(self, store, key):
        self.log.append(("head", store, key))
        return self._meta(key)

    def get(self, store, key, options=None):
        self.log.append(("get", store, key, options))
        meta, data = self._meta(key), self.objects.get(key, (b"",))[0]
        if options is None:
            return Answer(meta, data, (0, len(data)), self.cut)
        if not self.ranges:
            raise NotSupportedError
        start, end = options["range"]
        end = min(end, len(data))
        return Answer(meta, data[start:end], (start, end), self.cut)

    def list(self, store, prefix, offset, chunk_size):
        self.log.append(("list", store, prefix, offset, chunk_size))
        found = [self._meta(key) for key in sorted(self.objects) if offset is None or key > offset]
        return iter([found[i : i + 2] for i in range(0, len(found), 2)])

    def list_with_delimiter(self, store, prefix):
        start = f"{prefix}/" if prefix else ""
        below = [key for key in self.objects if key.startswith(start)]
        folders = {start + key[len(start) :].partition("/")[0] for key in below if "/" in key[len(start) :]}
        return {
            "common_prefixes": list(folders),
            "objects": [self._meta(k) for k in below if "/" not in k[len(start) :]],
        }

    def delete(self, store, keys):
        for key in [keys] if isinstance(keys, str) else keys:
            del self.objects[key]

    def copy(self, store, source, target):
        self.set(target, self.objects[source][0])

    def put(self, store, key, data, mode="overwrite", use_multipart=False, **how):
        self.log.append(("put", store, key, mode, use_multipart, how))
        if mode == "create" and key in self.objects:
            raise AlreadyExistsError(key)
        parts = [data] if isinstance(data, bytes) else [bytes(one) for one in (self.put_parts or list)(data)]
        self.set(key, b"".join(parts))


@pytest.fixture
def library():
    return Library()


def store_of(library, url="s3://b/x", **given):
    address = address_of(url)
    return ObjectStore(
        library, address, cloud_options(address, {"anon": True, **given} if "http" not in url else given)
    )


@pytest.fixture
def store(library):
    return store_of(library)


# ---- Making ----


def test_readers_try_again_by_themselves_and_others_by_the_library(library):
    store = store_of(library, retry_config={"max_retries": 9})
    assert [(kind, place, given["retry_config"]) for kind, place, given in library.made] == [
        ("S3Store", "b", {"max_retries": 0}), ("S3Store", "b", {"max_retries": 9}),
    ]  # fmt: skip
    assert library.made[0][2]["config"] == {"skip_signature": True} and repr(store) == "ObjectStore('s3://b')"
    with pytest.raises(TypeError, match="a store cannot be pickled; pickle its URL and its options"):
        pickle.dumps(store)
    store_of(library)
    assert library.made[-1][2]["retry_config"] == {"max_retries": 5, "retry_timeout": datetime.timedelta(seconds=60)}


def test_each_kind_has_its_store(library):
    store_of(library, "gs://b/x", credential_provider=dict)
    assert library.made[-1][:2] == ("GCSStore", "b") and library.made[-1][2]["credential_provider"] is dict
    store_of(library, "az://c/x", account_name="a")
    assert library.made[-1][:2] == ("AzureStore", "c") and "credential_provider" not in library.made[-1][2]
    web = store_of(library, "https://h/x")
    assert library.made[-1][:2] == ("HTTPStore", "https://h/") and "config" not in library.made[-1][2]
    assert web.url("a b/ä?") == "https://h/a%20b/%C3%A4%3F" and store_of(library).url("a b") == "s3://b/a b"


# ---- Reading ----


@pytest.mark.parametrize("ranges", [True, False])
@pytest.mark.parametrize(("start", "end"), [(0, 10), (2, 5), (3, 6), (0, 1), (9, 10), (4, 10)])
def test_a_range_is_what_it_says(library, store, ranges, start, end):
    library.set("k", b"0123456789")
    library.ranges = ranges
    version = store.info("k").version
    assert bytes(store.read("k", start, end, version=version)) == b"0123456789"[start:end]
    assert b"".join(store.pieces("k", start, end, version=version)) == b"0123456789"[start:end]
    assert store.read("k", end, end) == b"" and store.read("k", end, start) == b""
    assert {entry[1] for entry in library.log} == {("S3Store", 0)}


@pytest.mark.parametrize("ranges", [True, False])
@pytest.mark.parametrize("read", [lambda *args, **given: ObjectStore.read(*args, **given),
                                  lambda *args, **given: list(ObjectStore.pieces(*args, **given))])  # fmt: skip
def test_another_version_is_an_error(library, store, ranges, read):
    library.set("k", b"0123456789")
    version = store.info("k").version
    library.ranges = ranges
    library.set("k", b"0123456789")
    for given in (version, str(version)):
        with pytest.raises(OSError, match="changed while it was read") as caught:
            read(store, "k", 2, 5, version=given)
        assert (caught.value.errno, caught.value.filename) == (errno.ESTALE, "s3://b/k")
    assert read(store, "k", 2, 5, version=None) in (b"234", [b"234"], [b"2", b"34"])
    with pytest.raises(OSError, match="changed while it was read"):
        read(store, "k", 2, 11)  # it is shorter


def test_an_answer_that_was_cut_is_worth_another_try(library, store):
    library.set("k", b"0123456789")
    library.cut = 1
    for read in (lambda: store.read("k", 2, 8), lambda: list(store.pieces("k", 2, 8)), lambda: store.read_head("k", 4)):
        with pytest.raises(ConnectionError, match=r"the answer was cut off|the connection broke") as caught:
            read()
        assert (caught.value.errno, caught.value.filename) == (errno.ECONNRESET, "s3://b/k")


def test_versions_that_say_less_are_compared_by_what_they_say(library, store):
    library.set("k", b"0123", tag="", time=TIME)
    info = store.info("k")
    assert isinstance(info.version, Version) and info.size == 4 and info.version.time == TIME.timestamp()
    assert bytes(store.read("k", 0, 4, version=info.version)) == b"0123"
    library.set("k", b"0123", tag='"x"', time=TIME)
    assert bytes(store.read("k", 0, 4, version=info.version)) == b"0123" and store.info("k").version == "x"
    library.set("k", b"0123", tag="", time=BEGINNING)
    assert store.info("k").version is None


def test_the_first_bytes_come_with_what_is_known(library, store):
    library.set("k", b"0123456789")
    for most, data in ((4, b"0123"), (10, b"0123456789"), (99, b"0123456789")):
        found, info = store.read_head("k", most)
        assert bytes(found) == data and info == store.info("k")
    library.ranges = False
    found, info = store.read_head("k", 4)
    assert bytes(found) == b"0123" and info.size == 10
    for error in (FileNotFoundError(), PermissionError(13, "no"), TimeoutError(), ConnectionError()):
        library.error, library.log = error, []
        with pytest.raises(type(error)):
            store.read_head("k", 4)
        assert [entry[0] for entry in library.log] == ["get"]


def test_an_error_of_the_library_names_the_object(library, store):
    library.error = ValueError("status code: 503")
    for read in (lambda: store.info("k"), lambda: store.read("k", 0, 3), lambda: list(store.pieces("k", 0, 3))):
        with pytest.raises(ConnectionError, match=r"the server is busy or failed \(503\)") as caught:
            read()
        assert caught.value.filename == "s3://b/k"


@pytest.mark.parametrize("key", ["a//b", "./a", "a/../b", "a/.", "..", "/a"])
def test_keys_that_would_be_others_are_refused(store, key):
    with pytest.raises(
        InvalidArgumentError, match=r"a key must not contain //, begin with /, or have a part named \. or \.\."
    ):
        store.info(key)
    assert store._checked("a.b/..c/...") == "a.b/..c/..."


# ---- Listing ----


def test_a_prefix_is_listed_page_by_page(library, store):
    for key in ("a", "b/1", "b/2", "b/3", "b2", "bc/x", "c"):
        library.set(key, key.encode())
    assert [info.url for info in store.list("b/")] == ["s3://b/b/1", "s3://b/b/2", "s3://b/b/3"]
    assert library.log[-1] == ("list", ("S3Store", 5), "b", None, 1000)
    assert [store.key_of(info) for info in store.list("b")] == ["b/1", "b/2", "b/3", "b2", "bc/x"]
    assert library.log[-1] == ("list", ("S3Store", 5), None, "a\U0010ffff", 1000)
    assert [store.key_of(info) for info in store.list("")] == sorted(library.objects)
    folders, objects = store.folders("")
    assert folders == ["b/", "bc/"] and [store.key_of(info) for info in objects] == ["a", "b2", "c"]
    assert store.folders("b/") == ([], list(store.list("b/")))
    assert (store.is_folder("b"), store.is_folder("b/"), store.is_folder("a"), store.is_folder("")) == (
        True,
        True,
        False,
        True,
    )


def test_a_name_just_before_a_prefix():
    assert [_just_before(prefix) for prefix in ("b", "a/b", "a\x22", "a\x21", "a\x7f", "aä", "")] == [
        "a\U0010ffff", "a/a\U0010ffff", "a!\U0010ffff", None, "a~\U0010ffff", None, None,
    ]  # fmt: skip


def test_what_is_below_goes_and_what_is_beside_stays(library, store):
    for key in ("b", *(f"b/{i:04d}" for i in range(1001)), "bc"):
        library.set(key, b"")
    store.delete_below("b/")
    assert sorted(library.objects) == ["b", "bc"]
    library.set("b/x", b"1")
    store.move("b/x", "b/y")
    assert sorted(library.objects) == ["b", "b/y", "bc"] and library.objects["b/y"][0] == b"1"
    store.delete_below("")
    assert library.objects == {}


# ---- Uploads ----


def upload(library, overwrite=True, part=4, at_once=3):
    return ObjectUpload(library, "store", "s3://b/k", "k", overwrite, PartSizes(part, at_once))


@pytest.mark.parametrize("size", [0, 1, 4, 5, 8, 9, 23])
@pytest.mark.parametrize("step", [1, 3, 4, 100])
def test_an_object_is_what_was_written(library, size, step):
    data, one = bytes(range(size)), upload(library)
    for i in range(0, size, step):
        one.write(memoryview(data)[i : i + step])
    assert "k" not in library.objects
    one.complete()
    assert library.objects["k"][0] == data
    several = {"chunk_size": 4, "max_concurrency": 3}
    assert library.log[-1] == ("put", "store", "k", "overwrite", size > 4, several if size > 4 else {})
    one.abort()
    assert library.objects["k"][0] == data


@pytest.mark.parametrize("data", [b"ab", b"abcdefgh"])
def test_an_object_that_is_there_is_not_replaced_unless_it_may_be(library, data):
    library.set("k", b"before")
    one = upload(library, overwrite=False)
    with pytest.raises(FileExistsError, match="the object already exists") as caught:
        one.write(data)
        one.complete()
    assert (caught.value.errno, caught.value.filename) == (errno.EEXIST, "s3://b/k")
    one.abort()
    assert library.objects["k"][0] == b"before"
    del library.objects["k"]
    one = upload(library, overwrite=False)
    one.write(data)
    one.complete()
    assert library.objects["k"][0] == data


def test_an_object_that_came_meanwhile_is_not_replaced(library):
    one = upload(library, overwrite=False)
    one.write(b"abcdefgh")
    library.set("k", b"other")
    with pytest.raises(FileExistsError, match="the object already exists"):
        one.complete()
    one.abort()
    assert library.objects["k"][0] == b"other"


def test_a_precondition_that_fails_is_an_object_that_exists(library, monkeypatch):
    def fail(*arguments, **given):
        raise type("PreconditionError", (Exception,), {})()

    monkeypatch.setattr(library, "put", fail)
    for overwrite, kind, number in ((False, FileExistsError, errno.EEXIST), (True, OSError, errno.ESTALE)):
        with pytest.raises(kind) as caught:
            upload(library, overwrite).complete()
        assert (caught.value.errno, caught.value.filename) == (number, "s3://b/k")


def test_an_upload_that_is_given_up_leaves_nothing(library):
    one = upload(library)
    one.write(b"abcdefgh")
    one.abort()
    one.abort()
    assert library.objects == {} and not one._sender._thread.is_alive()
    small = upload(library)
    small.write(b"ab")
    small.abort()
    assert library.objects == {}


def test_an_upload_that_failed_says_so(library, monkeypatch):
    def fail(store, key, parts, **how):
        next(parts)
        raise ValueError("status code: 403")

    monkeypatch.setattr(library, "put", fail)
    one = upload(library)
    with pytest.raises(PermissionError, match=r"permission denied \(403\)") as caught:
        for _ in range(99):
            one.write(b"abcd")
        one.complete()
    assert caught.value.filename == "s3://b/k"


def test_an_upload_that_the_library_ends_too_early_is_an_error(library):
    ended = threading.Event()
    library.put_parts = lambda parts: (ended.set(), [next(parts)])[1]
    one = upload(library)
    with pytest.raises(OSError, match="the upload ended too early") as caught:
        for _ in range(99):
            one.write(b"abcd")
            ended.wait(0.05)
        raise AssertionError
    assert (caught.value.errno, caught.value.filename) == (errno.EIO, "s3://b/k")


def test_an_upload_has_a_largest_size(library, monkeypatch):
    monkeypatch.setattr(object_upload, "_MOST_PARTS", 2)
    one = ObjectUpload(library, "store", "s3://b/k", "k", True, PartSizes(1 << 20, 1))
    with pytest.raises(
        OSError, match="more than 0 GiB in parts of 1 MiB; set a larger part_bytes in storage_options"
    ) as said:
        for _ in range(4):
            one.write(bytes(1 << 20))
    assert (said.value.errno, said.value.filename) == (errno.EFBIG, "s3://b/k")
    one.abort()


@pytest.mark.parametrize(
    ("given", "beside", "sizes"),
    [
        (None, 1, (16 << 20, 4)),
        (None, 3, ((256 << 20) // 3 // 7, 4)),
        (None, 5, ((256 << 20) // 5 // 7, 3)),
        (None, 8, (5 << 20, 2)),
        (None, 100, (5 << 20, 1)),
        (64 << 20, 1, (64 << 20, 4)),
        (64 << 20, 16, (64 << 20, 1)),
    ],
)
def test_uploads_that_go_on_together_share_memory(given, beside, sizes):
    assert part_sizes(given, beside) == sizes
