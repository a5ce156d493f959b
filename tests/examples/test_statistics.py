"""The core's figures of records: equal to NumPy's where they are exact, and as near as is said where they are not."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfrecord_fast as tf
from tests.support import wire_writer as wire
from tfrecord_fast import _core


def collector(*batches, file=0, first=0):
    made = _core.StatsCollector(file, first, [])
    for records in batches:
        made.add(list(records))
    return made


def example(**features):
    return wire.example([(name.encode(), wire.feature(*value)) for name, value in features.items()])


def ints(values):
    return [example(a=("int64", [int(value)])) for value in values]


def floats(values):
    return [example(a=("float", [float(value)])) for value in values]


def only(made):
    (feature,) = made.features()
    return feature


def check(figures, values):
    """Against NumPy, in float64."""
    values = np.asarray(values)
    wide = values[~np.isnan(values)].astype(np.float64)
    assert (figures.values, figures.nans) == (len(values), len(values) - len(wide))
    assert figures.zeros == np.count_nonzero(wide == 0)
    if len(wide):
        assert figures.minimum == values[~np.isnan(values)].min() and figures.maximum == values[~np.isnan(values)].max()
    finite = wide[np.isfinite(wide)]
    if len(finite):
        mean = math.fsum(finite) / len(finite)
        assert figures.mean == pytest.approx(mean, rel=1e-12, abs=1e-12 * np.abs(finite).mean())
        std = math.sqrt(math.fsum((x - mean) ** 2 for x in finite) / len(finite))
        assert figures.std == pytest.approx(std, rel=1e-12, abs=1e-12 * np.abs(finite).max())
    assert figures.weights.sum() == len(wide) and (figures.points[1:] >= figures.points[:-1]).all()
    different = len(np.unique(values[~np.isnan(values)]))
    if figures.exact:
        assert figures.distinct == different
        expected, counts = np.unique(values[~np.isnan(values)], return_counts=True)
        assert figures.points.tolist() == expected.tolist() and figures.weights.tolist() == counts.tolist()
    else:
        assert different > 1000 and figures.distinct == pytest.approx(different, rel=0.06)


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=40))
def test_few_integers_are_all_counted(values):
    made = only(collector(ints(values))) if values else None
    if made:
        check(made.int64, np.array(values, np.int64))


@given(st.lists(st.floats(width=32), min_size=1, max_size=40))
def test_few_floats_are_all_counted(values):
    check(only(collector(floats(values))).floats, np.array(values, np.float32))


@pytest.mark.parametrize("seed", range(3))
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
def test_many_integers_have_numpys_moments(draw, seed):
    values = draw(np.random.default_rng(seed), 30_000).astype(np.int64)
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


def table(n, seed=0, missing=0.0):
    """Records of a table, some of which lack a column."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        entries = [(b"x%d" % k, wire.feature("int64", [int(rng.integers(-5, 2**12))])) for k in range(4)]
        entries += [(b"y%d" % k, wire.feature("float", [float(np.float32(rng.normal()))])) for k in range(4)]
        if rng.random() < missing:
            del entries[int(rng.integers(0, 8))]
        if i % 97 == 5:
            entries.append((b"z", wire.feature("bytes", [b"rare"])))
        rows.append(wire.example(entries))
    return rows


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


def described(made):
    return [str(made.features()), str(made.sizes()), str(made.repeated()), str(made.others())]


def test_the_same_parts_give_the_same_figures():
    rows = table(4000)

    def total(parts):
        made = collector()
        for start, end in parts:
            made.merge(collector(rows[start:end], first=start))
        return made

    parts = [(0, 1000), (1000, 1500), (1500, 4000)]
    assert described(total(parts)) == described(total(parts))
    # What is exact does not depend on the parts either.
    for one, other in zip(sorted(total(parts).features()), sorted(collector(rows).features()), strict=True):
        assert one[:8] == other[:8]
        for mine, theirs in ((one.int64, other.int64), (one.floats, other.floats)):
            if mine is not None:
                assert mine[:7] == theirs[:7] and mine.exact == theirs.exact and mine.distinct == theirs.distinct
                assert mine.mean == pytest.approx(theirs.mean, rel=1e-12) and mine.std == pytest.approx(theirs.std)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(0, 3000), min_size=0, max_size=5), st.integers(0, 5))
