"""Answers: what a contender must have seen before it is timed, and the reference that they are compared with.

The reference reads frames in plain Python with google-crc32c, and shares no code with any contender. An
answer is a dict. Contenders that only count (the native floor) give a part of it, and only that part is compared.
"""

from __future__ import annotations

import gzip
import hashlib
import math
import struct
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO, cast

from benchmarks.data.elements import difference_of_elements, difference_of_images

Answer = dict[str, Any]
Figures = dict[str, dict[str, float]]  # by feature: count of values and, of numbers, min, max and mean

MASK_DELTA = 0xA282EAD8
ANY_ORDER = "in any order"  # the key of the checksum that does not depend on the order
FEW = 20  # this many records may well keep their order when they are shuffled


def masked_crc(data: bytes) -> int:
    import google_crc32c

    return masked(google_crc32c.value(data))


def masked(crc: int) -> int:
    return ((crc >> 15 | crc << 17) + MASK_DELTA) & 0xFFFFFFFF


def frames(path: str, check: bool = True) -> Iterator[bytes]:
    """The payloads of a TFRecord file, GZIP or plain. Raises ValueError if it is damaged. Without `check` no CRC is
    computed, and google-crc32c is not needed."""
    with open_file(path) as file:
        while header := file.read(12):
            if len(header) < 12:
                raise ValueError(f"{path}: truncated")
            (length,) = struct.unpack_from("<Q", header)
            if check and masked_crc(header[:8]) != struct.unpack_from("<I", header, 8)[0]:
                raise ValueError(f"{path}: damaged, or not a TFRecord file: the CRC of a length is wrong")
            body = file.read(length + 4)
            if len(body) < length + 4:
                raise ValueError(f"{path}: truncated")
            payload = body[:length]
            if check and masked_crc(payload) != struct.unpack_from("<I", body, length)[0]:
                raise ValueError(f"{path}: a CRC is wrong")
            yield payload


def open_file(path: str) -> BinaryIO:
    return cast(BinaryIO, gzip.open(path)) if compression_of(path) == "GZIP" else open(path, "rb", 1 << 20)


def compression_of(path: str) -> str:
    """GZIP, ZLIB or ZSTD if the file begins like one, else "". If the CRC of a first header is right, it is none."""
    with open(path, "rb") as file:
        head = file.read(12)
    if len(head) == 12 and masked(bitwise_crc(head[:8])) == struct.unpack_from("<I", head, 8)[0]:
        return ""
    if head.startswith(b"\x1f\x8b\x08"):
        return "GZIP"
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        return "ZSTD"
    return "ZLIB" if len(head) > 1 and head[0] & 15 == 8 and (head[0] << 8 | head[1]) % 31 == 0 else ""


def bitwise_crc(data: bytes) -> int:
    """CRC32C without a table or a package, for a few bytes."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def digest(records: Iterable[bytes]) -> Answer:
    """Count, bytes, and two checksums of every record's payload: one that depends on the order, and one, the
    sum of the records' own checksums, that does not, for readers whose setting allows any order."""
    count = size = total = 0
    ordered = hashlib.sha256()
    for record in records:
        record_digest = hashlib.sha256(record).digest()
        ordered.update(record_digest)
        total += int.from_bytes(record_digest, "little")
        count += 1
        size += len(record)
    return {
        "records": count,
        "bytes": size,
        "in order": ordered.hexdigest(),
        ANY_ORDER: f"{total % 2**256:064x}",
    }


def digest_of_files(paths: Iterable[str]) -> Answer:
    return digest(record for path in paths for record in frames(path))


def difference(expected: Answer, got: Answer, order: str = "file", partial: bool = False) -> str | None:
    """Describe the difference between `got` and the expected answer, or return None.

    order: "file" if records come in the order of the files, "any" if the setting allows another order, "shuffled" if
      they must not come in that order, unless they are few.
    partial: whether `got` may lack a part of the answer. Figures may always be lacking: some rows only read.
    """
    ordered = [key for key in expected if key.endswith("in order")]
    if (
        order == "shuffled"
        and ordered
        and expected["records"] >= FEW
        and all(got.get(key) == expected[key] for key in ordered)
    ):
        return "the records are in the order of the files, not shuffled"
    for key, value in expected.items():
        if key == "figures":
            if key in got and (wrong := difference_of_figures(value, got[key])):
                return wrong
            continue
        if key == "elements":
            if wrong := difference_of_elements(value, got[key]):
                return wrong
            continue
        if key == "images" and key in got:
            if wrong := difference_of_images(value, got[key]):
                return wrong
            continue
        if key in ordered and order != "file":
            continue
        if key not in got and (partial or (key == ANY_ORDER and order == "file" and ordered)):
            continue
        if got.get(key) != value:
            return f"{key}: expected {shown(value)}, got {shown(got.get(key))}"
    return None


def difference_of_figures(expected: Figures, got: Figures) -> str | None:
    """Describe the difference between figures of features, or return None. Counts must be equal, the others as
    equal as float32 is."""
    if expected.keys() != got.keys():
        return f"figures of {shown(sorted(expected.keys() ^ got.keys()))}, which one of both lacks"
    for name, figures in expected.items():
        largest = max(abs(figures.get(key, 0)) for key in ("min", "max"))
        for key, value in figures.items():
            figure = got[name].get(key)
            around = 1e-12 * largest if key == "mean" else 0.0  # large values may cancel out
            same = value == figure if key == "count" else is_close(value, figure, around)
            if not same:
                return f"{key} of feature {name!r}: expected {value}, got {figure}"
    return None


def is_close(value: float, found: Any, around: float) -> bool:
    return isinstance(found, (int, float)) and math.isclose(value, found, rel_tol=1e-6, abs_tol=around)


def shown(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 20 else text[:12] + "…"
