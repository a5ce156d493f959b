"""Names for the values that a test is run with."""

import re


def named(value):
    """Its repr, without addresses: processes that share a run have to agree on the tests' names."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))
