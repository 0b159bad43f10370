"""A server whose log and memory can be inspected, for suites that send bad requests."""
import http.client
import json
import os
import pathlib
import signal
import subprocess
from urllib.parse import urlsplit

import pytest

from conftest import READY, ROOT
from mutations import FINE

MIB = 1 << 20
EVALUATE = '/v1/evaluate'


class Server:
    def __init__(self, log):
        self.log = log
        with open(log, 'wb') as out:
            self.process = subprocess.Popen([str(ROOT / os.environ.get('FRICTIOND', 'build/frictiond')), '--port', '0'],
                                            stdout=subprocess.PIPE, stderr=out, text=True)
        self.address = urlsplit(self.process.stdout.readline().rstrip('\n')[len(READY):])
        self.connection = None

    def send(self, method, path, body, headers=None):
        """(status, headers by lower-case name, body), on a connection that stays open."""
        try:
            return self.exchange(method, path, body, headers)
        except (http.client.HTTPException, ConnectionError):
            self.connection = None  # it was idle for too long, or the server refused a body before the body ended
            return self.exchange(method, path, body, headers)

    def exchange(self, method, path, body, headers):
        if self.connection is None:
            self.connection = http.client.HTTPConnection(self.address.hostname, self.address.port)
        self.connection.request(method, path, body, {'Content-Type': 'application/json', **(headers or {})})
        answer = self.connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()

    def evaluate(self, body):
        return self.send('POST', EVALUATE, body)

    def resident(self):
        text = pathlib.Path(f'/proc/{self.process.pid}/status').read_text()
        return int(text.split('VmRSS:')[1].split()[0]) * 1024

    def assert_well(self):
        assert self.process.poll() is None
        status, _, content = self.evaluate(FINE)
        assert status == 200 and json.loads(content)['gradient'] == pytest.approx([0.225, 0])


@pytest.fixture(scope='module')
def served(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp('errors') / 'log')
    yield server
    if server.connection:
        server.connection.close()
    server.process.send_signal(signal.SIGTERM)
    server.process.communicate()
    assert server.process.returncode == 0
    log = server.log.read_text(errors='replace')
    assert 'Sanitizer' not in log and 'runtime error' not in log, log[-5000:]
