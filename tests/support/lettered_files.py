"""Files a-0, a-1, a-2 and b-0, each with records that tell their file and number."""

from tests.support.frames import frames

SIZES = {"a-0": 5, "a-1": 2, "a-2": 4, "b-0": 3}


def records_of(name, count):
    return [f"{name}.{i}".encode() for i in range(count)]


A = [record for name in ("a-0", "a-1", "a-2") for record in records_of(name, SIZES[name])]
ALL = A + records_of("b-0", SIZES["b-0"])


def write_files(folder):
    for name, count in SIZES.items():
        (folder / name).write_bytes(frames(records_of(name, count)))
    return folder
