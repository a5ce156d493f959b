"""Report which of the names that public scripts use exist in `tfrecord_fast.tensorflow`.

    python -m tests.tensorflow.script_names [FILE]

FILE holds a list of scripts, each with `names`, `values` (attributes of tensors) and `dataset` (methods), as JSON in
gzip; by default TF_SCRIPTS.json.gz of the shared folder. The last two lines report how many scripts find everything,
without and with TensorFlow.
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
# Names that TensorFlow lacks as well, without graphs.
LEFT_OUT = {
    "tf.get_literal_type": "not a name of TensorFlow: `tf` is another package there",
    "tf.to_literal": "as above",
    "tf.to_python_value": "as above",
    "tensor.op": "an error in TensorFlow as well, without graphs",
}
# Names left to TensorFlow, by their endings, and the reasons. docs/tensorflow.md describes them.
OF_TENSORFLOW = {
    "train.Checkpoint": "a model's variables, in TensorFlow's own files",
    "train.latest_checkpoint": "as above",
    "Event.FromString": "TensorBoard's messages, which `tfrecord-fast cat` shows",
    "train.summary_iterator": "as above",
    "autograph.experimental.do_not_convert": "without graphs, it has no meaning",
    "resource_loader.get_data_files_path": "the folder of TensorFlow's own files",
    "data.experimental.service.ShardingPolicy": "TensorFlow's servers of data",
    "image.sample_distorted_bounding_box": "random crops by boxes; `image.random_crop` is here",
}
__all__ = ["LEFT_OUT", "OF_TENSORFLOW", "SCRIPTS", "missing", "reason", "report"]


def reason(name):
    """Return the reason why a name is missing, or None."""
    return next((why for ending, why in OF_TENSORFLOW.items() if f".{name}".endswith(f".{ending}")), None)


def _tensors():
    ragged = tf.ragged.constant([[1], [2, 3]])
    vector = tf.constant([1])
    return vector, tf.constant("a"), ragged, tf.sparse.from_dense([1]), vector.shape, {}


def _found(name, cache):
    if name not in cache:
        actual = tf
        try:
            for piece in name.split(".")[1:]:
                actual = getattr(actual, piece)
            cache[name] = True
        except AttributeError:
            cache[name] = False
    return cache[name]


def missing(scripts):
    """Return the missing names of each script."""
    cache, tensors, lists = {}, _tensors(), []
    methods = {*dir(tf.data.Dataset), *dir(tf.data.Iterator)}
    for script in scripts:
        names = [name for name in script["names"] if not _found(name, cache)]
        values = [f"tensor.{name}" for name in script["values"] if not any(hasattr(item, name) for item in tensors)]
        lacking = names + values + [f"dataset.{name}" for name in script["dataset"] if name not in methods]
        lists.append([name for name in lacking if name not in LEFT_OUT])
    return lists


def report(file=SCRIPTS):
    """Return the share of scripts that find everything, and the number of scripts for each missing name."""
    with gzip.open(file) as opened:
        scripts = json.load(opened)
    lists = missing(scripts)
    return sum(not item for item in lists) / len(lists), collections.Counter(name for item in lists for name in item)


def main(file=SCRIPTS):
    """Report without TensorFlow here, and with it in another process."""
    installed, fallback.installed = fallback.installed, lambda: False
    share, lacking = report(file)
    for name, count in sorted(lacking.items(), key=lambda item: (-item[1], item[0])):
        print(f"{count:4} {name}: {reason(name)}")
    for name, why in LEFT_OUT.items():
        print(f"   - {name}: {why}")
    print(f"{share:.1%} of scripts find all names without TensorFlow; {len(lacking)} names are missing")
    if not installed():
        return
    code = (
        f"from tests.tensorflow.script_names import report\nshare, names = report({str(file)!r})\nprint(share, *names)"
    )
    output = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    share, *names = output.split()
    print(f"{float(share):.1%} with it; missing: {' '.join(names) or 'none'}")


if __name__ == "__main__":
    main(*sys.argv[1:])
