"""A small Ray on this machine, and what datasets hold."""

import contextlib
import os

import pyarrow
import ray
import ray.data

from tfrecord_fast.integrations.ray.tensors import as_lists


def started(start, stop):
    """What `start` returns. Ray gives a node half a minute to start, which a busy machine may exceed."""
    for _ in range(4):
        try:
            return start()
        except Exception as error:
            if "timed out" not in str(error):
                raise
            stop()
    return start()


@contextlib.contextmanager
def local_ray():
    """Ray with two cores. Blocks come in the order of the files."""
    os.environ.setdefault("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
    memory = 200 << 20
    started(
        lambda: ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=memory),
        ray.shutdown,
    )
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.execution_options.preserve_order = True
    try:
        yield
    finally:
        ray.shutdown()


def table_of(dataset):
    """All rows."""
    tables = [as_lists(ray.get(one)) for one in dataset.to_arrow_refs()]
    return pyarrow.concat_tables([table for table in tables if table.num_columns] or tables)
