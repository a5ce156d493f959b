"""Comma-separated values: files and records read as TensorFlow reads them, and refused where it refuses them."""

import csv
import gzip
import io
import zlib

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import tfrecord_fast as plain
from tests.support import live_tensorflow
from tests.tensorflow.side_by_side import differences, of_both
from tfrecord_fast.data.files import csv_files
from tfrecord_fast.values.csv_fields import Fields, split_record

needs_tensorflow = pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")

NUMBERS = """5 +5 -5 0x10 1e3 1_0 \uff11 1.0 ' 7 ' '\\t7' '- 5' --5 007 2147483647 2147483648 -2147483648 -2147483649
9223372036854775807 9223372036854775808 inf -Infinity NaN 0x1p3 1e400 -1e400 1e-400 1e39 .5 5. 1e 1d5 1f 0.1 16777217
1.00000017881393432617187499 1.00000017881393432617187500 1.00000017881393432617187501 '  ' '7\\n'
infin + 1e5000 \u0661 7.006492321624085354618e-46 7.006492321624085354619e-46 2.10194769648722560638559e-45
3.4028235677973366e38 3.40282356779733661637e38 -7.006492321624085354619e-46"""
LONG = ["0" * 5000 + "7", "-" + "0" * 5000 + "7", "9" * 5000, "0" * 5000]
WORDS = LONG + [
    word.strip("'").replace("\\t", "\t").replace("\\n", "\n") for word in NUMBERS.replace("'  '", "''").split()
]
RECORDS = [
    'a"b,c', '"a"b,c', '"a,c', '"a,b",c', '"a""b",c', 'a,"b\nc"', "a,b\n", "a,b\r\n", '"a", "b"', "a,b,c", "a", "", ",",
    '"",""', "a\nb,c", '"a"\r,b', "a\r,b",
]  # fmt: skip


@needs_tensorflow
@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_numbers_are_read_as_there(dtype):
    expressions = [
        f"tf.{function}" for word in WORDS for function in (
            f"io.decode_csv([{word!r}], [tf.constant([], tf.{dtype})])", f"strings.to_number({word!r}, tf.{dtype})"
        )
    ]  # fmt: skip
    assert not differences(expressions, tolerance=0)


@needs_tensorflow
@pytest.mark.parametrize("quotes", [True, False])
@pytest.mark.parametrize("defaults", ["[S, S]", "[['d'], ['e']]", "[S]", "['', 'x']"])
def test_records_are_divided_as_there(quotes, defaults):
    expressions = [f"tf.io.decode_csv([{item!r}], {defaults}, use_quote_delim={quotes})" for item in RECORDS]
    assert not differences(expressions, "S = tf.constant([], tf.string)")


@needs_tensorflow
def test_choices_of_columns_are_taken_and_refused_as_there():
    options = ["select_cols=[1]", "select_cols=[1, 0]", "select_cols=[0, 2]", "select_cols=[0, 5]", "field_delim=';'",
               "field_delim=''", "field_delim='ab'", "na_value='b'", "select_cols=[-1, 0]"]  # fmt: skip
    expressions = [
        f"tf.io.decode_csv(['a,b,c', 'd,e,f'], {defaults}, {option})"
        for option in options
        for defaults in ("[S, S]", "[S]")
    ]
    assert not differences(expressions, "S = tf.constant([], tf.string)")


def read_csv(path, text, defaults, options):
    """Return the elements, or the class of the error in their place."""
    with open(path, "wb") as file:
        file.write(text)
    defaults = [tf.constant([], item[3:]) if str(item).startswith("tf.") else item for item in defaults]  # noqa: F821

    def described(value):
        array = np.asarray(value.numpy() if hasattr(value, "numpy") else value)
        return ("string", bytes(array.item())) if array.dtype.kind in "OS" else (array.dtype.name, array.tolist())

    actual = []
    try:
        elements = iter(tf.data.experimental.CsvDataset(path, defaults, **options))  # noqa: F821
    except Exception as error:
        return type(error).__name__
    for _ in range(20):
        try:
            actual.append([described(field) for field in next(elements)])
        except StopIteration:
            break
        except Exception as error:
            actual.append(type(error).__name__)
    return actual


