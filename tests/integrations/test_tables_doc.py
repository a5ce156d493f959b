"""The code on docs/integrations/tables.md runs."""

import re

import pyarrow.parquet
import pytest

from tests.support.paths import ROOT

PAGE = (ROOT / "docs" / "integrations" / "tables.md").read_text()


def test_the_code_on_the_page_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = {}
    for code in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(compile(code, "tables.md", "exec"), names)
    assert sorted(names["dear"]["id"]) == [2, 3]
    assert len(names["records"]) == names["dataset"].num_rows == 3 and len(list(names["stream"])) == 3
    assert sorted(pyarrow.parquet.read_table("clicks.parquet")["price"].to_pylist()) == [1.5, 2.5, 3.5]
    assert "(3.5,)" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["arrow", "pandas", "polars", "duckdb", "huggingface"])
def test_the_extras_on_the_page_exist(name):
    assert f"`{name}` |" in PAGE and f"\n{name} = [" in (ROOT / "pyproject.toml").read_text()
