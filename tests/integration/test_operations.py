"""Operations: metrics, logs, traces, draining, exit codes."""
import contextlib
import fcntl
import json
import os
import re
import signal
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request

import pytest

from conftest import ROOT, READY, eventually, start, stop, with_more_time

PROGRAM = ROOT / os.environ.get("FRICTIOND", "build/frictiond")
CONTACT = {"dim": 2, "velocities": [[0, 0]], "friction": {"mu": 0.3, "eps_v": 0.1},
           "collisions": {"plane_vertex": {"vertices": [0], "normal_force": 1, "plane_normal": [0, 1]}}}
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = "00f067aa0ba902b7"


def ask(url, body=None, method=None, headers=None):
    """(status, headers, body)"""
    data = json.dumps(body).encode() if isinstance(body, dict) else body
    request = urllib.request.Request(url, data, {"Content-Type": "application/json", **(headers or {})}, method=method)
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read()


def large(n):
    """A request with that many plane contacts, so that the worker evaluates them."""
    return {"dim": 2, "velocities": [[0.5, 0]] * n, "friction": {"mu": 0.3, "eps_v": 0.1},
            "collisions": {"plane_vertex": {"vertices": list(range(n)), "normal_force": 1, "plane_normal": [0, 1]}}}


def metrics(base):
    """{series: value}; checks every line, and that no series occurs twice."""
    status, headers, body = ask(base + "/metrics")
    assert status == 200 and headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    series = {}
    for line in body.decode().splitlines():
        if line.startswith("# "):
            assert re.fullmatch(r"# (HELP \w+ \S.*|TYPE \w+ (counter|gauge|histogram))", line)
            continue
        name, value = re.fullmatch(r"(\w+(?:\{(?:\w+=\"[^\"\\]*\",?)+\})?) ([0-9.]+)", line).groups()
        assert name not in series
        series[name] = float(value)
    return series


def requests_of(series, route, status):
    return series.get(f'frictiond_requests_total{{route="{route}",status="{status}"}}', 0)


def whole(connection):
    """Everything received until the server closes: if a client leaves earlier, the log reports that it got no
    response."""
    received = b""
    while more := connection.recv(65536):
        received += more
    return received


def logged(process_log, **fields):
    """The line of the JSON log with these fields."""
    def find():
        lines = [json.loads(line) for line in process_log.read_text().splitlines()]
        found = [line for line in lines if fields.items() <= line.items()]
        return found[0] if found else None
    return eventually(find)


@pytest.fixture
def logging(tmp_path):
    """A function that starts a server with its own log: (base URL, path of the log, process)."""
    started = []

    def start_one(*options):
        path = tmp_path / f"log.{len(started)}"
        with path.open("wb") as log:
            process = subprocess.Popen([str(PROGRAM), "--port", "0", *options], stdout=subprocess.PIPE, stderr=log, text=True)
        started.append(process)
        return process.stdout.readline().strip()[len(READY):], path, process

    yield start_one
    for process in started:
        if process.poll() is None:
            assert stop(process) == 0


# ---- metrics ----