INT, S, F = "tf.int32", "tf.string", "tf.float32"
FILES = [
    (b"1,2\n3,4\n", [INT, INT], {}),
    (b"1,2\n3,4", [INT, INT], {}),
    (b"1,2\r\n3,4\r\n", [INT, INT], {}),
    (b"1,2\r3,4\r", [INT, INT], {}),
    (b"a,b\n3,4\n", [INT, INT], {"header": True}),
    (b"a\n", [INT], {"header": True}),
    (b"", [INT], {}),
    (b"1,\n,4\n", [INT, [7]], {}),
    (b"1,\n2,3\n", [INT, INT], {}),
    (b'"a,b","c""d"\nx,y\n', [S, S], {}),
    (b'"a\nb",1\nx,2\n', [S, INT], {}),
    (b'"a\r\n\r\n""b""\n",1\nx,2\n', [S, INT], {}),
    (b'a"b,1\nx,2\n', [S, INT], {}),
    (b'"ab,1\nx,2\n', [S, INT], {}),
    (b'"a",b"c\n', [S, S], {"use_quote_delim": False}),
    (b"1\n2,3\n", [INT, INT], {}),
    (b"1,2,3\n2,3\n", [INT, INT], {}),
    (b"1,2\n\n3,4\n", [INT, INT], {}),
    (b"1\n\n3\n", [[9]], {}),
    (b"\n\n", [[9], [8]], {}),
    (b"x,2\n3,4\n", [INT, INT], {}),
    (b" 1 ,2\n3,4\n", [INT, INT], {}),
    (b"1.5,nan\ninf,-3e2\n", [F, F], {}),
    (b"3000000000,2\n", [INT, INT], {}),
    (b"NA,2\n", [[5], INT], {"na_value": "NA"}),
    (b'"NA",2\n', [[b"q"], INT], {"na_value": "NA"}),
    (b"1,2,3\n4,5,6\n", [INT, INT], {"select_cols": [0, 2]}),
    (b"1,2,3\n4,5,6\n", [INT, INT], {"select_cols": [2, 0]}),
    (b"1,2,3\n4,5,6\n", [INT, INT], {"exclude_cols": [1]}),
    (b"1|2\n", [INT, INT], {"field_delim": "|"}),
    (b"1|2\n", [INT, INT], {"field_delim": "||"}),
    (b'"",1\n', [["d"], INT], {}),
    (b"12345678901,0.1\n", ["tf.int64", "tf.float64"], {}),
    (b"\xff\xfe,1\n", [S, INT], {}),
    (b'"a"\r\n"b"\r\n', [S], {}),
    (b' "a",1\n', [S, INT], {}),
    (b"", [5], {}),
    (b"", [5], {"header": True}),
    (b"\n\n1\n", [5], {}),
    (b"a", [5], {"header": True}),
    (b"\n", [5], {"header": True}),
    (b'"a', ["x"], {"header": True}),
    (b"\n", [S], {}),
    (b"", ["x"], {"header": True, "use_quote_delim": False}),
    (b"\n", ["x"], {"select_cols": [0]}),
    (b"x" * 600_000 + b',"' + b"y\n" * 200_000 + b'"\n1,2\n', [S, S], {}),
]


@needs_tensorflow
@pytest.mark.parametrize(("text", "defaults", "options"), FILES)
def test_files_are_read_as_there(tmp_path, text, defaults, options):
    ours, theirs = of_both(read_csv, str(tmp_path / "a.csv"), text, defaults, options, package=plain)
    assert repr(ours) == repr(theirs).replace("ValueError", "InvalidArgumentError")  # nan is not nan


def test_a_record_after_a_damaged_quote_is_read(tmp_path):
    """TensorFlow loses it, and all that follow: it takes the rest of the file for the field."""
    (tmp_path / "a.csv").write_bytes(b'"a"b,1\nx,2\n')
    elements = iter(plain.data.experimental.CsvDataset(str(tmp_path / "a.csv"), [plain.string, plain.int32]))
    with pytest.raises(plain.errors.InvalidArgumentError, match=r"a\.csv: Quoted field has to end .*\(record 0\)"):
        next(elements)
    assert next(elements) == (b"x", 2)


def test_a_header_with_a_stray_quote_is_an_error(tmp_path):
    (tmp_path / "a.csv").write_bytes(b'a"b\n1')
    with pytest.raises(plain.errors.InvalidArgumentError):
        list(plain.data.experimental.CsvDataset(str(tmp_path / "a.csv"), [5], header=True))


def test_what_is_known_before_a_file_is_read():
    dataset = plain.data.experimental.CsvDataset("/no/such/file", [plain.int32, b"none", 1.5])
    assert [(spec.shape, spec.dtype.name) for spec in dataset.element_spec] == [
        ((), "int32"), ((), "string"), ((), "float32"),
    ]  # fmt: skip
    with pytest.raises(FileNotFoundError):
        next(iter(dataset))


@pytest.mark.parametrize("compression", ["", "GZIP", "ZLIB"])
def test_compressed_files_are_read(tmp_path, compression):
    packed = {"": bytes, "GZIP": gzip.compress, "ZLIB": zlib.compress}[compression](b"1,a\n" * 100_000)
    (tmp_path / "a").write_bytes(packed)
    dataset = plain.data.experimental.CsvDataset(tmp_path / "a", [plain.int32, plain.string], compression)
    assert sum(int(number) for number, _ in dataset) == 100_000
    if compression:
        (tmp_path / "a").write_bytes(packed[:-20])
        with pytest.raises(plain.errors.DataLossError, match="a: damaged"):
            list(dataset)


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8) | st.sampled_from(
    ['"', '""', ",", "\n", "\r", "\r\n", 'a"b', "", " ", "\r\n\r", '"\n"']
)


