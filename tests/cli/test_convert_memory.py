"""The memory that `convert` takes does not grow with its input."""

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support.peak_memory import MIB, PEAK_IS_TOLD, run

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
pytestmark = PEAK_IS_TOLD

CONVERT = "from tfrecord_fast.cli import main\nassert main(['convert', sys.argv[1], sys.argv[2]]) == 0"


def test_of_parquet_a_row_group_is_in_memory(tmp_path):
    values = np.random.default_rng(0).random(200 * MIB // 4, np.float32)
    lists = pa.FixedSizeListArray.from_arrays(pa.array(values), 256)
    parquet.write_table(pa.table({"x": lists}), tmp_path / "a.parquet", row_group_size=8192, use_dictionary=False)
    assert (tmp_path / "a.parquet").stat().st_size > 190 * MIB
    _, peak = run(CONVERT, tmp_path / "a.parquet", tmp_path / "a.tfrecord")
    assert peak < 300 * MIB and len(tf.RecordIndex.build(tmp_path / "a.tfrecord")) == len(lists)
    (tmp_path / "a.parquet").unlink()
    _, peak = run(CONVERT, tmp_path / "a.tfrecord", tmp_path / "a.parquet")
    assert peak < 300 * MIB and parquet.ParquetFile(tmp_path / "a.parquet").metadata.num_rows == len(lists)


def test_of_csv_a_part_is_in_memory(tmp_path):
    line = "x" * 1000 + ",1,0.5\n"
    with open(tmp_path / "a.csv", "w") as file:
        file.write("s,n,x\n")
        for _ in range(400):
            file.write(line * 1000)
    _, peak = run(CONVERT, tmp_path / "a.csv", tmp_path / "a.tfrecord")
    # Blocks that are read ahead are the most of it; all text and its columns would be more than 900 MiB.
    assert peak < 600 * MIB and len(tf.RecordIndex.build(tmp_path / "a.tfrecord")) == 400_000
