"""Changes the Python code, one small mistake at a time, and expects the tests that execute the line to notice.

    python -m tools.mutation.python [--count 200] [--seed 1] [--files data/,io/images.py] [--tests data,files] [--all]

A sample of the mistakes in tools/mutation/python_mutants.py, drawn by the seed; `--all` tries every one. For each, the
tests that execute its line (tools/mutation/covered.py notes which) run on a copy of the package until one fails, the
quick ones first; `--tests` takes only some folders of tests, whose lines are then noted sooner. Mistakes that change
nothing are listed in tools/mutation/equivalent.txt, with the reason.

The last line is `N mutants, M survived`, and the exit status 1 if M is not 0.
"""

import argparse
import random
import sys
import time

from tests.support.paths import ROOT
from tools.mutation import covered
from tools.mutation.native import killed_by
from tools.mutation.overlay import Overlay
from tools.mutation.python_mutants import mutants_of, with_mistake

PACKAGE = ROOT / "tfrecord_fast"
EQUIVALENT = ROOT / "tools" / "mutation" / "equivalent.txt"
MOST_SECONDS = 60  # of tests for one mutant, as they take without tracing, roughly
LIMIT = 300  # seconds after which a mutant hangs


def equivalent():
    """The names of mutants that change nothing that matters."""
    lines = EQUIVALENT.read_text().splitlines()
    return {line for line in lines if line and not line.startswith(("#", " "))}


def all_mutants(parts, known=None):
    """Those of the files whose path in the package starts with one of the parts, without the known equivalent ones."""
    known = equivalent() if known is None else known
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        file = str(path.relative_to(PACKAGE))
        if file.startswith(tuple(parts)):
            found += [mutant for mutant in mutants_of(file, path.read_text()) if mutant.name not in known]
    return found


def _is_of(test, project):
    """Return True for a test of that integration, or of a contract with its adapter."""
    file, _, adapter = test.partition("[")
    return file.startswith(f"tests/integrations/test_{project}") or (
        file.startswith("tests/contracts/") and project in adapter
    )


class Tests:
    """Which tests to run for a mutant."""

    def __init__(self, folders):
        covered.update(folders)
        self.noted = {name: noted for name, noted in covered.notes().items() if name.split("/")[1] in folders}

    def of(self, mutant):
        """Test names: those that execute the line, the quickest first; those of the whole file for lines that run on
        import. Then those of the integration, whose lines may run in processes of their own."""
        here, project = [], None
        if mutant.runs is not None:
            here = [name for name, (_, files) in self.noted.items() if mutant.runs in files.get(mutant.file, ())]
        here = here or [name for name, (_, files) in self.noted.items() if mutant.file in files]
        if mutant.file.startswith("integrations/"):
            project = mutant.file.removeprefix("integrations/").removesuffix(".py").split("/")[0]
        beside = [name for name in self.noted if project and _is_of(name, project)]
        chosen, seconds = [], 0.0
        for names in (here, set(beside) - set(here)):
            for name in sorted(names, key=lambda name: self.noted[name][0]):
                seconds += self.noted[name][0]
                if chosen and seconds > MOST_SECONDS:
                    return chosen
                chosen.append(name)
        return chosen


def run(chosen, folders):
    """How many survived the tests of these folders."""
    tests, overlay, survived = Tests(folders), Overlay("python"), 0
    names = overlay.folder / "tests.txt"
    for mutant in chosen:
        began = time.monotonic()
        selected = tests.of(mutant)
        file = overlay.package / mutant.file
        original = file.read_text()
        try:
            file.write_text(with_mistake(original, mutant))
            names.write_text("\n".join(selected) + "\n")
            passed, said = overlay.pytest([f"@{names}"], LIMIT) if selected else (True, "no test executes it")
            if not passed and "ERROR: not found" in said:  # a test's name may have a constant in it
                passed, said = overlay.pytest(sorted({name.split("::")[0] for name in selected}), LIMIT)
        finally:
            file.write_text(original)
        survived += passed
        word, how = ("SURVIVED", f"{len(selected)} tests passed") if passed else ("killed", killed_by(said))
        print(f"{word} {mutant.name} [line {mutant.line}] ({time.monotonic() - began:.0f} s): {how}", flush=True)
    return survived


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="tools.mutation.python", description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=200, help="how many are drawn")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--files", default="", help="beginnings of paths in tfrecord_fast/, separated by commas")
    parser.add_argument("--tests", default=",".join(covered.FOLDERS), help="folders in tests/, separated by commas")
    parser.add_argument("--only", default="", help="a word that the mutant's name has to hold")
    parser.add_argument("--all", action="store_true", help="every one, in order")
    parser.add_argument("--list", action="store_true", help="only lists them")
    args = parser.parse_args(arguments)
    chosen = [mutant for mutant in all_mutants(args.files.split(",")) if args.only in mutant.name]
    if not args.all and len(chosen) > args.count:
        chosen = random.Random(args.seed).sample(chosen, args.count)
    if args.list:
        for mutant in chosen:
            print(f"{mutant.name} [line {mutant.line}]")
    survived = 0 if args.list else run(chosen, args.tests.split(","))
    print(f"{len(chosen)} mutants, {survived} survived")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
