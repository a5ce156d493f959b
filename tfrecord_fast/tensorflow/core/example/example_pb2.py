"""The messages of whole records."""

from ....train import Example, SequenceExample

__all__ = ["Example", "SequenceExample"]