@given(
    st.lists(st.lists(TEXTS, min_size=2, max_size=2), max_size=8),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.integers(1, 9),
)
@example([["", ""], ["0\n\r", ""]], "\r", 5)  # a block which begins and ends with the same piece, "\r"
def test_what_the_csv_module_writes_is_read_back(rows, end, block):
    text = io.StringIO(newline="")
    lone = end == "\r" or any("\r" in field for row in rows for field in row)  # which the module writes without quotes
    quoting = csv.QUOTE_ALL if lone else csv.QUOTE_MINIMAL
    csv.writer(text, lineterminator=end, quoting=quoting).writerows(rows)
    data = text.getvalue().encode()
    source = io.BytesIO(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_files, "_BLOCK", block)
        actual = [split_record(item, b",") for item in csv_files._texts(source.read, b",", True)]
    assert actual == [[field.encode() for field in row] for row in rows]


def test_the_time_for_a_field_of_many_lines_grows_with_its_length(tmp_path):
    (tmp_path / "a").write_bytes(b'"' + b'""\n' * 300_000 + b'"\n')
    ((field,),) = plain.data.experimental.CsvDataset(tmp_path / "a", [plain.string])
    assert field == b'"\n' * 300_000


TABLE = b"a,b,c,d\n1,1.5,x,3000000000\n2,,y,4\n,3.25,,5\n"
TABLES = [
    (TABLE, {}),
    (TABLE, {"label_name": "a"}),
    (TABLE, {"select_columns": ["a", "c"]}),
    (TABLE, {"select_columns": [0, 2]}),
    (TABLE, {"column_names": ["p", "q", "r", "s"]}),
    (b"1,2\n3,4\n", {"column_names": ["p", "q"], "header": False}),
    (b"1,2\n3,4\n", {"header": False}),
    (TABLE, {"column_defaults": [0, "z"], "select_columns": ["a", "c"]}),
    (TABLE, {"label_name": "zz"}),
    (TABLE, {"select_columns": ["zz"]}),
    (TABLE, {"num_epochs": None}),
    (TABLE, {"na_value": "x"}),
    (b"a,a\n1,2\n", {}),
    (b"a\n1e300\n", {}),
    (b"a\n1e39\n1\n", {}),
    (b"a\n16777217\n0.5\n", {}),
    (b"a\n1\nx\n2\n", {"num_rows_for_inference": 1, "ignore_errors": True}),
    (b"a\n1\nx\n2\n", {"num_rows_for_inference": 1}),
    (b"a\n1\nx\n2\n", {}),
    (b"a,b\n1\n", {}),
]


def read_tables(path, text, options):
    with open(path, "wb") as file:
        file.write(text)
    options = {"shuffle": False, "num_epochs": 1, **options}
    try:
        dataset = tf.data.experimental.make_csv_dataset(path, 2, **options)  # noqa: F821
        actual = [str(dataset.element_spec)]
        for element in dataset.take(4):
            columns, label = element if isinstance(element, tuple) else (element, None)
            actual.append([(key, item.dtype.name, item.numpy().tolist()) for key, item in columns.items()])
            actual.append(None if label is None else (label.dtype.name, label.numpy().tolist()))
    except Exception as error:
        return "wrong" if isinstance(error, (ValueError, tf.errors.InvalidArgumentError)) else type(error).__name__  # noqa: F821
    return actual


@needs_tensorflow
@pytest.mark.parametrize(("text", "options"), TABLES)
def test_batches_of_columns_are_those_of_tensorflow(tmp_path, text, options):
    ours, theirs = of_both(read_tables, str(tmp_path / "a.csv"), text, options)
    assert ours == theirs


def test_all_rows_of_all_files_come_once_in_an_epoch_that_is_shuffled(tmp_path):
    for number in range(3):
        rows = "".join(f"{100 * number + row},x\n" for row in range(100))
        (tmp_path / f"{number}.csv").write_text("id,name\n" + rows)
    dataset = plain.data.experimental.make_csv_dataset(str(tmp_path / "*.csv"), 7, num_epochs=1, shuffle_seed=1)
    ids = [int(item) for batch in dataset for item in batch["id"]]
    assert sorted(ids) == list(range(300)) != ids
    (tmp_path / "3.csv").write_text("id,other\n1,2\n")
    with pytest.raises(ValueError, match=r"different column names.*3\.csv"):
        plain.data.experimental.make_csv_dataset(str(tmp_path / "*.csv"), 7)


@pytest.mark.parametrize("default", [3000000000, [3000000000]], ids=repr)
def test_defaults_beyond_int32_are_of_int64(default, tmp_path):
    (tmp_path / "a.csv").write_bytes(b'4000000000\n""\n')
    actual = list(plain.data.experimental.CsvDataset(str(tmp_path / "a.csv"), [default]))
    assert [(int(item), item.dtype) for (item,) in actual] == [(4000000000, "int64"), (3000000000, "int64")]


def test_defaults_are_numbers_or_strings():
    for default in (np.array([2], object), [None], 1 << 70):
        with pytest.raises(ValueError, match="a default must be a number or a string"):
            Fields([default])
