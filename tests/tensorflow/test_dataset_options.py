"""Options of datasets: every field is set, read and merged as TensorFlow's, and refused as there."""

import copy
import pickle

import pytest

import tfrecord_fast as plain
from tests.support import live_tensorflow
from tests.tensorflow.side_by_side import differences, listed

SETUP = """
D = tf.data.Dataset
E = tf.data.experimental
n = D.range(3)
O = tf.data.Options
def opt(**k):
    o = O()
    for key, v in k.items():
        t = o
        *path, last = key.split('__')
        for p in path: t = getattr(t, p)
        setattr(t, last, v)
    return o
def got(ds, key):
    t = ds.options()
    for p in key.split('__'): t = getattr(t, p)
    return t
def fields(o): return sorted(x for x in dir(o) if not x.startswith('_'))
"""
CASES = r"""
fields(O()); fields(O().autotune); fields(O().experimental_distribute); fields(O().experimental_optimization)
fields(O().threading)
[str(getattr(O(), f)) for f in ['deterministic','experimental_deterministic','experimental_external_state_policy','experimental_slack','experimental_symbolic_checkpoint','experimental_warm_start','dataset_name','framework_type']]
[str(getattr(O().autotune, f)) for f in ['autotune_algorithm','cpu_budget','enabled','ram_budget','initial_parallelism','min_parallelism']]
[str(getattr(O().experimental_distribute, f)) for f in ['auto_shard_policy','num_devices']]
[str(getattr(O().threading, f)) for f in ['max_intra_op_parallelism','private_threadpool_size']]
[str(getattr(O().experimental_threading, f)) for f in ['max_intra_op_parallelism','private_threadpool_size']]
n.with_options(opt(deterministic=False)).options().deterministic
n.with_options(opt(experimental_deterministic=False)).options().deterministic
n.with_options(opt(deterministic=False)).options().experimental_deterministic
n.with_options(opt(deterministic=False)).with_options(opt(threading__private_threadpool_size=3)).options().deterministic
got(n.with_options(opt(deterministic=False)).with_options(opt(threading__private_threadpool_size=3)), 'threading__private_threadpool_size')
got(n.with_options(opt(threading__private_threadpool_size=3)).map(lambda x: x).with_options(opt(threading__max_intra_op_parallelism=1)), 'threading__private_threadpool_size')
got(n.with_options(opt(threading__private_threadpool_size=3)), 'experimental_threading__private_threadpool_size')
got(n.with_options(opt(experimental_threading__private_threadpool_size=3)), 'threading__private_threadpool_size')
got(n.with_options(opt(deterministic=False)).concatenate(n), 'deterministic')
got(n.concatenate(n.with_options(opt(deterministic=False))), 'deterministic')
got(n.with_options(opt(deterministic=True)).concatenate(n.with_options(opt(deterministic=False))), 'deterministic')
got(D.zip((n.with_options(opt(deterministic=True)),n.with_options(opt(deterministic=False)))), 'deterministic')
got(D.zip((n.with_options(opt(experimental_slack=True)),n.with_options(opt(deterministic=False)))), 'experimental_slack')
str(got(n.with_options(opt(experimental_distribute__auto_shard_policy=E.AutoShardPolicy.DATA)), 'experimental_distribute__auto_shard_policy'))
str(E.AutoShardPolicy.OFF); E.AutoShardPolicy.OFF.value; E.AutoShardPolicy.HINT.name; list(map(str,E.AutoShardPolicy))
O().merge(opt(deterministic=False)).deterministic
opt(deterministic=True).merge(opt(experimental_slack=True)).deterministic
opt(deterministic=True).merge(opt(deterministic=False)).deterministic
opt(deterministic=True) == opt(deterministic=True); opt(deterministic=True) == opt(deterministic=False); opt(foo=1)
opt(deterministic=3); opt(deterministic=None).deterministic; opt(threading__private_threadpool_size='a')
opt(experimental_optimization__foo=True); opt(experimental_distribute__auto_shard_policy=3); n.with_options(3)
n.with_options(None); n.options().deterministic; tf.data.ThreadingOptions().private_threadpool_size
fields(E.OptimizationOptions()); fields(E.DistributeOptions()); fields(E.ThreadingOptions())
fields(E.AutotuneOptions()); str(E.ExternalStatePolicy.WARN); [str(x) for x in E.ExternalStatePolicy]
[str(x) for x in E.AutotuneAlgorithm]
got(D.sample_from_datasets([n.with_options(opt(deterministic=False)), n]), 'deterministic')
got(n.with_options(opt(deterministic=False)).batch(2).map(lambda x: x).prefetch(1), 'deterministic')
got(n.with_options(opt(deterministic=False)).interleave(lambda x: D.range(2)), 'deterministic')
got(n.interleave(lambda x: D.range(2).with_options(opt(deterministic=False))), 'deterministic')
"""  # noqa: E501 - one expression on a line


@pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")
def test_options_are_tensorflows():
    assert not differences(listed(CASES), SETUP)


def test_the_options_of_a_dataset_are_a_copy():
    dataset = plain.data.Dataset.range(3).with_options(plain.data.Options())
    dataset.options().deterministic = True
    dataset.options().threading.private_threadpool_size = 3
    assert dataset.options() == plain.data.Options()


def test_later_changes_of_options_do_not_show():
    options = plain.data.Options()
    dataset = plain.data.Dataset.range(3).with_options(options)
    options.deterministic = True
    assert dataset.options().deterministic is None


def test_options_are_copied_and_shown():
    options = plain.data.Options()
    options.threading.private_threadpool_size = 4
    options.experimental_distribute.auto_shard_policy = plain.data.experimental.AutoShardPolicy.OFF
    assert pickle.loads(pickle.dumps(options)) == options == copy.deepcopy(options)
    assert "private_threadpool_size=4" in repr(options) and "deterministic" not in repr(options)


def test_tensorflows_options_are_taken():
    tensorflow = pytest.importorskip("tensorflow")
    options = tensorflow.data.Options()
    options.deterministic = False
    options.threading.private_threadpool_size = 2
    options.experimental_distribute.auto_shard_policy = tensorflow.data.experimental.AutoShardPolicy.DATA
    actual = plain.data.Dataset.range(3).with_options(options).options()
    assert (actual.deterministic, actual.threading.private_threadpool_size) == (False, 2)
    assert actual.experimental_distribute.auto_shard_policy is plain.data.experimental.AutoShardPolicy.DATA
