"""The shipped nginx configuration on loopback: the files of deploy/nginx unchanged except for addresses.

    with Proxy(directory, ["127.0.0.1:4001", "127.0.0.1:4002"]) as proxy:
        status, headers, body = post(proxy, b"{}")
"""
import http.client
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHIPPED = ROOT / "deploy/nginx"
NGINX = shutil.which("nginx", path=f"/usr/sbin:/usr/bin:/usr/local/sbin:{ROOT}/build/tools/bin") or "/usr/sbin/nginx"


# The status of each code that problems may have.
CODES = {name: int(status) for name, status in
         re.findall(r'X\(\w+, "(\w+)", (\d+)\)', (ROOT / "api/base/codes.h").read_text())}


def code_of(answer):
    """The code of a problem made by nginx, which must have the form of the service's problems."""
    status, headers, body = answer
    problem = json.loads(body)
    expected = ["type", "code", "title", "status", "detail"] + (["request_id"] if status >= 500 else []) + ["errors"]
    assert list(problem) == expected and headers["Content-Type"] == "application/problem+json"
    assert problem["type"] == f"/errors/{problem['code']}" and CODES[problem["code"]] == status == problem["status"]
    assert problem["title"] != "Error" and problem["detail"] and problem["errors"] == []
    assert headers["X-Request-Id"] and problem.get("request_id") in (None, headers["X-Request-Id"])
    assert (headers["Retry-After"] is not None) == (status == 503)
    return problem["code"]


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def upstreams(addresses):
    """upstreams.conf for other replicas: repeats each line of the first shipped server, including its parameters, for
    every address."""
    text = (SHIPPED / "upstreams.conf").read_text()
    lines = re.findall(r"^server frictiond-1:8080 (.*;)$", text, re.M)
    assert len(lines) == 2, "one list that is watched, one for when all of it is left alone"
    return "".join(f"server {address} {parameters}\n" for parameters in lines for address in addresses)


def ring(addresses):
    """sets.conf for other replicas."""
    [parameters] = re.findall(r"^server frictiond-1:8080 (.*;)$", (SHIPPED / "sets.conf").read_text(), re.M)
    return "".join(f"server {address} {parameters}\n" for address in addresses)


def install(directory, addresses):
    """Copies the configuration to a directory; returns the command line that starts it there, without -g."""
    shutil.copytree(SHIPPED, directory / "nginx")
    (directory / "nginx/upstreams.conf").write_text(upstreams(addresses))
    (directory / "nginx/sets.conf").write_text(ring(addresses))
    (directory / "spool").mkdir()
    return [NGINX, "-p", str(directory / "spool"), "-c", str(directory / "nginx/nginx.conf"), "-e", "stderr"]


class Proxy:
    """nginx as a child of this process, with its log in a file of the directory."""

    def __init__(self, directory, addresses):
        self.directory = directory
        self.command = install(directory, addresses)
        self.listen_on(free_port())
        # As root, nginx would run its workers as a user who cannot enter a private directory.
        self.directives = "daemon off;" + (" user root;" if os.geteuid() == 0 else "")

    def change(self, old, new):
        """Replaces text in the configuration before the start."""
        path = self.directory / "nginx/nginx.conf"
        text = path.read_text()
        assert text.count(old) == 1, old
        path.write_text(text.replace(old, new))

    def check(self):
        """nginx's check of its configuration: (exit code, text)."""
        done = subprocess.run([*self.command, "-g", self.directives, "-t"], capture_output=True, text=True)
        return done.returncode, done.stderr

    def listen_on(self, port):
        self.port, self.url = port, f"http://127.0.0.1:{port}"
        (self.directory / "nginx/listen.conf").write_text(f"listen 127.0.0.1:{port};\n")

    def start(self):
        """Whether nginx runs and responds."""
        self.process = subprocess.Popen([*self.command, "-g", self.directives], stdout=self.log, stderr=self.log)
        while self.process.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0 and self.process.poll() is None:
                    return True
            time.sleep(0.02)
        return False

    def __enter__(self):
        self.log = open(self.directory / "log", "a")
        while not self.start():
            log = (self.directory / "log").read_text()
            if "Address already in use" not in log:
                raise RuntimeError(log)
            self.log.truncate(0)
            self.listen_on(free_port())  # another process took the port after it was found free
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.log.close()


def call(proxy, method, path, body=None, headers=None):
    """(status, headers, body) of one request on its own connection."""
    connection = http.client.HTTPConnection("127.0.0.1", proxy.port)
    try:
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()
    finally:
        connection.close()


def post(proxy, body=b"{}", **headers):
    return call(proxy, "POST", "/v1/evaluate", body, {"Content-Type": "application/json", **headers})
