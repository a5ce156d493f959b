"""The core's figures of records: equal to NumPy's where they are exact, and as near as is said where they are not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfrecord_fast as tf
from tests.support import wire_writer as wire
from tests.support.figures import check, collector, example, floats, ints, only, table
from tfrecord_fast import _core


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=40))
def test_few_integers_are_all_counted(values):
    made = only(collector(ints(values))) if values else None
    if made:
        check(made.int64, np.array(values, np.int64))


@given(st.lists(st.floats(width=32), min_size=1, max_size=40))
def test_few_floats_are_all_counted(values):
    check(only(collector(floats(values))).floats, np.array(values, np.float32))


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, n: rng.integers(0, 2**40, n),
        lambda rng, n: rng.integers(-(2**63), 2**63 - 1, n),
        lambda rng, n: 1_700_000_000_000_000_000 + rng.integers(0, 100_000, n),
        lambda rng, n: rng.zipf(1.2, n) % 100_000,
        lambda rng, n: np.arange(n),
    ],
)
def test_many_integers_have_numpys_moments(draw):
    values = draw(np.random.default_rng(1), 30_000).astype(np.int64)
    check(only(collector(ints(values))).int64, values)


@pytest.mark.parametrize("value", range(1020, 1030))
def test_small_integers_are_counted_up_to_any_bound(value):
    values = np.array([0, value] * 600)
    check(only(collector(ints(values))).int64, values)


def test_many_different_lengths_have_numpys_moments():
    lengths = np.random.default_rng(2).permutation(np.arange(3000))
    records = [wire.example([(b"a", wire.field(3, wire.field(1, b"\x01" * int(n))))]) for n in lengths]
    made = collector(records)
    check(only(made).lengths, lengths)
    check(made.sizes(), np.array([len(record) for record in records]))


@pytest.mark.parametrize("last", [-1, 2**50])
def test_the_last_of_many_values_may_be_the_extreme_one(last):
    values = np.append(np.arange(3004), last)
    check(only(collector(ints(values))).int64, values)
    check(only(collector([example(a=("int64", values.tolist()))])).int64, values)


@pytest.mark.parametrize("scale", [1.0, 1e-30, 1e30])
def test_many_floats_have_numpys_moments(scale):
    rng = np.random.default_rng(1)
    values = (rng.lognormal(0, 2, 30_000) * scale).astype(np.float32)
    values[rng.integers(0, len(values), 300)] = rng.choice([np.nan, np.inf, -np.inf, 0.0, -0.0], 300).astype(np.float32)
    figures = only(collector(floats(values))).floats
    check(figures, values)
    assert figures.positive_infinities == np.isposinf(values).sum()
    assert figures.negative_infinities == np.isneginf(values).sum()


def test_nan_of_any_payload_is_one_thing_and_minus_zero_is_zero():
    bits = np.array([0x7FC00001, 0xFFFFFFFF, 0x7F800001, 0x80000000, 0], np.uint32)
    records = [wire.example([(b"a", wire.field(2, wire.field(1, one.tobytes())))]) for one in bits]
    figures = only(collector(records)).floats
    assert (figures.nans, figures.zeros, figures.distinct) == (3, 2, 1.0)
    assert str(figures.minimum) == "0.0"


def rank_error(figures, values):
    """The largest difference between a sample's and the values' distribution."""
    at = figures.points
    sample = np.cumsum(figures.weights) / figures.weights.sum()
    last = np.append(at[1:] != at[:-1], True)
    truth = np.searchsorted(np.sort(values), at, "right") / len(values)
    return np.abs(sample - truth)[last].max()


@pytest.mark.parametrize("order", ["random", "ascending", "descending", "zigzag"])
def test_ranks_of_a_sample_are_off_by_little(order):
    values = np.random.default_rng(3).standard_normal(60_000).astype(np.float32)
    if order != "random":
        values = np.sort(values) * (1 if order == "ascending" else -1)
    if order == "zigzag":
        values = np.stack([values[:30_000], values[30_000:]], 1).ravel()
    figures = only(collector(floats(values))).floats
    assert not figures.exact and rank_error(figures, values) < 0.02


def test_ranks_of_some_thousand_values_are_off_by_less():
    values = np.random.default_rng(8).permutation(4000)
    assert rank_error(only(collector(ints(values))).int64, values) < 0.01


def test_the_sample_is_small_however_many_values_there_are():
    values = np.random.default_rng(4).integers(0, 2**62, 200_000)
    batch = [
        wire.example([(b"a", wire.feature("int64", values[i : i + 100].tolist()))]) for i in range(0, 200_000, 100)
    ]
    figures = only(collector(batch)).int64
    assert len(figures.points) < 6000 and len(figures.frequent) <= 256
    assert rank_error(figures, values) < 0.02
    assert figures.distinct == pytest.approx(200_000, rel=0.05)


def test_frequent_values_among_many_others_are_found_with_their_counts():
    rng = np.random.default_rng(5)
    values = rng.integers(10_000, 2**40, 50_000)
    values[rng.random(50_000) < 0.03] = 7
    values[rng.random(50_000) < 0.3] = -5
    figures = only(collector(ints(values))).int64
    (first, times), (second, fewer) = figures.frequent[:2]
    assert (first, second) == (-5, 7)
    for found, count in ((times, (values == -5).sum()), (fewer, (values == 7).sum())):
        assert count - figures.count_error - 500 <= found <= count


def holds(figures, values, before_a_sample):
    """What is said of frequent values: a count is never too high, and too low by little more than the error."""
    truth = dict(zip(*(part.tolist() for part in np.unique(values, return_counts=True)), strict=True))
    found = dict(figures.frequent)
    assert not figures.exact and 0 < len(found) == len(figures.frequent)
    assert all(count <= truth[value] <= count + figures.count_error + before_a_sample for value, count in found.items())
    return found


def lists(values):
    return tf.encode_examples({"a": values.reshape(-1, 1000)})


@pytest.mark.parametrize("parts", [1, 3])
def test_counts_of_more_frequent_values_than_are_kept_have_an_error(parts):
    rng = np.random.default_rng(9)
    values = rng.permutation(np.concatenate([np.arange(300).repeat(5000) << 20, 1 + np.arange(30_000)]))
    made = collector()
    for part in np.split(values, parts):
        made.merge(collector(lists(part)))
    figures = only(made).int64
    holds(figures, values, 700 * parts)
    assert figures.count_error > 1000


def test_what_comes_off_when_counting_all_ends_is_an_error():
    often = np.arange(200).repeat(5000 + 10 * np.arange(200)) << 20
    values = np.random.default_rng(10).permutation(np.concatenate([often, 1 + np.arange(800)]))
    values = np.concatenate([values[: len(values) // 1000 * 1000], 5000 + np.arange(1000)])
    figures = only(collector(lists(values))).int64
    assert holds(figures, values, 0) and figures.count_error > 5000


def test_a_small_integer_that_came_often_before_the_sketch_stays():
    values = np.concatenate([np.full(10_000, 7), np.arange(5000, 9000)])
    figures = only(collector(lists(values))).int64
    assert figures.frequent[0][0] == 7 and 10_000 - figures.count_error <= figures.frequent[0][1] <= 10_000


def test_frequent_values_of_parts_are_added():
    rest = np.arange(10_000, 18_000)
    values = np.concatenate([np.full(2000, -3), rest])
    made = collector(lists(values))
    made.merge(collector(lists(values + 0)))
    (value, count), *_ = only(made).int64.frequent
    assert value == -3 and 4000 - only(made).int64.count_error <= count <= 4000


def test_strings_are_counted_and_the_frequent_ones_kept():
    rng = np.random.default_rng(6)
    words = [b"often"] * 3000 + [b"word-%d" % i for i in range(5000)] + [b""] * 10
    rng.shuffle(words)
    feature = only(collector([example(a=("bytes", [word])) for word in words]))
    assert feature.texts.frequent[0][:2] == (b"often", 5)
    assert 3000 - feature.texts.count_error - 500 <= feature.texts.frequent[0][2] <= 3000
    assert feature.texts.distinct == pytest.approx(5002, rel=0.06) and not feature.texts.exact
    assert feature.texts.sizes.zeros == 10 and feature.texts.sizes.maximum == 9


def test_few_strings_are_exact_and_long_ones_are_kept_by_their_start():
    texts = only(collector([example(a=("bytes", [b"x" * 500, b"y", b"y"]))])).texts
    assert texts.exact and texts.frequent == [(b"y", 1, 2), (b"x" * 64, 500, 1)]


def test_long_strings_that_differ_in_one_byte_are_different():
    values = [b"z" * i + b"y" + b"z" * (300 - i) for i in range(301)]
    assert only(collector([example(a=("bytes", values))])).texts.distinct == 301


def words(first, many, often):
    """Different ones, and then some among which `often` comes again and again."""
    different = [b"word-%d" % i for i in range(first, first + many)]
    return different + [word for one in different for word in (one, often)]


def test_a_string_that_becomes_frequent_late_is_found():
    texts = only(collector([example(a=("bytes", words(0, 3000, b"often")))])).texts
    assert texts.frequent[0][:2] == (b"often", 5)
    assert 3000 - texts.count_error - 500 <= texts.frequent[0][2] <= 3000


def test_strings_of_parts_are_added():
    made = collector()
    for part in range(3):
        made.merge(collector([example(a=("bytes", words(part * 3000, 3000, b"often")))]))
    texts = only(made).texts
    assert texts.distinct == pytest.approx(9001, rel=0.06)
    assert texts.frequent[0][:2] == (b"often", 5) and all(start for start, _, _ in texts.frequent)
    assert 9000 - texts.count_error - 1500 <= texts.frequent[0][2] <= 9000
    assert texts.sizes.values == 27_000 and texts.sizes.maximum == 9 and texts.sizes.minimum == 5


def test_long_strings_that_differ_at_their_ends_are_different():
    values = [b"z" * 200 + bytes([i]) for i in range(50)] + [b"z" * n for n in range(100)]
    assert only(collector([example(a=("bytes", values))])).texts.distinct == 150


def test_lists_and_presence():
    records = [example(a=("int64", [1, 2, 3])), example(b=("float", [])), b"", wire.example([(b"a", b"")])]
    made = collector(records)
    a, b = sorted(made.features())
    assert (made.examples, made.empty) == (4, 1)
    assert (a.present, a.unset, a.lengths.minimum, a.lengths.maximum) == (1, 1, 3, 3)
    assert (b.present, b.lengths.maximum, b.floats, b.float_features) == (1, 0, None, 1)


def test_feature_lists_have_steps_and_values_per_step():
    lists = [(b"s", [wire.feature("float", [1.0, 2.0]), wire.feature("float", [3.0]), b""]), (b"e", [])]
    made = collector([wire.sequence_example([(b"c", wire.feature("int64", [5]))], lists)])
    c, e, s = sorted(made.features())
    assert made.sequences == 1 and (c.is_list, s.is_list, e.is_list) == (False, True, True)
    assert (s.steps.maximum, s.lengths.minimum, s.lengths.maximum, s.floats.values) == (3, 0, 2, 3)
    assert (e.present, e.steps.maximum, s.unset_features) == (1, 0, 1)


def test_the_last_of_two_values_under_a_key_counts():
    record = wire.example([(b"a", wire.feature("int64", [1])), (b"a", wire.feature("int64", [2, 3]))])
    feature = only(collector([record] * 5))
    assert feature.int64.points.tolist() == [2, 3] and feature.present == 5


def test_two_kinds_under_a_key_are_counted_apart():
    feature = only(collector([example(a=("int64", [1])), example(a=("float", [2.0])), example(a=("bytes", [b"x"]))]))
    assert (feature.int64_features, feature.float_features, feature.bytes_features) == (1, 1, 1)
    assert (feature.int64.values, feature.floats.values, feature.texts.sizes.values) == (1, 1, 1)


@pytest.mark.parametrize("packed", [True, False])
def test_numbers_may_be_packed_or_not(packed):
    record = wire.example(
        [(b"a", wire.feature("int64", [-1, 5], packed)), (b"b", wire.feature("float", [0.5], packed))]
    )
    a, b = sorted(collector([record]).features())
    assert a.int64.points.tolist() == [-1, 5] and b.floats.points.tolist() == [0.5]


@pytest.mark.parametrize("missing", [0.0, 0.01, 0.6])
def test_records_that_are_alike_are_counted_as_others_are(missing):
    """The quick way is for records that are alike: with an unknown field in front, none is."""
    rows = table(3000, missing=missing)
    quick, slow = collector(rows), collector([wire.field(9, b"") + row for row in rows])
    for one, other in zip(sorted(quick.features()), sorted(slow.features()), strict=True):
        assert one[:8] == other[:8] and one.lengths.values == other.lengths.values
        for mine, theirs in ((one.int64, other.int64), (one.floats, other.floats)):
            if mine is not None:
                assert mine[:7] == theirs[:7] and mine.mean == pytest.approx(theirs.mean, rel=1e-13)


def test_what_follows_the_map_of_a_record_counts_among_records_that_are_alike():
    rows = [*ints(range(2000)), ints([1])[0] + ints([-7])[0], *ints(range(10))]
    assert only(collector(rows)).int64.minimum == -7


def test_a_list_in_pieces_is_one():
    pieces = wire.feature("int64", [1, 2]) + wire.feature("int64", [3])
    feature = only(collector([wire.example([(b"a", pieces)])]))
    assert feature.int64.points.tolist() == [1, 2, 3] and feature.lengths.points.tolist() == [3]


@pytest.mark.parametrize("values", [wire.field(1, bytes(7)), b"\x0d" + bytes(3)])
def test_a_float_that_is_cut_is_malformed(values):
    made = collector([*floats([1.0]), wire.example([(b"a", wire.field(2, values))])])
    assert made.others() == [("a malformed Example", 1, 0, 1)] and only(made).floats.values == 1


def test_records_that_are_no_examples_are_counted_by_what_they_are():
    png = b"\x89PNG\r\n\x1a\n" + bytes(20)
    made = collector([b"some words", png, b"more words"], file=2, first=5)
    assert made.examples == 0 and made.others() == [("a PNG image", 1, 2, 6), ("text", 2, 2, 5)]
    assert made.features() == []


def test_a_malformed_example_gives_no_values():
    bad = wire.example([(b"a", wire.feature("int64", [5])), (b"b", wire.field(3, wire.field(1, b"\xff")))])
    made = collector([*ints([1, 2]), bad])
    assert made.others() == [("a malformed Example", 1, 0, 2)]
    assert only(made).int64.points.tolist() == [1, 2]


def test_keys_beyond_the_first_ten_thousand_are_left_out_and_counted():
    record = wire.example([(b"k%d" % i, wire.feature("int64", [i])) for i in range(_core.MOST_FEATURES + 50)])
    made = collector([record, record])
    assert len(made.features()) == _core.MOST_FEATURES and made.entries_left_out == 100
    long = collector([wire.example([(b"k" * 2000, wire.feature("int64", [1]))])])
    assert long.features() == [] and long.entries_left_out == 1 and long.examples == 1


def test_columns_are_the_only_ones_looked_at():
    made = _core.StatsCollector(0, 0, [b"a"])
    made.add([example(a=("int64", [1]), b=("int64", [2]))] * 3)
    assert only(made).key == b"a" and only(made).present == 3 and made.examples == 3


def test_a_list_of_a_million_values_is_taken_block_by_block():
    values = np.arange(1_000_000)
    figures = only(collector([wire.example([(b"a", wire.feature("int64", values.tolist()))])])).int64
    assert (figures.values, figures.minimum, figures.maximum) == (1_000_000, 0, 999_999)
    assert figures.mean == pytest.approx(499_999.5, rel=1e-12)
