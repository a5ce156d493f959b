"""The first figures: README.md's table, the home page's, the charts, and the benchmark's newest result agree."""

import re
import sys

import pytest

from tests.support.paths import ROOT

sys.path.insert(0, str(ROOT / "docs" / "making"))
try:
    import results
    import speedup
finally:
    sys.path.pop(0)

README = (ROOT / "README.md").read_text()
HOME = (ROOT / "docs" / "index.md").read_text()
# Rows that the newest result has: their task and workload there.
MEASURED = {
    ("columns by `ShardReader`", "click logs"): ("parse", "ctr"),
    ("columns by `ShardReader`", "768 floats"): ("parse", "emb"),
    ("a PyTorch training loop", "click logs"): ("train-feed", "ctr"),
    ("a PyTorch training loop", "images"): ("train-feed", "img"),
}


def rows():
    """Yield the rows of README.md's table, each with its group."""
    group = ""
    for first, task, cell in speedup.table():
        group = first or group
        yield group, task, cell


def test_the_home_page_has_the_same_table_and_setting():
    table = "\n".join(line for line in README.partition("\n## How fast\n")[2].splitlines() if line[:1] == "|")
    setting = re.search(r"(?m)^Ratios to TensorFlow .*$", README)[0]
    assert table.partition("\n| to | use |")[0] in HOME
    assert setting in HOME


@pytest.mark.parametrize("name", ["speedup", "speedup-dark"])
def test_the_charts_are_those_that_the_script_draws(name):
    assert (ROOT / "docs" / "benchmarks" / f"{name}.svg").read_text() == speedup.drawn()[name]
    assert f"{name}.svg" in README and f"{name}.svg" in HOME


def test_figures_are_those_of_the_newest_result():
    tables = {(table.task, table.workload): table for table in results.load(results.newest()).tables}
    cells = {(group, task): cell for group, task, cell in rows()}
    assert cells.keys() >= MEASURED.keys()
    for name, task in MEASURED.items():
        table = tables[task]
        ratios = [table.ratio(row).median for row in table.timed if row.contender == "tensorflow"]
        assert cells[name] == f"{min(ratios):#.3g}×", name


def test_each_row_begins_with_a_ratio_and_no_rival_but_tensorflow_is_in_the_table():
    assert len(list(rows())) > 15
    assert all(speedup.ratio_of(cell) > 1 for _, _, cell in rows())
