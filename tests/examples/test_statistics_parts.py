"""Figures of parts that are merged, and what they remember of records: samples and copies."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support import wire_writer as wire
from tests.support.figures import check, collector, example, floats, ints, only, table
from tfrecord_fast import _core


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


def test_what_a_part_has_dropped_for_its_size_keeps_others_out():
    large = [example(a=("bytes", [bytes([i]) + bytes(1_900_000)])) for i in range(30)]
    small = [example(a=("bytes", [bytes([i])])) for i in range(40)]
    made = collector()
    made.merge(collector(large))
    made.merge(collector(small, first=30))
    assert made.sample() == collector([*large, *small]).sample()


def test_the_bytes_of_a_sample_are_bounded():
    made = collector([example(a=("bytes", [bytes([i]) + bytes(900_000)])) for i in range(60)])
    assert 0 < sum(len(record) for _, _, record in made.sample()) <= 32 << 20


def test_at_most_twenty_pairs_of_copies_are_shown():
    found = collector(ints([1] * 100)).repeated()
    assert len(found.pairs) == 20 and found.copies == 99


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
    assert all(again == (24, first[1] + 50_000 * first[0]) for first, again in ((p[:2], p[2:]) for p in found.pairs))


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


def test_features_of_parts_that_find_no_room_are_counted():
    def record(name, keys):
        return wire.example([(b"%s%d" % (name, i), wire.feature("int64", [i])) for i in range(keys)])

    made = collector([record(b"a", _core.MOST_FEATURES - 10)])
    made.merge(collector([record(b"b", 30)] * 2))
    assert len(made.features()) == _core.MOST_FEATURES and made.entries_left_out == 2 * 20
