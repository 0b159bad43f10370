"""frictiond health: its reports about servers and about other programs on a port. It always ends."""
import contextlib
import os
import signal
import socket
import subprocess
import threading
import time
import urllib.parse

import pytest

from conftest import ROOT, eventually, start, stop

PROGRAM = ROOT / os.environ.get("FRICTIOND", "build/frictiond")


def health(*options, environment=None):
    """(exit code, standard output, standard error)"""
    done = subprocess.run([str(PROGRAM), "health", *map(str, options)], capture_output=True, text=True,
                          env={**os.environ, **(environment or {})})
    assert len((done.stdout + done.stderr).splitlines()) == 1
    return done.returncode, done.stdout, done.stderr


def port_of(base):
    return urllib.parse.urlsplit(base).port


def is_healthy(*options, **more):
    code, out, err = health(*options, **more)
    assert (code, err) == (0, ""), err
    assert out.startswith("healthy: http") and out.endswith(" returned 200\n")
    return out


def is_not(why, *options, **more):
    code, out, err = health(*options, **more)
    assert (code, out) == (1, "") and err.startswith("frictiond: ") and why in err, (code, out, err)


@pytest.fixture
def certificate(tmp_path):
    """A self-signed certificate for another name."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-days", "1", "-subj", "/CN=elsewhere", "-keyout", tmp_path / "key", "-out", tmp_path / "certificate"],
                   check=True, capture_output=True)
    return "--tls-cert", str(tmp_path / "certificate"), "--tls-key", str(tmp_path / "key")


# --- a server

def test_a_server(server):
    port = port_of(server)
    assert is_healthy("--port", port) == f"healthy: http://127.0.0.1:{port}/healthz returned 200\n"
    assert f":{port}/readyz returned 200" in is_healthy("--ready", "--port", port)


def test_options_come_from_everywhere(server, tmp_path):
    port = port_of(server)
    (tmp_path / "options").write_text(f"port = {port}\n")
    is_healthy(environment={"FRICTIOND_PORT": str(port)})
    is_healthy("--config", tmp_path / "options")
    is_healthy(environment={"FRICTIOND_CONFIG": str(tmp_path / "options")})
    is_healthy("--port", port, environment={"FRICTIOND_PORT": "1"})


@pytest.mark.parametrize("host,asked", [("0.0.0.0", "127.0.0.1"), ("localhost", "127.0.0.1"), ("127.0.0.9", "127.0.0.9"),
                                        ("::", "[::1]"), ("::1", "[::1]")])
def test_hosts(server_with, host, asked):
    if ":" in host and not has_ipv6():
        pytest.skip("this machine's loopback has no IPv6")
    base = server_with("--host", host, "--anonymous", "yes")
    out = is_healthy("--host", host, "--port", port_of(base))
    assert asked in out or host == "localhost"


def has_ipv6():
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET6) as probe:
        probe.bind(("::1", 0))
        return True
    return False


def test_tokens_are_not_needed(server_with, tmp_path):
    (tmp_path / "tokens").write_text("lab 0123456789abcdef\n")
    (tmp_path / "tokens").chmod(0o600)
    base = server_with("--tokens", str(tmp_path / "tokens"))
    is_healthy("--port", port_of(base), "--tokens", "/nowhere")


def test_tls(server_with, certificate, server):
    base = server_with(*certificate)
    assert f"https://127.0.0.1:{port_of(base)}/" in is_healthy("--port", port_of(base), *certificate)
    is_not("not healthy", "--port", port_of(base))
    is_not("does not complete a TLS handshake", "--port", port_of(server), *certificate)


def test_a_server_that_drains():
    """The server is alive, but not ready."""
    process, base = start("--drain-seconds", "600")
    with socket.create_connection(("127.0.0.1", port_of(base))) as held:
        held.sendall(b"POST /v1/evaluate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                     b"Content-Length: 9\r\nExpect: 100-continue\r\n\r\n")
        assert b"100" in held.recv(100)
        process.send_signal(signal.SIGTERM)
        eventually(lambda: health("--ready", "--port", port_of(base))[0] == 1)
        is_not("/readyz returned 503", "--ready", "--port", port_of(base))
        is_healthy("--port", port_of(base))
    assert stop(process) == 0


def test_a_server_that_hangs():
    """The kernel accepts the connection, but the server does not."""
    process, base = start()
    process.send_signal(signal.SIGSTOP)
    is_not(f"no answer on port {port_of(base)} within 1 s", "--port", port_of(base), "--timeout-seconds", 1)
    process.send_signal(signal.SIGCONT)
    is_healthy("--port", port_of(base), "--timeout-seconds", 60)
    assert stop(process) == 0


# --- other things on the port

@contextlib.contextmanager
def fake_server(talk):
    """A port on loopback whose connections are handled by talk(connection)."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        def serve():
            with contextlib.suppress(OSError):
                connection, _ = listener.accept()
                with connection:
                    talk(connection)
        thread = threading.Thread(target=serve)
        thread.start()
        yield listener.getsockname()[1]
        thread.join()


def until_it_leaves(connection):
    while connection.recv(4096):
        pass


def trickles(text):
    def talk(connection):
        for byte in text:
            connection.sendall(bytes([byte]))
            time.sleep(0.1)
    return talk


def hears(text):
    def talk(connection):
        connection.recv(4096)
        connection.sendall(text)
    return talk


@pytest.mark.parametrize("talk,tls", [
    (until_it_leaves, False), (trickles(b"HTTP/1.1 200 OK\r\nA: " + 10000 * b"a"), False),
    (until_it_leaves, True), (trickles(b"\x16\x03\x03\x40\x00" + bytes(10000)), True),
], ids=["silence", "a trickle", "silence for TLS", "a trickle of TLS"])
def test_health_ends_by_itself(certificate, talk, tls):
    with fake_server(talk) as port:
        is_not("no answer on port", "--port", port, "--timeout-seconds", 1, *(certificate if tls else ()))


def test_nobody_listens():
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        port = silent.getsockname()[1]
        is_not(f"127.0.0.1:{port} cannot be reached: Connection refused", "--port", port)


@pytest.mark.parametrize("text,why", [
    (b"", "without an answer"), (b"SSH-2.0-x\r\n", "does not speak HTTP"), (bytes(9000), "does not speak HTTP"),
    (b"HTTP/1.1 200 OK\r\n", "does not end"), (b"HTTP/1.1 500 \r\n\r\n", "returned 500")],
    ids=["nothing", "another protocol", "zeros", "no end", "a fault"])
def test_invalid_responses(text, why):
    with fake_server(hears(text)) as port:
        is_not(why, "--port", port)


@pytest.mark.parametrize("options,why", [(["--port", "0"], "--port 0"), (["--port", "x"], "--port: 'x'"),
                                         (["--config", "/nowhere"], "/nowhere"), (["--json"], "'--json'"),
                                         (["--timeout-seconds", "0"], "--timeout-seconds"),
                                         (["--host", "no.host.invalid"], "no.host.invalid")])
def test_unusable_options(options, why):
    """The exit code is never 2, which Docker reserves."""
    is_not(why, *options)


def test_help():
    done = subprocess.run([str(PROGRAM), "health", "--help"], capture_output=True, text=True)
    assert done.returncode == 0 and "frictiond health [OPTION]..." in done.stdout
