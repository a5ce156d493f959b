"""Verbs for damage, and every single damage of a kind."""


def cut(data, length):
    return data[:length]


def flip(data, bit):
    """Bit 0 is the lowest of the first byte."""
    return data[: bit // 8] + bytes([data[bit // 8] ^ 1 << bit % 8]) + data[bit // 8 + 1 :]


def insert(data, place, byte):
    return data[:place] + bytes([byte]) + data[place:]


def remove(data, place):
    return data[:place] + data[place + 1 :]


def every_cut(data):
    return ((f"cut to {length} bytes", cut(data, length)) for length in range(len(data)))


def every_flip(data):
    return ((f"bit {bit % 8} of byte {bit // 8} flipped", flip(data, bit)) for bit in range(8 * len(data)))


def every_insertion(data, values=range(256)):
    return (
        (f"byte {value:#04x} inserted at {place}", insert(data, place, value))
        for place in range(len(data) + 1)
        for value in values
    )


def every_removal(data):
    return ((f"byte {place} removed", remove(data, place)) for place in range(len(data)))


def first_difference(data, damaged):
    """Where the two first differ: the place of the damage, as far as content can tell."""
    same = min(len(data), len(damaged))
    return next((i for i in range(same) if data[i] != damaged[i]), same)
