"""A process is killed in the middle of an epoch; another goes on where it stood, and asks for no more than that."""

import json
import os
import signal

import pytest

from tests.support.frames import frames, offsets
from tests.support.processes import run_code

RECORDS = [[b"%d-%04d-" % (file, i) + bytes(1000) for i in range(3000)] for file in range(5)]
BATCH = 70
HEAD = (0, 128)

# Reads on from the state in a file, if there is one, and notes the records and the state after each batch.
READ = f"""
import json
urls, options, given, notes, last = (json.loads(one) for one in sys.argv[1:])
reader = tf.ShardReader(urls, batch_size={BATCH}, storage_options=options, prefetch_bytes=2 << 20, **given)
if os.path.exists(notes):
    reader.load_state_dict(json.loads(open(notes).readlines()[-1])["state"])
for number, batch in enumerate(reader):
    with open(notes, "a") as file:
        seen = [record[:7].decode() for record in batch.tolist()]
        file.write(json.dumps({{"seen": seen, "state": reader.state_dict()}}) + "\\n")
    if number == last:
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize(
    "given",
    [{}, {"num_threads": 4}, {"shuffle_files": True, "seed": 3}],
    ids=str,
)
def test_a_killed_process_is_resumed_from_the_byte_where_it_stood(proxied_s3, s3_proxy, tmp_path, given):
    urls = [proxied_s3.put(f"{number}.tfrecord", frames(records)) for number, records in enumerate(RECORDS)]
    notes = str(tmp_path / "notes")

    def run(last=None):
        arguments = map(json.dumps, (urls, proxied_s3.options, given, notes, last))
        return run_code(READ, *arguments, timeout=120)

    others = s3_proxy.open_connections()
    killed = run(100)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    before = seen_in(notes)
    assert len(before) == 101 * BATCH
    s3_proxy.wait_for_connections(others)  # what the killed process had asked for may still be on its way
    s3_proxy.clear()
    resumed = run()
    assert resumed.returncode == 0, resumed.stderr
    requests = s3_proxy.requests()

    after = seen_in(notes)[len(before) :]
    every = [record[:7].decode() for records in RECORDS for record in records]
    assert sorted(before + after) == sorted(every)

    order = list(dict.fromkeys(one[0] for one in before + after))
    current = before[-1][0]
    passed, ahead = order[: order.index(current)], order[order.index(current) :]
    assert len(passed) == 2
    asked = {os.path.basename(request.path)[0] for request in requests}
    assert asked == set(ahead)
    place = offsets(RECORDS[int(current)])[int(after[0][2:6])]
    ranges = [request.range for request in requests if request.method == "GET" and f"/{current}." in request.path]
    assert ranges.count(HEAD) == 1  # it says how large the object is, and how it is compressed
    rest = sorted(one for one in ranges if one != HEAD)
    # One behind the other, up to the end.
    assert [place, *(end for _, end in rest)] == [*(start for start, _ in rest), offsets(RECORDS[int(current)])[-1]]


def seen_in(notes):
    with open(notes) as file:
        return [record for line in file for record in json.loads(line)["seen"]]
