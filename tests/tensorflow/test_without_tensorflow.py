"""Stand-ins where TensorFlow is not installed: devices, strategies, Abseil's flags, and errors with advice."""

import logging
import sys
import types

import pytest

import tfrecord_fast.tensorflow as tf
from tfrecord_fast.tensorflow import app, compat, fallback, flags, machine, porting


def test_there_is_one_processor():
    for listed, position in (
        (machine.config.list_physical_devices, "/physical_device:CPU:0"),
        (machine.config.experimental.list_physical_devices, "/physical_device:CPU:0"),
        (machine.config.list_logical_devices, "/device:CPU:0"),
        (machine.config.experimental.list_logical_devices, "/device:CPU:0"),
    ):
        assert listed() == listed("CPU") == listed(device_type="CPU") == [(position, "CPU")] and listed("GPU") == []
        assert listed()[0].name == position and listed()[0].device_type == "CPU"


def test_settings_have_no_effect_and_questions_have_answers():
    config = machine.config
    for change in (config.experimental.set_memory_growth, config.run_functions_eagerly, config.optimizer.set_jit):
        assert change(True) is None
    assert config.experimental.get_memory_growth("x") is False
    assert machine.test.is_built_with_cuda() is machine.test.is_gpu_available(cuda_only=True) is False
    assert machine.test.gpu_device_name() == "" and machine.distribute.has_strategy() is False
    assert machine.version.VERSION == tf.__version__ and machine.get_logger() is logging.getLogger("tensorflow")
    decorated = machine.autograph.experimental.do_not_convert()(len)
    assert decorated is len


def test_a_strategy_has_one_replica():
    strategy = machine.distribute.MirroredStrategy(devices=["/gpu:0"])
    assert strategy.num_replicas_in_sync == 1 and strategy.cluster_resolver is None
    with strategy.scope() as inside:
        assert inside is strategy
    assert strategy.run(lambda: 1) == 1 and strategy.run(lambda a, b=0: a - b, (5,), {"b": 2}) == 3
    dataset = tf.data.Dataset.range(3)
    assert strategy.experimental_distribute_dataset(dataset) is dataset
    result = strategy.distribute_datasets_from_function(
        lambda context: (context.get_per_replica_batch_size(8), context.num_input_pipelines, context.input_pipeline_id)
    )
    assert result == (8, 1, 0) and machine.InputContext.num_replicas_in_sync == 1
    value = tf.constant([[1.0, 2.0], [5.0, 8.0]]).numpy()
    total, mean = machine.distribute.ReduceOp.SUM, machine.distribute.ReduceOp.MEAN
    assert strategy.reduce(total, value, None) is value and strategy.reduce("sum", value, axis=1).tolist() == [3, 13]
    assert strategy.reduce(total, value, 0).tolist() == [6, 10] and strategy.reduce(mean, value, 0).tolist() == [3, 5]
    assert strategy.experimental_local_results(value) == (value,)


def test_there_are_no_tpus():
    for refused in (
        machine.distribute.cluster_resolver.TPUClusterResolver,
        machine.distribute.TPUStrategy,
        machine.tpu.experimental.initialize_tpu_system,
        machine.config.experimental_connect_to_cluster,
    ):
        assert refused.__doc__ == "Raise ValueError."
        with pytest.raises(ValueError, match=r"provide a TPU Name.*TensorFlow, which is not installed"):
            refused(tpu="x")


def test_names_of_tensorflow_without_it():
    with fallback.without_tensorflow():
        assert not fallback.installed()
        assert tf.config is machine.config and tf.compat.v1.config is machine.config
        with pytest.raises(
            AttributeError, match=r"tf.nothing is not implemented by tfrecord_fast, and TensorFlow is not"
        ):
            _ = tf.nothing
        with pytest.raises(AttributeError, match=r"tf.compat.nothing"):
            _ = compat.nothing
        with pytest.raises(AttributeError, match=r"tf.data.experimental.nothing"):
            _ = tf.data.experimental.nothing
        assert porting._where("signal.stft")[0] == "tensorflow"
    assert compat.v2.io is tf.io and compat.v1 is tf.compat.v1


def test_names_with_underscores_are_no_ones():
    for module in (tf.io, tf.compat.v1, flags, tf.data.experimental):
        with pytest.raises(AttributeError, match="__nothing__"):
            _ = module.__nothing__
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = app.nothing


def test_the_names_of_a_module_are_listed():
    listed = dir(tf.io)
    assert listed == sorted(listed) and {"parse_example", "decode_raw", "FixedLenFeature"} <= set(listed)
    assert {"TFRecordWriter", "make_csv_dataset"} <= set(dir(tf.data.experimental))
    assert {"as_bytes", "as_str_any"} <= set(dir(compat)) and {"to_float", "data"} <= set(dir(tf.compat.v1))


@pytest.fixture
def abseil(monkeypatch):
    calls = []
    package = types.ModuleType("absl")
    package.app, package.flags = types.ModuleType("absl.app"), types.ModuleType("absl.flags")
    package.app.run = lambda main, argv: calls.append((main, argv))
    package.flags.DEFINE_string = "of Abseil"
    for name, module in (("absl", package), ("absl.app", package.app), ("absl.flags", package.flags)):
        monkeypatch.setitem(sys.modules, name, module)
    return package, calls


def test_flags_are_abseils(abseil, monkeypatch):
    package, calls = abseil
    assert app.flags is package.flags and flags.DEFINE_string == "of Abseil"
    app.run(len, ["a"])
    monkeypatch.setattr(sys.modules["__main__"], "main", repr, raising=False)
    app.run()
    assert calls == [(len, ["a"]), (repr, None)]


@pytest.mark.parametrize("what", ["app", "app.flags", "flags"])
def test_flags_need_abseil(what, monkeypatch):
    for name in ("absl", "absl.app", "absl.flags"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=f"tf.{what} needs Abseil"):
        {"app": lambda: app.run(len), "app.flags": lambda: app.flags, "flags": lambda: flags.FLAGS}[what]()
