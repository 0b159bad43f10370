"""Documents whose tree takes many times as much memory as their text: that memory counts against --memory-bytes, the
service stays within it, and the status shows whether the same request may succeed later (503) or never (413)."""
import http.client
import json
import os
import re
import struct
import urllib.request
from urllib.parse import urlsplit

import pytest

from conftest import eventually, start, stop

MB = 1 << 20
MEMORY = 64 * MB
JSON, FRAME = "application/json", "application/vnd.frictiond.frame"


def frame_of(text):
    return struct.pack("<Q", len(text) + -(8 + len(text)) % 64) + text + b" " * (-(8 + len(text)) % 64)


OBJECTS = b"[" + b"{}," * 1_999_998 + b"{}]"
KEYS = b"{" + b",".join(b'"k%d":0' % i for i in range(700_000)) + b"}"
ESCAPES = b'["' + b"\\n" * (5 * MB) + b'"]'
STRINGS = b"[" + b",".join([b'"' + b"\\u0020" * 170_000 + b'"'] * 15) + b"]"
MARKS = b"[" + b'1,"",' * 900_000 + b"1]"
NUMBERS = b'{"a":[' + b"1," * (10 * MB) + b"1]}"
BODIES = {"objects": OBJECTS, "keys": KEYS, "one string of escapes": ESCAPES, "strings of escapes": STRINGS,
          "numbers that stand alone": MARKS, "numbers": NUMBERS}


@pytest.fixture
def tight():
    """A server of 64 MiB: (process, base)."""
    process, base = start("--memory-bytes", str(MEMORY), "--pool-bytes", "0", "--threads", "1")
    yield process, base
    assert stop(process) == 0


def resident(process, name):
    with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
        return int(re.search(rf"^{name}:\s+(\d+) kB", status.read(), re.M).group(1)) * 1024


def post(base, body, content_type=JSON, path="/v1/evaluate"):
    connection = http.client.HTTPConnection(urlsplit(base).hostname, urlsplit(base).port)
    connection.request("POST", path, body, {"Content-Type": content_type})
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    return answer.status, json.loads(text)


def held(base):
    with urllib.request.urlopen(base + "/metrics") as answer:
        return int(re.search(r'^frictiond_memory_bytes\{kind="requests"\} (\d+)', answer.read().decode(), re.M).group(1))


@pytest.mark.parametrize("content_type", [JSON, FRAME])
@pytest.mark.parametrize("name", BODIES)
def test_the_memory_of_a_tree_counts(tight, name, content_type):
    process, base = tight
    body = BODIES[name] if content_type == JSON else frame_of(BODIES[name])
    before = resident(process, "VmRSS")
    for _ in range(3):
        status, problem = post(base, body, content_type)
        assert status in (413, 422), problem
        if status == 413 and name != "one string of escapes":
            assert problem["detail"] == (f"the request takes more memory than the limit of {MEMORY} bytes for all "
                                         "requests together (--memory-bytes)")
    if "asan" not in os.environ.get("FRICTIOND", "") and "tsan" not in os.environ.get("FRICTIOND", ""):
        assert resident(process, "VmHWM") - before < MEMORY + 4 * MB
    assert eventually(lambda: held(base) == 0)
    assert post(base, b"{}")[0] == 422


def test_a_request_that_fits_alone_may_come_again(tight):
    """While a body of which half has arrived holds the memory, the same tree gets 503; afterwards it passes."""
    _, base = tight
    body = b"[" + b"{}," * 130_000 + b"{}]"
    assert post(base, body)[0] == 422
    connection = http.client.HTTPConnection(urlsplit(base).hostname, urlsplit(base).port)
    connection.putrequest("POST", "/v1/evaluate")
    connection.putheader("Content-Type", JSON)
    connection.putheader("Content-Length", str(50 * MB))
    connection.endheaders(b" " * (40 * MB))
    assert eventually(lambda: held(base) >= 40 * MB)
    status, problem = post(base, body)
    assert (status, problem["detail"]) == (503, "not enough memory for this request now")
    connection.close()
    assert eventually(lambda: held(base) == 0)
    assert post(base, body)[0] == 422
