"""Unpacks what fuzzing has found into a folder for the fuzzer, and packs a minimised corpus.

python -m tools.fuzz.found unpack FOLDER
python -m tools.fuzz.found pack FOLDER      (after: parse_fuzz -merge=1 FOLDER OLD_FOLDER)
"""

import sys
from pathlib import Path

import tfrecord_fast as tf
from tests.support.paths import FUZZ

FOUND = FUZZ / "found.tfrecord.gz"


def main():
    what, folder = sys.argv[1], Path(sys.argv[2])
    if what == "unpack":
        folder.mkdir(parents=True, exist_ok=True)
        for i, data in enumerate(tf.data.TFRecordDataset(FOUND)):
            (folder / f"found_{i}").write_bytes(data)
    elif what == "pack":
        inputs = sorted((path.read_bytes() for path in folder.iterdir()), key=lambda data: (len(data), data))
        with tf.io.TFRecordWriter(FOUND, tf.io.TFRecordOptions("GZIP", compression_level=9, mem_level=9)) as writer:
            writer.write_batch(inputs)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
