"""Compares the figures of `tfrecord-fast stats` with those of TensorFlow Data Validation, which needs old packages.

    python3 -m venv tfdv
    tfdv/bin/pip install --prefer-binary tensorflow-data-validation==1.16.1 "apache-beam[gcp]==2.59.0" \\
        pyarrow==10.0.1 "numpy<2" "protobuf<5"
    python -m tools.against_tfdv --python tfdv/bin/python FILE ...

It prints each figure that differs, and then how many were compared. TFDV's medians come from a sketch, so these are
compared by how many values lie between the two answers: 1 % at most. Where strings have very many different values,
`stats` estimates how many there are (5 % at most is allowed) and names only frequent ones.
"""

import argparse
import json
import subprocess
import sys

import numpy as np
import pyarrow.compute as pc

from tfrecord_fast import read_table

SCRIPT = """
import json, sys
import tensorflow_data_validation as tfdv
from google.protobuf.json_format import MessageToDict
made = tfdv.generate_statistics_from_tfrecord(sys.argv[1], stats_options=tfdv.StatsOptions(num_top_values=20))
json.dump(MessageToDict(made, preserving_proto_field_name=True), sys.stdout)
"""
MOST_BETWEEN = 0.01  # of the values
MOST_OFF = 0.05  # of an estimate


def said_by(command):
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)


def figures_of_tfdv(found):
    """{figure: value} of one feature; zeros and what is empty are left out of the message, so that they are 0 here."""
    numbers, strings = found.get("num_stats"), found.get("string_stats", {})
    common = (numbers or strings)["common_stats"]
    figures = {
        "present": int(common.get("num_non_missing", 0)),
        "missing": int(common.get("num_missing", 0)),
        "values": int(common.get("tot_num_values", 0)),
        "fewest values": int(common.get("min_num_values", 0)),
        "most values": int(common.get("max_num_values", 0)),
    }
    if numbers is None:
        figures["distinct"] = int(strings.get("unique", 0))
        figures["mean length"] = strings.get("avg_length", 0.0)
        figures["top"] = [int(top["frequency"]) for top in strings.get("top_values", [])]
    else:
        figures.update({name: numbers.get(name, 0) for name in ("mean", "min", "max", "median")})
        figures["std"] = numbers.get("std_dev", 0)
        figures["zeros"] = int(numbers.get("num_zeros", 0))
        figures["nan"] = int(numbers["histograms"][0].get("num_nan", 0))
    return figures


def figures_of_ours(found):
    """The same of what `stats --json` prints."""
    lengths = found["values_per_record"]
    figures = {
        "present": found["present"],
        "missing": found["missing"],
        "values": found["values"],
        "fewest values": lengths["min"],
        "most values": lengths["max"],
    }
    if found["kind"] == "bytes":
        figures["distinct"] = found["distinct"]
        figures["mean length"] = found["value_bytes"]["mean"]
        figures["top"] = [top["count"] for top in found["top"]]
    else:
        numbers = found[found["kind"]]
        figures.update({name: numbers[name] for name in ("mean", "min", "max", "std", "zeros")})
        figures["median"] = numbers["quantiles"]["0.5"]
        figures["nan"] = numbers.get("nan", 0)
    return figures


def agree(figure, ours, theirs, values, exact):
    if not exact and figure == "distinct":
        return abs(ours - theirs) <= MOST_OFF * theirs
    if not exact and figure == "top":
        return ours == theirs[: len(ours)]
    if figure == "median":
        return abs(np.sum(values < ours) - np.sum(values < theirs)) <= MOST_BETWEEN * len(values)
    if isinstance(theirs, float):
        return bool(np.isclose(ours, theirs, rtol=1e-6))  # TFDV's means of lengths are float32
    return ours == theirs


def flat(column):
    """The values of an Arrow column, of whichever depth."""
    while hasattr(column.type, "value_type"):
        column = pc.list_flatten(column)
    return column.drop_null().to_numpy()


def compare(python, file):
    """(how many figures were compared, how many differ)."""
    theirs = said_by([python, "-c", SCRIPT, file])["datasets"][0]
    ours = said_by([sys.executable, "-m", "tfrecord_fast", "stats", "--json", file])
    table = read_table([file])
    compared = differ = 0
    for found in theirs["features"]:
        name = found["path"]["step"][0]
        common = (found.get("num_stats") or found.get("string_stats"))["common_stats"]
        if not int(common.get("tot_num_values", 0)):
            continue  # TFDV gives a feature without values a type of its own choice
        expected, got = figures_of_tfdv(found), figures_of_ours(ours["features"][name])
        values = flat(table[name]) if found.get("num_stats") else None
        for figure, value in expected.items():
            compared += 1
            if not agree(figure, got[figure], value, values, ours["features"][name]["exact"]):
                differ += 1
                print(f"{file}: {name}: {figure} is {got[figure]}, TFDV has {value}")
    return compared, differ


def main():
    parser = argparse.ArgumentParser(prog="tools.against_tfdv", description=__doc__.split("\n")[0])
    parser.add_argument("--python", required=True, help="of the environment that TFDV is in")
    parser.add_argument("files", nargs="+")
    args = parser.parse_args()
    sums = [compare(args.python, file) for file in args.files]
    differ = sum(one[1] for one in sums)
    print(f"{len(sums)} files, {sum(one[0] for one in sums)} figures, {differ} differ")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
