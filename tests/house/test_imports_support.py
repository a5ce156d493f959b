"""What the tests of rooms rely on: imports are found wherever they are, and circles of them too."""

import pytest

from tests.support.imports import circles, imports_of, modules_of


@pytest.fixture
def package(tmp_path):
    folder = tmp_path / "house"
    (folder / "attic").mkdir(parents=True)
    (folder / "__init__.py").write_text('names = lazy_names(__name__, {".": "cellar", ".attic.box": "Box"})')
    (folder / "attic" / "__init__.py").write_text("from . import box")
    (folder / "attic" / "box.py").write_text("def work():\n    from ..cellar import wine\n")
    (folder / "cellar.py").write_text("if TYPE_CHECKING:\n    import house.attic.box\nimport os\n")
    return {(one.importer, one.imported) for one in imports_of(modules_of(folder))}


def test_what_a_lazy_table_names_is_imported(package):
    assert {("house", "house.cellar"), ("house", "house.attic.box")} <= package


def test_an_import_inside_a_function_counts(package):
    assert ("house.attic.box", "house.cellar") in package


def test_an_import_for_type_checkers_counts(package):
    assert ("house.cellar", "house.attic.box") in package


def test_a_circle_leaves_out_modules_that_only_lead_into_it(package):
    assert circles(package) == ["house.attic.box", "house.cellar"]


def test_without_a_circle_there_is_none():
    assert circles({("a", "b"), ("a", "c"), ("b", "c")}) == []
