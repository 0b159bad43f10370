"""Fixtures of the deployment tests: fake replicas, real replicas, and nginx in front of them."""
import http.server
import os
import pathlib
import shutil
import sys
import tempfile
import threading

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "integration"))
from proxy import ROOT, Proxy  # noqa: E402

os.environ["PATH"] += f":{ROOT}/build/tools/bin"  # programs that scripts/packages extracted from packages


class FakeReplica(http.server.ThreadingHTTPServer):
    """A fake replica. `answer` is a status, None to close the connection without a response, or "half" to close it in
    the middle of one."""
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer, self.requests, self.connections = 200, [], 0
        self.address = f"127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    def process_request(self, request, client_address):
        self.connections += 1
        super().process_request(request, client_address)

    def end(self):
        self.shutdown()
        self.server_close()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def respond(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.requests.append((self.path, self.headers, body))
        answer = self.server.answer
        if answer is None:
            self.close_connection = True
            return
        half = answer == "half"
        text = b"half" if half else b'{"replica": %d}' % answer
        self.close_connection = half
        self.send_response(200 if half else answer)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text) * (2 if half else 1)))
        if answer == 503:
            self.send_header("Retry-After", "7")
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = respond

    def log_message(self, *_):
        pass


@pytest.fixture
def fakes():
    """Three fake replicas."""
    replicas = [FakeReplica() for _ in range(3)]
    yield replicas
    for replica in replicas:
        replica.end()


@pytest.fixture
def directory():
    """A private directory. It is not pytest's tmp_path, which would be kept."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="frictiond-deploy."))
    yield path
    shutil.rmtree(path)


@pytest.fixture
def proxy(directory, fakes):
    with Proxy(directory, [replica.address for replica in fakes]) as running:
        yield running


@pytest.fixture(scope="session")
def program():
    return pathlib.Path(os.environ.get("FRICTIOND", pathlib.Path(__file__).parents[2] / "build/frictiond"))
