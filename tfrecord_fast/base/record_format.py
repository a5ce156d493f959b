"""Sizes of the TFRecord format, which docs/format.md describes."""

HEADER_BYTES = 8 + 4  # a record's length, and the CRC of the length
FRAME_BYTES = HEADER_BYTES + 4  # around a record's data: the header, and the CRC of the data
DETECTION_BYTES = 128  # the beginning of a file, enough to detect its compression
MAX_RECORD_BYTES = 1 << 62