def test_merged_parts_are_the_whole(cuts, seed):
    values = np.random.default_rng(seed).integers(0, 1 << (4 + 3 * seed), 3000)
    bounds = sorted({0, 3000, *cuts})
    made = collector(ints(values[: bounds[1]]))
    hints = made.hints()
    for start, end in itertools.pairwise(bounds[1:]):
        part = _core.StatsCollector(0, start, [], hints)
        part.add(ints(values[start:end]))
        made.merge(part)
    check(only(made).int64, values)


def zoo(n, seed):
    """Records of every form, with copies."""
    rng = np.random.default_rng(seed)
    forms = [
        lambda k: b"",
        lambda k: wire.example([(b"a", wire.feature("int64", list(range(k))))]),
        lambda k: wire.example([(b"a", wire.feature(None, [])), (b"b", wire.feature("bytes", [b"t%d" % k] * k))]),
        lambda k: wire.example([(b"a", wire.feature("float", [k / 2]))]),
        lambda k: wire.example([(b"k%d" % k, wire.feature("int64", [])), (b"k" * 2000, wire.feature("int64", [1]))]),
        lambda k: wire.sequence_example(
            [(b"c", wire.feature("int64", [k]))], [(b"s", [wire.feature("int64", list(range(i))) for i in range(k)])]
        ),
        lambda k: b"text number %d" % k,
        lambda k: b"\x89PNG\r\n\x1a\n" + bytes(20 + k),
        lambda k: wire.example([(b"b", wire.feature("bytes", [bytes(2_200_000)]))]),
    ]
    chances = np.array([1, 5, 5, 5, 5, 5, 3, 3, 0.1])
    return [
        forms[i](int(k))
        for i, k in zip(rng.choice(9, n, p=chances / chances.sum()), rng.integers(0, 7, n), strict=True)
    ]


def all_of(made):
    rest = (made.examples, made.sequences, made.empty, made.entries_left_out, made.passed_over, sorted(made.others()))
    return [str(sorted(made.features())), str(made.sizes()), str(made.repeated()), made.sample(), rest]


