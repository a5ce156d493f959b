"""Files that people take for TFRecord files, and what each is to be called."""

import gzip
import io
import json
import sqlite3
import tarfile
import zipfile

import numpy as np

__all__ = ["LFS", "OTHER_FILES", "RIEGELI_HEAD"]

RIEGELI_HEAD = bytes.fromhex(
    "83af70d10d884a3f0000000000000000400000000000000091bac23c9287e1a9"
    "0000000000000000e19f13c0e9b1c37273000000000000000000000000000000"
)


def _npz():
    made = io.BytesIO()
    np.savez(made, a=np.arange(3))
    return made.getvalue()


def _npy():
    made = io.BytesIO()
    np.save(made, np.arange(3))
    return made.getvalue()


def _zip():
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("a.txt", "words")
    return made.getvalue()


def _tar(mode="w"):
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode=mode) as archive:
        archive.addfile(tarfile.TarInfo("a"), io.BytesIO())
    return made.getvalue()


def _sqlite():
    with sqlite3.connect(":memory:") as base:
        base.execute("create table a (b)")
        return base.serialize()


LFS = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "4d" * 32 + "\nsize 12345\n"

# name: (content, what is said)
OTHER_FILES = {
    "lfs": (LFS.encode(), "a Git LFS pointer in place of the data: run `git lfs pull`"),
    "annex": (b"/annex/objects/SHA256E-s9--ab.tfrecord\n", "run `git annex get`"),
    "html": (b"\n<!DOCTYPE html>\n<html><body>404</body></html>", "HTML, as left by a failed download"),
    "xml": (b"<?xml version='1.0'?><Error><Code>AccessDenied</Code></Error>", "XML, as left by a failed"),
    "riegeli": (RIEGELI_HEAD + bytes(100), "a Riegeli file"),
    "arrayrecord": (RIEGELI_HEAD + bytes((1 << 17) - 64), "an ArrayRecord file"),
    "idx": (b"0 116\n116 120\n236 99\n", "an index (.idx)"),
    "parquet": (b"PAR1\x15\x04\x15\x10" + bytes(50) + b"PAR1", "a Parquet file"),
    "npz": (_npz(), "a NumPy archive (.npz)"),
    "zip": (_zip(), "a ZIP archive"),
    "npy": (_npy(), "a NumPy array (.npy)"),
    "tar": (_tar(), "a tar archive"),
    "tar.gz": (_tar("w:gz"), "a tar archive, compressed with GZIP"),
    "hdf5": (b"\x89HDF\r\n\x1a\n" + bytes(100), "an HDF5 file"),
    "arrow": (b"ARROW1\x00\x00" + bytes(100), "an Arrow IPC file"),
    "arrows": (b"\xff\xff\xff\xff\x78\x00\x00\x00\x10" + bytes(100), "an Arrow IPC stream"),
    "orc": (b"ORC" + bytes(100), "an ORC file"),
    "avro": (b"Obj\x01" + bytes(100), "an Avro file"),
    "sqlite": (_sqlite() if hasattr(sqlite3.Connection, "serialize") else b"SQLite format 3\0", "an SQLite database"),
    "csv": (b"a,b\n1,2\n3,4\n", "CSV text"),
    "tsv": (b"a\tb\n1\t2\n", "CSV text"),
    "jsonl": (json.dumps({"a": 1}).encode() + b"\n", "JSON text"),
    "text": ("Größe\n".encode() * 20_000, "text"),
    "text.gz": (gzip.compress(b"some words and more of them\n"), "text, compressed with GZIP"),
    "pickle": (b"\x80\x04\x95\x05\x00\x00\x00\x00\x00\x00\x00K\x01.", "a Python pickle"),
    "png": (b"\x89PNG\r\n\x1a\n" + bytes(100), "a PNG image"),
    "example": (b"\n\x0f\n\r\n\x01a\x12\x08\x1a\x06\n\x04\x01\x02\x03\x04", "an Example without TFRecord's frame"),
}
