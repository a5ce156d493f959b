"""More threads than processors: they work only while others wait for a disk, and the batches are the same."""

import os
import subprocess
import sys

import pytest

import tfrecord_fast as tf
from tests.faults import preload
from tests.support.frames import frames

pytestmark = pytest.mark.alone

# A disk on which each large read takes 4 ms, without work for the processor.
SLOW_DISK = """
#include <dlfcn.h>
#include <sys/uio.h>
#include <unistd.h>

namespace {
void Wait(size_t size) {
  if (size > 4096) usleep(4000);
}
}  // namespace

#define READS(name)                                                                  \\
  extern "C" ssize_t name(int file, void* data, size_t size, off_t place) {          \\
    static const auto real = reinterpret_cast<decltype(&name)>(dlsym(RTLD_NEXT, #name)); \\
    Wait(size);                                                                      \\
    return real(file, data, size, place);                                            \\
  }
#define READS_PARTS(name)                                                            \\
  extern "C" ssize_t name(int file, const iovec* parts, int count, off_t place) {    \\
    static const auto real = reinterpret_cast<decltype(&name)>(dlsym(RTLD_NEXT, #name)); \\
    Wait(parts[0].iov_len);                                                          \\
    return real(file, parts, count, place);                                          \\
  }
READS(pread)
READS(pread64)
READS_PARTS(preadv)
READS_PARTS(preadv64)
"""
COUNT = """
import os, sys
os.sched_getaffinity = lambda process: {0, 1}
import tfrecord_fast as tf

before, most = len(os.listdir("/proc/self/task")), 0
for batch in tf.ShardReader(sys.argv[1], batch_size=1000, num_threads=16):
    most = max(most, len(os.listdir("/proc/self/task")) - before)
print(most)
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("threads") / "a"
    path.write_bytes(frames([bytes(1000)] * 60_000))
    return path


@pytest.fixture(scope="module")
def slow_disk(tmp_path_factory):
    if not preload.available():
        pytest.skip("needs Linux and a C++ compiler")
    folder = tmp_path_factory.mktemp("slow")
    (folder / "slow.cc").write_text(SLOW_DISK)
    command = [*preload.COMPILER, "-D_GNU_SOURCE", "-shared", "-fPIC", "slow.cc", "-o", "slow.so", "-ldl"]
    subprocess.run(command, cwd=folder, check=True)
    return folder / "slow.so"


def most_threads(file, **environment):
    command = [sys.executable, "-c", COUNT, file]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="threads are counted in /proc")
def test_no_more_threads_start_than_fit_the_processors(file):
    """On a machine that is busy with something else, sleep and waiting for a processor look alike at times."""
    assert min(most_threads(file) for _ in range(4)) == 1


@pytest.mark.skipif("thread" in tf.build_info()["sanitizers"], reason="its own calls come first")
def test_while_a_disk_is_waited_for_more_threads_read(file, slow_disk):
    loaded = f"{os.environ.get('LD_PRELOAD', '')} {slow_disk}"  # after the library of a sanitizer
    assert most_threads(file, LD_PRELOAD=loaded) > 2


@pytest.mark.parametrize("threads", [1, 2, 3, 16, 64])
@pytest.mark.parametrize("compression", [None, "GZIP"])
def test_the_order_is_the_same(tmp_path, threads, compression):
    records = [b"%d" % n * (n % 300) for n in range(30_000)]
    paths = [tmp_path / f"{n}" for n in range(3)]
    for n, path in enumerate(paths):
        with tf.io.TFRecordWriter(path, compression) as writer:
            writer.write_batch(records[n::3])
    order = {"shuffle_buffer": 500, "seed": 3, "cycle_length": 2}

    def read(count):
        reader = tf.ShardReader(paths, batch_size=64, num_threads=count, prefetch_bytes=1 << 18, **order)
        return [record for batch in reader for record in batch]

    assert read(threads) == read(1)
