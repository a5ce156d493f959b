"""The commands over a store that `--storage-option` leads to."""

import functools
import json

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support.command import run_here
from tests.support.frames import HEADER, frames

RECORDS = tf.encode_examples({"x": np.arange(50)}).tolist()
SECRET = "not-to-be-shown-0123456789"


@pytest.fixture
def run(capsysbinary):
    return functools.partial(run_here, capsysbinary)


def flags(options):
    return [word for name, value in options.items() for word in ("--storage-option", f"{name}={value}")]


@pytest.fixture
def url(signed_s3):
    return signed_s3.put("a.tfrecord", frames(RECORDS))


def test_verify_takes_them(run, signed_s3, url):
    assert run("verify", url, *flags(signed_s3.options)) == (0, f"{url}: ok, 50 records (Example)\n", "")


def test_verify_names_what_is_damaged(run, signed_s3):
    data = bytearray(frames(RECORDS))
    data[HEADER + 1] ^= 1
    url = signed_s3.put("damaged.tfrecord", bytes(data))
    status, out, _ = run("verify", url, *flags(signed_s3.options))
    assert status == 1 and out.startswith(f"{url}: DAMAGED after 0 records") and "(record 0 at byte 0)" in out


def test_info_takes_them_for_a_pattern(run, signed_s3, url):
    status, out, _ = run("info", "--json", signed_s3.url("*.tfrecord"), *flags(signed_s3.options))
    found = json.loads(out)
    assert (status, found["path"], found["records"], found["bytes"]) == (0, url, 50, len(frames(RECORDS)))


def test_cat_takes_them(run, signed_s3, url):
    status, out, _ = run("cat", "--json", "--limit", "2", "--base64", url, *flags(signed_s3.options))
    assert status == 0 and [json.loads(line)["size"] for line in out.splitlines()] == [len(one) for one in RECORDS[:2]]


def test_schema_takes_them(run, signed_s3, url):
    status, out, _ = run("schema", url, *flags(signed_s3.options))
    assert status == 0 and "tf.io.FixedLenFeature([], tf.int64)" in out


def test_convert_takes_them_for_input_and_output(run, signed_s3, url):
    options = flags(signed_s3.options)
    assert run("convert", url, signed_s3.url("b.tfrecord.gz"), "--shards", "2", *options) == (0, "", "")
    reader = tf.ShardReader(signed_s3.url("b*"), storage_options=signed_s3.options, cycle_length=2)
    assert [record for batch in reader for record in batch.tolist()] == RECORDS


def test_convert_reads_them_into_another_format(run, signed_s3, url, tmp_path):
    assert run("convert", url, str(tmp_path / "a.jsonl"), *flags(signed_s3.options)) == (0, "", "")
    assert [json.loads(line) for line in (tmp_path / "a.jsonl").open()] == [{"x": number} for number in range(50)]


def test_true_and_false_are_no_text(run, s3):
    url = s3.put("a.tfrecord", frames(RECORDS))
    assert run("verify", url, *flags({**s3.options, "anon": "False"}))[0] == 0
    status, _, err = run("verify", url, *flags({**s3.options, "anon": "true"}))
    assert status == 2 and url in err  # the bucket is not public


@pytest.mark.parametrize("command", ["verify", "info", "cat", "schema", "convert"])
def test_no_credential_is_shown(run, signed_s3, url, command):
    options = {**signed_s3.options, "aws_secret_access_key": SECRET, "aws_access_key_id": "AKID" + SECRET}
    target = [signed_s3.url("b.tfrecord")] if command == "convert" else []
    status, out, err = run(command, url, *target, *flags(options))
    assert status == 2 and url in err and SECRET not in out + err
    assert signed_s3.keys() == ["a.tfrecord"]


@pytest.mark.parametrize("given", [SECRET, f"={SECRET}"])
def test_an_option_without_a_name_is_refused_without_showing_it(run, url, given):
    status, out, err = run("verify", url, "--storage-option", given)
    assert status == 2 and "expected NAME=VALUE" in err and SECRET not in out + err


def test_an_option_that_nobody_knows_is_an_error(run, url):
    status, out, err = run("verify", url, "--storage-option", f"no_such_option={SECRET}")
    assert status == 2 and "Traceback" not in err and SECRET not in out + err
