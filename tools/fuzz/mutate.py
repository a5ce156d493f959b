"""Bytes changed in the ways that find bugs in readers of bytes."""

from tests.support import wire_writer

__all__ = ["mutated"]

NUMBERS = [
    0,
    1,
    2,
    7,
    8,
    127,
    128,
    255,
    256,
    2**15,
    2**16 - 1,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**62,
    2**63 - 1,
    2**63,
    2**64 - 1,
]
MOST = 1 << 14  # bytes of an input


def mutated(rng, data, others, words=()):
    """`data` with one to five changes; `others` are inputs to take pieces from, `words` what means something."""
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 3, 5])):
        rng.choice(_CHANGES)(rng, data, others, words)
        del data[MOST:]
    return bytes(data)


def _place(rng, data):
    """A place in the data, more often near its start, where the headers are."""
    return min(rng.randrange(len(data) + 1), rng.randrange(len(data) + 1)) if data else 0


def _span(rng, data):
    start = _place(rng, data)
    return start, min(len(data), start + rng.choice([1, 1, 2, 4, 8, 16, 64, 300]))


def _flip(rng, data, others, words):
    if data:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def _set(rng, data, others, words):
    if data:
        data[_place(rng, data) % len(data)] = rng.choice([0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)])


def _add(rng, data, others, words):
    if data:
        place = _place(rng, data) % len(data)
        data[place] = (data[place] + rng.choice([-16, -2, -1, 1, 2, 16])) % 256


def _number(rng, data, others, words):
    """A number of a fixed width, or a varint, over what is there or in between."""
    number = (rng.choice(NUMBERS) + rng.choice([0, 0, 1, -1])) % 2**64
    width = rng.choice([1, 2, 4, 8])
    made = (number % 256**width).to_bytes(width, rng.choice(["little", "big"]))
    made = rng.choice([made, made, wire_writer.varint(number), str(number).encode()])
    place = _place(rng, data)
    data[place : place + rng.choice([0, len(made)])] = made


def _drop(rng, data, others, words):
    start, stop = _span(rng, data)
    del data[start:stop]


def _cut(rng, data, others, words):
    del data[rng.randrange(len(data) + 1) :]


def _repeat(rng, data, others, words):
    start, stop = _span(rng, data)
    data[stop:stop] = data[start:stop] * rng.choice([1, 1, 2, 9])


def _move(rng, data, others, words):
    start, stop = _span(rng, data)
    place = _place(rng, data)
    data[place : place + rng.choice([0, stop - start])] = data[start:stop]


def _splice(rng, data, others, words):
    other = rng.choice(others)
    start = rng.randrange(len(other) + 1)
    place = rng.randrange(len(data) + 1)
    data[place:] = other[start:]


def _word(rng, data, others, words):
    if words:
        place = _place(rng, data)
        word = rng.choice(words)
        data[place : place + rng.choice([0, len(word)])] = word


_CHANGES = [_flip, _flip, _set, _set, _add, _number, _number, _drop, _cut, _repeat, _move, _splice, _word, _word]