@pytest.mark.parametrize("seed", range(4))
def test_parts_of_records_of_every_form_are_the_whole(seed):
    records = zoo(600, seed)
    bounds = [0, *sorted(np.random.default_rng(seed).integers(0, 600, 5).tolist()), 600]
    made = collector()
    for start, end in itertools.pairwise(bounds):
        part = collector(records[start:end], first=start)
        for later in (start, (start + end) // 2):  # parts of parts, which may have no record
            part.merge(collector(first=later))
        made.merge(part)
    assert all_of(made) == all_of(collector(records))


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


def test_the_sample_is_in_the_order_of_files_and_records():
    made = collector(ints(range(50)), file=0, first=100)
    made.merge(collector(ints(range(50)), file=1, first=0))
    places = [(file, number) for file, number, _ in made.sample()]
    assert places == sorted(places) and {file for file, _ in places} == {0, 1}


@pytest.mark.parametrize("seed", range(5))
def test_a_sample_of_large_and_small_records_is_that_of_the_whole(seed):
    large = np.random.default_rng(seed).random(60) < 0.6
    records = [example(a=("bytes", [bytes([i]) + bytes(1_900_000 * int(large[i]))])) for i in range(60)]
    made = collector(records[:30])
    made.merge(collector(records[30:], first=30))
    assert made.sample() == collector(records).sample()


def test_at_most_twenty_pairs_of_copies_are_shown():
    found = collector(ints([1] * 100)).repeated()
    assert len(found.pairs) == 20 and found.copies == 99


def test_the_bytes_of_a_sample_are_bounded():
    made = collector([example(a=("bytes", [bytes([i]) + bytes(900_000)])) for i in range(60)])
    assert 0 < sum(len(record) for _, _, record in made.sample()) <= 32 << 20


def test_copies_of_more_records_than_are_kept_are_estimated_in_parts():
    """Both parts keep a sample only; so does what they are merged into."""
    parts = [collector(), collector()]
    for number, part in enumerate(parts):
        for file in range(24):
            part.merge(
                collector([b"%d" % i for i in range(file * 50_000, (file + 1) * 50_000)], file=24 * number + file)
            )
    made = collector()
    for part in parts:
        made.merge(part)
    found = made.repeated()
    assert found.halvings == 1 and found.copies == found.repeated == found.different
    assert found.different << 1 == pytest.approx(1_200_000, rel=0.02)


@pytest.mark.parametrize("many", [0, 3000])
def test_special_floats_of_parts_are_added(many):
    special = np.array([np.nan, np.inf, np.inf, -np.inf, 0.0], np.float32)
    parts = [np.concatenate([np.arange(many, dtype=np.float32), special]) for _ in range(2)]
    made = collector(floats(parts[0]))
    made.merge(collector(floats(parts[1])))
    figures = only(made).floats
    check(figures, np.concatenate(parts))
    assert (figures.nans, figures.positive_infinities, figures.negative_infinities) == (2, 4, 2)


def test_parts_of_infinities_alone_leave_the_mean():
    values = np.arange(3000, dtype=np.float32)
    made = collector(floats(values))
    parts = [_core.StatsCollector(0, 3000 + i, [], made.hints()) for i in range(2)]
    for part in parts:
        part.add(floats([np.inf]))
    parts[0].merge(parts[1])
    made.merge(parts[0])
    check(only(made).floats, np.append(values, [np.inf, np.inf]))


def test_copies_of_records_are_found_with_their_places():
    rows = ints(range(100))
    made = collector()
    made.merge(collector(rows, file=0))
    made.merge(collector([rows[3], *ints([1000])], file=1, first=7))
    found = made.repeated()
    assert (found.halvings, found.different, found.repeated, found.copies, found.most) == (0, 101, 1, 1, 2)
    assert found.pairs == [(0, 3, 1, 7)]


def test_copies_among_more_records_than_are_kept_are_estimated():
    made = collector()
    for part in range(24):
        made.merge(collector([b"%d" % i for i in range(part * 50_000, (part + 1) * 50_000)], file=part))
    made.merge(collector([b"%d" % i for i in range(100_000)], file=24))
    found = made.repeated()
    assert found.halvings == 1 and found.different << 1 == pytest.approx(1_200_000, rel=0.02)
    assert found.copies << 1 == pytest.approx(100_000, rel=0.05)


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


def test_the_sample_of_records_depends_on_their_places_only():
    rows = ints(range(1000))
    one, two = collector(), collector()
    for start in range(0, 1000, 250):
        one.merge(collector(rows[start : start + 250], first=start))
    for start in (0, 10, 999):
        two.merge(collector(rows[start : {0: 10, 10: 999, 999: 1000}[start]], first=start))
    assert one.sample() == two.sample() and len(one.sample()) == 64
    assert all(record == rows[number] for _, number, record in one.sample())


def test_records_too_large_for_the_sample_are_counted():
    made = collector([example(a=("bytes", [bytes(3_000_000)])), *ints([1])])
    assert made.passed_over == 1 and len(made.sample()) == 1


def test_keys_beyond_the_first_ten_thousand_are_left_out_and_counted():
    record = wire.example([(b"k%d" % i, wire.feature("int64", [i])) for i in range(_core.MOST_FEATURES + 50)])
    made = collector([record, record])
    assert len(made.features()) == _core.MOST_FEATURES and made.entries_left_out == 100
    long = collector([wire.example([(b"k" * 2000, wire.feature("int64", [1]))])])
    assert long.features() == [] and long.entries_left_out == 1 and long.examples == 1


def test_features_of_parts_that_find_no_room_are_counted():
    def record(name, keys):
        return wire.example([(b"%s%d" % (name, i), wire.feature("int64", [i])) for i in range(keys)])

    made = collector([record(b"a", _core.MOST_FEATURES - 10)])
    made.merge(collector([record(b"b", 30)] * 2))
    assert len(made.features()) == _core.MOST_FEATURES and made.entries_left_out == 2 * 20


def test_columns_are_the_only_ones_looked_at():
    made = _core.StatsCollector(0, 0, [b"a"])
    made.add([example(a=("int64", [1]), b=("int64", [2]))] * 3)
    assert only(made).key == b"a" and only(made).present == 3 and made.examples == 3


def test_a_list_of_a_million_values_is_taken_block_by_block():
    values = np.arange(1_000_000)
    figures = only(collector([wire.example([(b"a", wire.feature("int64", values.tolist()))])])).int64
    assert (figures.values, figures.minimum, figures.maximum) == (1_000_000, 0, 999_999)
    assert figures.mean == pytest.approx(499_999.5, rel=1e-12)
