"""Writes the fuzzer's first corpus: a record of every kind of case for every schema of parse_fuzz.cc.

python -m tools.fuzz.make_corpus tools/fuzz/corpus/parse
"""

import random
import sys
from pathlib import Path

from tests.support import wire_writer as wire


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    rng = random.Random(0)
    ints, floats = wire.feature("int64", [1, 300, -1]), wire.feature("float", [1.5, 2.5, 3.5])
    one, two = wire.feature("int64", [5]), wire.feature("int64", [1, 0], packed=False)
    texts = wire.feature("bytes", [b"", b"hello"])
    records = [
        b"",
        wire.example([(b"a", one), (b"b", wire.feature("float", [1.0])), (b"c", wire.feature("bytes", [b"x"]))]),
        wire.example([(b"a", ints), (b"b", floats), (b"c", texts)]),
        wire.example([(b"a", two), (b"b", floats), (b"c", wire.feature("bytes", [b"12345"]))]),
        wire.example([(b"a", two), (b"", one), (b"z" * 140, texts), (b"a", two)]),
        wire.example([(b"a", b"")]) + wire.unknown_field(rng, groups=True) + wire.example([(b"b", floats)]),
        wire.example([(b"a", one + floats + wire.field(3, wire.int64_list([1]) + wire.unknown_field(rng)))]),
        wire.sequence_example([(b"a", one)], [(b"a", [one] * 9), (b"b", [floats] * 5), (b"c", [texts, b""])]),
        wire.sequence_example([(b"c", texts)], [(b"a", [two] * 3), (b"b", [floats, b""]), (b"", [one])]),
    ]
    for i, record in enumerate(records):
        for schema in range(4):
            (folder / f"{i}_{schema}").write_bytes(bytes([schema]) + record)


if __name__ == "__main__":
    main()
