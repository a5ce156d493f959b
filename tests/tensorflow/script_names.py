"""How much of what public scripts use the face has.

    python -m tests.tensorflow.script_names [FILE]

FILE holds a list of scripts, each with `names`, `values` (attributes of tensors) and `dataset` (methods), as JSON in
gzip; by default TF_SCRIPTS.json.gz of the shared folder. The last two lines say how many scripts find everything, and
how many names TensorFlow gives where it is installed.
"""

import collections
import gzip
import json
import subprocess
import sys

import tfrecord_fast.tensorflow as tf
from tests.support.paths import ROOT
from tfrecord_fast.tensorflow import fallback

SCRIPTS = ROOT.parent / "shared" / "TF_SCRIPTS.json.gz"
# What no script can find in TensorFlow either, if it runs without graphs.
LEFT_OUT = {
    "tf.get_literal_type": "no name of TensorFlow's: `tf` is another package there",
    "tf.to_literal": "as above",
    "tf.to_python_value": "as above",
    "tensor.op": "an error in TensorFlow, too, without graphs",
}
# What the face leaves to TensorFlow, by the last parts of its names, and why. docs/tensorflow.md has it in words.
OF_TENSORFLOW = {
    "train.Checkpoint": "a model's variables, in TensorFlow's own files",
    "train.latest_checkpoint": "as above",
    "TensorArray": "what a loop of a graph fills; a list does that here",
    "lookup.StaticHashTable": "tables of a graph; a dict in a function does that here",
    "lookup.KeyValueTensorInitializer": "as above",
    "lookup.TextFileInitializer": "as above",
    "make_ndarray": "takes TensorFlow's messages; `io.parse_tensor` takes their bytes",
    "Event.FromString": "TensorBoard's messages, which `tfrecord-fast cat` shows",
    "train.summary_iterator": "as above",
    "audio.decode_wav": "sound; Python's `wave` reads it",
    "autograph.experimental.do_not_convert": "there is no graph to convert to",
    "linalg.diag_part": "algebra; `numpy.diagonal`",
    "resource_loader.get_data_files_path": "the folder of TensorFlow's own files",
    "data.experimental.service.ShardingPolicy": "TensorFlow's servers of data",
    "image.sample_distorted_bounding_box": "random crops by boxes; `image.random_crop` is here",
}
__all__ = ["LEFT_OUT", "OF_TENSORFLOW", "SCRIPTS", "missing", "reason", "report"]


def reason(name):
    """Why a name is missing, or None."""
    return next((said for ending, said in OF_TENSORFLOW.items() if f".{name}".endswith(f".{ending}")), None)


def _tensors():
    ragged = tf.ragged.constant([[1], [2, 3]])
    vector = tf.constant([1])
    return vector, tf.constant("a"), ragged, tf.sparse.from_dense([1]), vector.shape, {}


def _found(name, cache):
    if name not in cache:
        found = tf
        try:
            for part in name.split(".")[1:]:
                found = getattr(found, part)
            cache[name] = True
        except AttributeError:
            cache[name] = False
    return cache[name]


def missing(scripts):
    """For each script what the face lacks."""
    cache, tensors, lists = {}, _tensors(), []
    methods = {*dir(tf.data.Dataset), *dir(tf.data.Iterator)}
    for script in scripts:
        names = [name for name in script["names"] if not _found(name, cache)]
        values = [f"tensor.{name}" for name in script["values"] if not any(hasattr(one, name) for one in tensors)]
        lacking = names + values + [f"dataset.{name}" for name in script["dataset"] if name not in methods]
        lists.append([name for name in lacking if name not in LEFT_OUT])
    return lists


def report(file=SCRIPTS):
    """(share of scripts that find everything without TensorFlow, what is missing and in how many scripts)."""
    with gzip.open(file) as opened:
        scripts = json.load(opened)
    lists = missing(scripts)
    return sum(not one for one in lists) / len(lists), collections.Counter(name for one in lists for name in one)


def main(file=SCRIPTS):
    """Without TensorFlow here; with it in a process of its own."""
    installed, fallback.installed = fallback.installed, lambda: False
    share, lacking = report(file)
    for name, count in sorted(lacking.items(), key=lambda item: (-item[1], item[0])):
        print(f"{count:4} {name}: {reason(name)}")
    for name, said in LEFT_OUT.items():
        print(f"   - {name}: {said}")
    print(f"{share:.1%} of scripts find all names without TensorFlow; {len(lacking)} names are missing")
    if not installed():
        return
    code = (
        f"from tests.tensorflow.script_names import report\nshare, names = report({str(file)!r})\nprint(share, *names)"
    )
    said = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    share, *names = said.split()
    print(f"{float(share):.1%} with it; missing: {' '.join(names) or 'none'}")


if __name__ == "__main__":
    main(*sys.argv[1:])