def test_promtool_finds_no_fault(server):
    _, _, body = ask(server + "/metrics")
    done = subprocess.run(["promtool", "check", "metrics"], input=body, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_known_requests_are_counted(server_with):
    base = server_with()
    first = metrics(base)
    assert requests_of(first, "/v1/evaluate", 200) == 0
    body = json.dumps(CONTACT).encode()
    answers = [ask(base + "/v1/evaluate", body) for _ in range(3)]
    assert [answer[0] for answer in answers] == [200] * 3
    assert ask(base + "/v1/evaluate", b"{}")[0] == 422
    assert ask(base + "/v1/evaluate", b"{")[0] == 400
    assert ask(base + "/v1/functions/smooth_mu?y=1&mu_s=1&mu_k=1&eps_v=1")[0] == 200
    assert ask(base + "/v1/functions/no_such")[0] == 404
    for path in ("/nowhere", "/%22%7D%0A", "/x?" + "y" * 1000):
        assert ask(base + path)[0] == 404
    assert ask(base + "/healthz", method="HEAD")[0] == 200
    expected = {f'frictiond_requests_total{{route="{route}",status="{status}"}}': n for route, status, n in (
        ("/v1/evaluate", 200, 3), ("/v1/evaluate", 422, 1), ("/v1/evaluate", 400, 1), ("/v1/functions/{name}", 200, 1),
        ("/v1/functions/{name}", 404, 1), ("other", 404, 3), ("/healthz", 200, 1))}
    expected['frictiond_request_duration_seconds_count{route="/v1/evaluate"}'] = 5
    for phase, n in (("decode", 5), ("prepare", 3), ("evaluate", 3), ("encode", 3)):
        expected[f'frictiond_phase_duration_seconds_count{{phase="{phase}"}}'] = n
    expected["frictiond_contacts_total"] = 3
    expected["frictiond_request_bytes_total"] = 3 * len(body) + 3
    now = eventually(lambda: (s := metrics(base)) and expected.items() <= s.items() and s)
    assert 0 < now['frictiond_request_duration_seconds_sum{route="/v1/evaluate"}']
    assert now["frictiond_response_bytes_total"] - first["frictiond_response_bytes_total"] >= 3 * len(answers[0][2])
    assert now["frictiond_queue_wait_seconds_count"] == 0
    assert now["frictiond_draining"] == 0 and now["frictiond_connections"] >= 1
    assert "nowhere" not in str(now) and "no_such" not in str(now)


def test_phases_are_those_of_server_timing(server_with):
    base = server_with()
    total = {}
    for _ in range(5):
        _, headers, _ = ask(base + "/v1/evaluate", large(3000))
        for phase, ms in re.findall(r"(\w+);dur=([\d.]+)", headers["Server-Timing"]):
            total[phase] = total.get(phase, 0) + float(ms) / 1000
    eventually(lambda: metrics(base)["frictiond_contacts_total"] == 15000)  # which is added last
    now = metrics(base)
    assert len(total) == 4
    for phase, seconds in total.items():
        assert abs(now[f'frictiond_phase_duration_seconds_sum{{phase="{phase}"}}'] - seconds) <= 5 * 0.0000006
    assert now["frictiond_queue_wait_seconds_count"] == 5


def test_histograms_are_cumulative(server):
    ask(server + "/v1/evaluate", CONTACT)
    series = metrics(server)
    buckets = {}
    for name, value in series.items():
        if match := re.fullmatch(r'(\w+)_bucket\{(.*?),?le="([^"]+)"\}', name):
            buckets.setdefault((match[1], match[2]), []).append((float(match[3]), value))
    assert len(buckets) >= 12
    for (name, labels), values in buckets.items():
        assert values == sorted(values) and [v for _, v in values] == sorted(v for _, v in values)
        assert values[-1][0] == float("inf")
        assert series[f"{name}_count" + (f"{{{labels}}}" if labels else "")] == values[-1][1]


def test_the_state_of_the_process(server):
    now = metrics(server)
    assert abs(now["process_start_time_seconds"] - time.time()) < 86400
    assert now["process_resident_memory_bytes"] == now['frictiond_memory_bytes{kind="resident"}'] > 1e6
    assert 3 < now["process_open_fds"] < now["process_max_fds"]
    assert now["process_cpu_seconds_total"] > 0 and now["process_threads"] > 3
    info = json.loads(ask(server + "/v1/info")[2])
    assert now["frictiond_threads"] == info["threads"]
    labels = f'version="{info["version"]}",instruction_set="{info["instruction_set"]}"'
    assert now[f"frictiond_build_info{{{labels}}}"] == 1


def test_metrics_as_a_resource(server):
    status, headers, body = ask(server + "/metrics", method="HEAD")
    assert status == 200 and body == b"" and int(headers["Content-Length"]) > 1000
    assert ask(server + "/metrics?x=1", headers={"Accept": "application/json"})[0] == 200
    status, headers, body = ask(server + "/metrics", b"x")
    assert status == 405 and headers["Allow"] == "GET, HEAD" and json.loads(body)["status"] == 405
    assert ask(server + "/metrics/", method="GET")[0] == 404


def test_a_full_queue_is_counted(logging):
    base, log, _ = logging("--queue-requests", "1", "--log-format", "json")
    body = json.dumps(large(30000)).encode()
    codes = []

    def send():
        codes.append(ask(base + "/v1/evaluate", body)[0])

    while 503 not in codes:
        senders = [threading.Thread(target=send) for _ in range(6)]
        for sender in senders:
            sender.start()
        for sender in senders:
            sender.join()
    assert set(codes) == {200, 503}
    assert eventually(lambda: metrics(base)['frictiond_rejected_total{reason="queue_full"}'] == codes.count(503))
    assert requests_of(metrics(base), "/v1/evaluate", 503) == codes.count(503)
    line = logged(log, status=503)
    assert line["rejected"] == "queue_full" and line["level"] == "error" and "waited_ms" not in line


def test_memory_and_rejection_of_bodies(server_with):
    base = server_with("--max-json-bytes", "1M", "--queue-bytes", "1M")
    port = int(base.rsplit(":", 1)[1])
    head = f"POST /v1/evaluate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {1 << 20}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port)) as holder:
        holder.sendall(head.encode() + b" " * 800000)
        eventually(lambda: metrics(base)["frictiond_queue_bytes"] >= 800000)
        assert ask(base + "/v1/evaluate", b" " * 700000)[0] == 503
        assert eventually(lambda: metrics(base)['frictiond_rejected_total{reason="memory"}']) == 1
    eventually(lambda: metrics(base)["frictiond_queue_bytes"] == 0)
    assert requests_of(metrics(base), "/v1/evaluate", "none") == 1


def test_too_many_connections_are_counted(logging):
    base, log, _ = logging("--connections-per-address", "2", "--log-format", "json")
    port = int(base.rsplit(":", 1)[1])
    with socket.create_connection(("127.0.0.1", port)), socket.create_connection(("127.0.0.1", port)):
        assert ask(base + "/healthz")[0] == 429
    assert eventually(lambda: ask(base + "/healthz")[0] == 200)
    assert metrics(base)['frictiond_rejected_total{reason="connections"}'] >= 1
    line = logged(log, rejected="connections")
    assert (line["status"], line["client"], line["route"]) == (429, "127.0.0.1", "other")


def test_requests_that_are_too_slow_are_counted(logging):
    def attempt(seconds):
        base, log, _ = logging("--receive-seconds", str(seconds), "--log-format", "json")
        with socket.create_connection(("127.0.0.1", int(base.rsplit(":", 1)[1]))) as slow:
            slow.sendall(b"POST /v1/evaluate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{")
            assert whole(slow).startswith(b"HTTP/1.1 408")
        assert logged(log, rejected="slow")["status"] == 408
        assert metrics(base)['frictiond_rejected_total{reason="slow"}'] == 1

    with_more_time(attempt)


def test_the_deadline_is_counted(logging):
    """A large request whose deadline passed while it arrived."""
    base, log, _ = logging("--deadline-seconds", "1", "--log-format", "json")
    contacts = {"vertices": [0, 1, 2, 3] * 375000, "normal_force": 1, "plane_normal": [0, 1]}
    body = json.dumps({**large(4), "collisions": {"plane_vertex": contacts}, "hessian": {"format": "csr"}}).encode()
    with socket.create_connection(("127.0.0.1", int(base.rsplit(":", 1)[1]))) as client:
        client.sendall(b"POST /v1/evaluate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                       b"Content-Length: %d\r\n\r\n" % len(body))
        time.sleep(1.2)
        client.sendall(body)
        assert client.recv(1000).startswith(b"HTTP/1.1 503")
    line = logged(log, rejected="deadline")
    assert line["status"] == 503 and "waited_ms" in line
    assert metrics(base)['frictiond_rejected_total{reason="deadline"}'] == 1


def test_a_deadline_that_passes_in_the_queue(logging):
    """A small request begins to arrive before a slow one, and is completed while the slow one is computed."""
    def attempt(seconds):
        base, log, _ = logging("--deadline-seconds", str(seconds), "--threads", "1", "--log-format", "json")
        contacts = {"vertices": [0, 1, 2, 3] * 500000, "normal_force": 1, "plane_normal": [0, 1]}
        port, head = int(base.rsplit(":", 1)[1]), ("POST /v1/check HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: %s\r\n"
                                                   "Content-Length: %d\r\nConnection: close\r\n\r\n")
        slow, quick = (json.dumps(body).encode() for body in ({**large(4), "collisions": {"plane_vertex": contacts}}, CONTACT))
        with socket.create_connection(("127.0.0.1", port)) as waits, socket.create_connection(("127.0.0.1", port)) as runs:
            waits.sendall((head % ("waits", len(quick))).encode())
            runs.sendall((head % ("runs", len(slow))).encode() + slow)
            eventually(lambda: metrics(base)['frictiond_memory_bytes{kind="requests"}'] > 2 * len(slow))  # it runs now
            waits.sendall(quick)
            answer = whole(waits)
            assert answer.startswith(b"HTTP/1.1 503") and b"The deadline of" in answer
            assert whole(runs).startswith(b"HTTP/1.1 503")
        line = logged(log, request_id="waits")
        assert (line["status"], line["rejected"]) == (503, "deadline")
        assert "waited_ms" in line and "decode_ms" not in line  # it was never started
        assert metrics(base)["frictiond_queue_bytes"] == 0

    with_more_time(attempt)


def test_an_answer_without_a_body_has_no_bytes(logging):
    base, log, _ = logging("--log-format", "json")
    status, headers, _ = ask(base + "/", method="GET", headers={"X-Request-Id": "get"})
    assert status == 200 and logged(log, request_id="get")["bytes_out"] > 1000
    before = eventually(lambda: metrics(base)["frictiond_response_bytes_total"])
    ask(base + "/", method="HEAD", headers={"X-Request-Id": "head"})
    ask(base + "/", method="GET", headers={"X-Request-Id": "known", "If-None-Match": headers["ETag"]})
    assert (logged(log, request_id="head")["status"], logged(log, request_id="head")["bytes_out"]) == (200, 0)
    assert (logged(log, request_id="known")["status"], logged(log, request_id="known")["bytes_out"]) == (304, 0)
    assert before > 1000


def test_memory_has_a_limit(server_with):
    base = server_with("--memory-bytes", "32M")
    body = json.dumps(large(200000)).encode()
    assert metrics(base)["frictiond_memory_limit_bytes"] == 32 << 20
    assert ask(base + "/v1/evaluate", body)[0] == 413
    with socket.create_connection(("127.0.0.1", int(base.rsplit(":", 1)[1]))) as holder:
        holder.sendall(b"POST /v1/evaluate HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % (31 << 20) + b" " * (25 << 20))
        assert eventually(lambda: metrics(base)['frictiond_memory_bytes{kind="requests"}'] >= 25 << 20)
        assert ask(base + "/v1/evaluate", json.dumps(large(20000)).encode())[0] == 503
        assert eventually(lambda: metrics(base)['frictiond_rejected_total{reason="memory"}']) == 1
    assert eventually(lambda: metrics(base)['frictiond_memory_bytes{kind="requests"}'] == 0)


# ---- the log ----

def test_a_line_of_the_log(logging):
    base, log, _ = logging("--log-format", "json")
    body = json.dumps(large(3000)).encode()
    _, _, answer = ask(base + "/v1/evaluate?x=secret", body, headers={"X-Request-Id": "step-1"})
    ask(base + "/v1/evaluate", body, headers={"X-Request-Id": "step-2"})
    assert logged(log, request_id="step-1")["status"] == 422
    line = logged(log, request_id="step-2")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line.pop("time"))
    times = {key: line.pop(key) for key in list(line) if key.endswith("ms")}
    assert sorted(times) == ["decode_ms", "encode_ms", "evaluate_ms", "ms", "prepare_ms", "waited_ms"]
    assert times["ms"] >= times["waited_ms"] + times["decode_ms"] + times["evaluate_ms"] + times["encode_ms"]
    size = line.pop("bytes_out")
    assert size > 10000
    assert line == {"level": "info", "request_id": "step-2", "method": "POST", "path": "/v1/evaluate", "status": 200,
                    "bytes_in": len(body), "route": "/v1/evaluate", "client": "127.0.0.1", "contacts": 3000}
    assert "secret" not in log.read_text()


@pytest.mark.parametrize("form", ["logfmt", "json"])
def test_hostile_targets(logging, form):
    """Whatever a target, a method or an id contains, a line remains one line of printable ASCII, and JSON remains
    valid."""
    base, log, _ = logging("--log-format", form)
    port = int(base.rsplit(":", 1)[1])
    targets = [b'/"', b"/\\", b"/'", b"/\x1b[31m", b"/\x00", b"/\x01\x7f", b"/\xff\xfe", b"/\xc3\xa9", b"/\xed\xa0\x80",
               b"/%0a%22", b"/" + b'"' * 3000, b"/\t", b"/level=error", b'/" level=error x="']
    for target in targets:
        with socket.create_connection(("127.0.0.1", port)) as client:
            client.sendall(b"GET " + target + b' HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: a"b\r\nConnection: close\r\n\r\n')
            assert whole(client).startswith(b"HTTP/1.1 4")
    eventually(lambda: log.read_bytes().count(b"\n") >= 1 + len(targets))
    for line in log.read_bytes().decode("ascii").splitlines():
        assert line.isprintable() and len(line) < 4096
        if form == "json":
            assert json.loads(line)["level"] == "info"
        else:
            assert re.fullmatch(r'time=\S+ level=info( [a-z_]+=("([^"\\]|\\.)*"|[\d.]+))+', line)


def test_a_full_pipe_stops_no_requests():
    """If the reader of the log stalls, requests are still answered; lines are dropped, counted and reported."""
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
    process = subprocess.Popen([str(PROGRAM), "--port", "0"], stdout=subprocess.PIPE, stderr=writing, text=True)
    os.close(writing)
    base = process.stdout.readline().strip()[len(READY):]
    for _ in range(100):
        assert ask(base + "/healthz")[0] == 200
    dropped = eventually(lambda: metrics(base)["frictiond_log_lines_dropped_total"])
    os.read(reading, 1 << 16)
    assert ask(base + "/healthz", headers={"X-Request-Id": "after"})[0] == 200
    rest = b""
    while b"after" not in rest:
        rest += os.read(reading, 1 << 16)
    told = re.search(rb'level=error msg="lines of the log were dropped[^"]*" lines=(\d+)\n', rest)
    assert told and dropped <= int(told[1]) <= 102
    os.close(reading)
    assert ask(base + "/healthz")[0] == 200
    assert stop(process) == 0


def listening_port(process):
    """The port on which a process listens, according to the system; None if it does not listen yet."""
    folder = f"/proc/{process.pid}/fd"
    files = {os.readlink(f"{folder}/{number}") for number in os.listdir(folder)}
    with open(f"/proc/{process.pid}/net/tcp") as table:
        rows = [line.split() for line in table][1:]
    ports = [int(row[1].split(":")[1], 16) for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in files]
    return ports[0] if ports else None


@pytest.fixture
def started_with():
    """A function that starts the program by a shell command: (process, base URL) once it listens."""
    processes = []

    def start_one(redirections):
        process = subprocess.Popen(["bash", "-c", f'exec "$0" --port 0 {redirections}', str(PROGRAM)],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        processes.append(process)

        def port():
            assert process.poll() is None
            with contextlib.suppress(FileNotFoundError):  # a descriptor that has just been closed
                return listening_port(process)

        return process, f"http://127.0.0.1:{eventually(port)}"

    yield start_one
    for process in processes:
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 0


@pytest.mark.parametrize("closed,numbers", [("2>/dev/full", []), (">&-", [1]), ("2>&-", [2]), ("<&- >&- 2>&-", [0, 1, 2])])
def test_closed_standard_files(started_with, closed, numbers):
    """The number of a closed descriptor is not reused for a socket, which would then receive the log."""
    process, base = started_with(closed)
    assert [os.readlink(f"/proc/{process.pid}/fd/{number}") for number in numbers] == ["/dev/null"] * len(numbers)
    assert [ask(base + "/healthz")[0] for _ in range(5)] == [200] * 5


# ---- traces ----

def test_a_trace_is_continued(logging):
    base, log, _ = logging("--log-format", "json")
    spans = set()
    for flags, answered in (("01", "01"), ("00", "00"), ("03", "01")):
        _, headers, _ = ask(base + "/v1/evaluate", CONTACT, headers={"traceparent": f"00-{TRACE}-{PARENT}-{flags}"})
        match = re.fullmatch(rf"00-{TRACE}-([0-9a-f]{{16}})-{answered}", headers["traceresponse"])
        assert match and match[1] != PARENT
        spans.add(match[1])
        line = logged(log, span_id=match[1])
        assert (line["trace_id"], line["parent_id"]) == (TRACE, PARENT)
    assert len(spans) == 3
    status, headers, _ = ask(base + "/nowhere", headers={"traceparent": f"00-{TRACE}-{PARENT}-01"})
    assert status == 404 and TRACE in headers["traceresponse"]


@pytest.mark.parametrize("value", [None, "", "x", f"00-{TRACE}-{PARENT}", f"ff-{TRACE}-{PARENT}-01",
                                   f"00-{'0' * 32}-{PARENT}-01", f"00-{TRACE.upper()}-{PARENT}-01"])
def test_an_invalid_trace_is_ignored(logging, value):
    base, log, _ = logging("--log-format", "json")
    status, headers, _ = ask(base + "/v1/evaluate", CONTACT, headers={} if value is None else {"traceparent": value})
    assert status == 200 and headers["traceresponse"] is None
    line = logged(log, status=200)
    assert "trace_id" not in line and "span_id" not in line


def test_two_traceparents_are_none(server):
    port = int(server.rsplit(":", 1)[1])
    line = f"traceparent: 00-{TRACE}-{PARENT}-01\r\n"
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(f"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{line}{line}\r\n".encode())
        answer = whole(client)
    assert answer.startswith(b"HTTP/1.1 200") and b"traceresponse" not in answer


# ---- the page ----

PAGE = (ROOT / "docs/operations.md").read_text()


def table_of(heading):
    """The cells of the first table after a text, without its first two lines."""
    lines = re.search(r"(?:^\|.*\n)+", PAGE[PAGE.index(heading):], re.M)[0].splitlines()[2:]
    return [[cell.strip() for cell in line[1:-1].split("|")] for line in lines]


def test_the_metrics_are_documented(server):
    text = ask(server + "/metrics")[2].decode()
    types = dict(re.findall(r"^# TYPE (\w+) (\w+)$", text, re.M))
    assert {row[0].strip("`"): row[1] for row in table_of("| metric |")} == types
    for name, _, labels, _ in table_of("| metric |"):
        found = set(re.findall(r'(\w+)="', "".join(re.findall(rf"^{name.strip('`')}(?:_bucket|_sum|_count)?(\{{.*\}}) ", text, re.M)))) - {"le"}
        assert found == set(re.findall(r"`(\w+)`", labels)), name
    reasons = set(re.findall(r'^frictiond_rejected_total{reason="(\w+)"}', text, re.M))
    assert {row[0].strip("`") for row in table_of("| reason |")} == reasons
    help_text = run("--help").stdout + run("health", "--help").stdout
    for option in re.findall(r"`(--[a-z-]+)", PAGE):
        assert option in help_text or option == "--time", option


def test_the_fields_of_the_log_are_documented(logging):
    documented = {field for row in table_of("| field |") for field in re.findall(r"`(\w+)`", row[0])}

    def attempt(seconds):
        base, log, _ = logging("--log-format", "json", "--queue-bytes", "1M", "--max-json-bytes", "1M",
                               "--receive-seconds", str(seconds))
        assert ask(base + "/v1/evaluate", large(3000), headers={"traceparent": f"00-{TRACE}-{PARENT}-01"})[0] == 200
        with socket.create_connection(("127.0.0.1", int(base.rsplit(":", 1)[1]))) as slow:
            slow.sendall(b"GET /")
            assert slow.recv(100).startswith(b"HTTP/1.1 408")
        logged(log, rejected="slow")
        logged(log, trace_id=TRACE)
        return log

    log = with_more_time(attempt)
    seen = {field for line in log.read_text().splitlines() for field in json.loads(line)}
    assert seen <= documented
    assert documented - seen <= {"token", "lines", "aborted"}
    for example in re.findall(r"```text\n(\{.*\})\n```", PAGE):
        assert set(json.loads(example)) <= documented


# ---- draining, exit codes ----

def begin_upload(base, length=1000):
    """A POST that is under way: its head has arrived, its body has not. Returns when the server has confirmed that."""
    port = int(base.rsplit(":", 1)[1])
    upload = socket.create_connection(("127.0.0.1", port))
    upload.sendall(b"POST /v1/evaluate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                   b"Content-Length: %d\r\nExpect: 100-continue\r\n\r\n" % length)
    assert upload.recv(100).startswith(b"HTTP/1.1 100")
    return upload


def test_a_client_that_leaves_in_the_middle_is_noticed(logging):
    """A client's last bytes and the end of its stream arrive together; nothing later shows that it has left."""
    base, log, process = logging("--log-format", "json")
    with begin_upload(base, 1000000) as upload:
        process.send_signal(signal.SIGSTOP)
        upload.sendall(b"[" * 5000)
    process.send_signal(signal.SIGCONT)
    line = logged(log, route="/v1/evaluate")
    assert line["bytes_in"] == 5000
    assert line["ms"] < 30000  # a silent client has a minute


def test_what_nobody_waits_for_is_not_computed_to_the_end(logging):
    """A check of this many contacts takes seconds; its client resets the connection before it is over."""
    base, log, _ = logging("--log-format", "json")
    n = 2000000
    body = json.dumps({"dim": 2, "velocities": [[1, 2]], "friction": {"mu": 0.3, "eps_v": 1e-3}, "collisions": {
        "plane_vertex": {"vertices": [0] * n, "normal_force": 1, "plane_normal": [0, 1]}}}).encode()
    host, port = base.removeprefix("http://").rsplit(":", 1)
    with socket.create_connection((host, int(port))) as client:
        client.sendall(b"POST /v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                       b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        time.sleep(0.3)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    line = logged(log, route="/v1/check")
    assert line["bytes_in"] == len(body) and line["status"] == 503


def test_requests_during_a_drain_are_counted(logging):
    base, log, process = logging("--drain-seconds", "3600", "--log-format", "json")
    with begin_upload(base):
        process.send_signal(signal.SIGTERM)
        eventually(lambda: ask(base + "/readyz")[0] == 503)
        assert metrics(base)["frictiond_draining"] == 1
        assert ask(base + "/v1/evaluate", CONTACT)[0] == 503
        assert metrics(base)['frictiond_rejected_total{reason="draining"}'] >= 1
    assert process.wait() == 0
    process.stdout.close()
    assert logged(log, rejected="draining")["status"] == 503
    assert logged(log, msg="stopped")


def test_draining_has_a_deadline(logging):
    """A request that is not completed in time is abandoned. The log reports it, and the exit code is 0 as after any
    signal."""
    base, log, process = logging("--drain-seconds", "1", "--log-format", "json")
    with begin_upload(base) as upload:
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 0
        assert upload.recv(1000) == b""
    process.stdout.close()
    assert logged(log, msg="giving up requests that are still under way")["level"] == "error"
    assert logged(log, aborted="shutdown")["path"] == "/v1/evaluate"
    assert logged(log, msg="stopped")


def test_draining_stops_an_evaluation(logging):
    """An evaluation that runs or waits when the drain time is over gets 503. Whether there is one at that moment is
    chance, and clients have only a second to receive the response, so the test is repeated until it has happened."""
    body = json.dumps(large(150000)).encode()

    def stopped():
        base, log, process = logging("--drain-seconds", "0", "--log-format", "json", "--threads", "1")
        codes = []

        def send():
            try:
                codes.append(ask(base + "/v1/evaluate", body)[0])
            except (urllib.error.URLError, ConnectionError):
                codes.append(0)

        senders = [threading.Thread(target=send) for _ in range(4)]
        for sender in senders:
            sender.start()
        eventually(lambda: metrics(base)["frictiond_queue_requests"] > 0 or codes)
        process.send_signal(signal.SIGTERM)
        for sender in senders:
            sender.join()
        assert process.wait() == 0
        process.stdout.close()
        assert set(codes) <= {0, 200, 503}
        return 503 in codes and logged(log, rejected="draining", status=503)

    assert eventually(stopped)


def run(*arguments, **more):
    return subprocess.run([str(PROGRAM), *arguments], capture_output=True, text=True, check=False, **more)


def test_exit_codes(server):
    port = server.rsplit(":", 1)[1]
    for query in ("--help", "--version", "--print-config", "--print-openapi", "--print-options-markdown"):
        assert run(query).returncode == 0
    assert run("--port", port).returncode == 1
    assert run("--port", "0", "--host", "203.0.113.1").returncode == 1
    assert run("--prot", "1").returncode == 2
    assert run("--config", "/nowhere").returncode == 2
    assert run(env={**os.environ, "FRICTIOND_PORT": "x"}).returncode == 2
    assert re.search(r"^Exit codes: 0 .*; 1 .*\n?.*; 2 ", run("--help").stdout, re.M)
    process, _ = start()
    process.send_signal(signal.SIGINT)
    assert process.wait() == 0
    process.stdout.close()
