"""Requests that hang, signals that come meanwhile, and processes that are forked."""

import json
import signal
import time

import pytest

from tests.support.frames import frames
from tests.support.processes import run_code

from .proxy import EVERY_TIME, Fault

WAYS = {
    "open": 'tf.io.gfile.GFile(url, "rb", storage_options=options).read(1)',
    "read_file": "tf.io.read_file(url, storage_options=options)",
    "stat": "tf.io.gfile.stat(url, storage_options=options)",
    "exists": "tf.io.gfile.exists(url, storage_options=options)",
    "glob": 'tf.io.gfile.glob(url + "*", storage_options=options)',
    "listdir": 'tf.io.gfile.listdir(url.rsplit("/", 1)[0], storage_options=options)',
    "reader": "list(tf.ShardReader(url, storage_options=options))",
    "dataset": "list(tf.data.TFRecordDataset(url, storage_options=options))",
    "indexed": "len(tf.IndexedReader(url, storage_options=options))",
    "index": "tf.RecordIndex.build(url, storage_options=options)",
    "count": "tf.ShardReader(url, storage_options=options).num_records",
    "write_file": 'tf.io.write_file(url + "2", b"x", storage_options=options)',
    "remove": "tf.io.gfile.remove(url, storage_options=options)",
    "copy": 'tf.io.gfile.copy(url, url + "2", storage_options=options)',
}

# A handler of a signal raises what looks like an error of a store, which would be tried again.
ALARMED = """
url, options, way = (json.loads(one) for one in sys.argv[1:])
def ring(number, frame):
    raise TimeoutError("mine")
signal.signal(signal.SIGALRM, ring)
signal.setitimer(signal.ITIMER_REAL, 1)
start = time.monotonic()
try:
    exec(way)
except TimeoutError as error:
    print(error.args, round(time.monotonic() - start, 1), flush=True)
os._exit(0)
"""


@pytest.mark.parametrize("way", WAYS)
def test_what_a_handler_raises_while_a_request_hangs_comes_at_once(proxied_s3, s3_proxy, way):
    url = proxied_s3.put("x", frames([b"a"]))
    s3_proxy.configure(Fault("stall", times=EVERY_TIME))
    arguments = map(json.dumps, (url, proxied_s3.options, WAYS[way]))
    done = run_code("import json\n" + ALARMED, *arguments, timeout=60)
    assert done.stdout.startswith("('mine',) "), (done.stdout, done.stderr)
    assert float(done.stdout.split()[-1]) < 3


@pytest.mark.parametrize("way", ["reader", "open", "write_file", "glob", "index", "count"])
def test_an_interrupt_ends_a_process_whose_requests_hang(proxied_s3, s3_proxy, way):
    url = proxied_s3.put("x", frames([b"a"]))
    s3_proxy.configure(Fault("stall", times=EVERY_TIME))
    code = (
        "import json\nurl, options, way = (json.loads(one) for one in sys.argv[1:])\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # in the background, it would be ignored
        "threading.Timer(1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
        "exec(way)\n"
    )
    start = time.monotonic()
    done = run_code(code, *map(json.dumps, (url, proxied_s3.options, WAYS[way])), timeout=60)
    assert done.returncode == -signal.SIGINT and "KeyboardInterrupt" in done.stderr, done.stderr
    assert time.monotonic() - start < 20


FORKED = """
import json, warnings
warnings.simplefilter("ignore")
url, options, way = (json.loads(one) for one in sys.argv[1:])
if way == "read":
    file = tf.io.gfile.GFile(url, "rb", storage_options=options)
    file.read(10)
else:
    file = tf.io.gfile.GFile(url, "wb", storage_options=options)
    file.write(b"x" * (12 << 20))  # parts are under way
child = os.fork()
if child == 0:
    signal.alarm(20)
    try:
        file.read() if way == "read" else file.write(b"y") if way == "write" else file.close()
    except tf.errors.FailedPreconditionError as error:
        print(error, flush=True)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
if way != "read":
    file.write(b"z")
    file.close()
else:
    assert len(file.read()) == (9 << 20) - 10
"""


@pytest.mark.parametrize("way", ["read", "write", "close"])
def test_a_forked_process_can_not_use_what_is_open(s3, way):
    url = s3.put("x", bytes(9 << 20))
    done = run_code(FORKED, *map(json.dumps, (url, s3.options, way)), timeout=60)
    assert done.returncode == 0, done.stderr
    assert f"{url}: opened by the parent process" in done.stdout
    if way != "read":
        assert s3.get("x") == b"x" * (12 << 20) + b"z" and s3.uploads() == []
