"""Collision sets through deploy/nginx: a name maps to one replica, whatever the number of proxies and replicas."""
import collections
import json
import signal
import tempfile
import time
from pathlib import Path

import pytest

from proxy import SHIPPED, Proxy, call, code_of
from real import Replicas

NAMES = [f"run-{i}" for i in range(300)]
METHODS = [("PUT", ""), ("PATCH", ""), ("GET", ""), ("DELETE", ""), ("POST", "/evaluate"), ("POST", "/check"),
           ("GET", "/pattern?format=bsr")]


def ask(proxy, name, method="GET", rest="", body=None):
    body = body or (b"{}" if method in ("PUT", "PATCH", "POST") else None)
    return call(proxy, method, f"/v1/sets/{name}{rest}", body)


def homes(proxy, fakes, names=NAMES):
    """{name: the replica that serves it}"""
    found = {}
    for name in names:
        before = [len(fake.requests) for fake in fakes]
        assert ask(proxy, name)[0] == 200
        [found[name]] = [i for i, fake in enumerate(fakes) if fake.answer == 200 and len(fake.requests) > before[i]]
    return found


def test_names_spread_over_the_replicas(proxy, fakes):
    share = collections.Counter(homes(proxy, fakes).values())
    assert sorted(share) == [0, 1, 2] and min(share.values()) > len(NAMES) / 10


def test_all_requests_about_a_set_meet_one_replica(proxy, fakes):
    for name in NAMES[:30]:
        for replica in fakes:
            replica.requests.clear()
        for method, rest in METHODS:
            assert ask(proxy, name, method, rest)[0] == 200
        assert sorted(len(replica.requests) for replica in fakes) == [0, 0, len(METHODS)]
        [paths] = [[path for path, _, _ in replica.requests] for replica in fakes if replica.requests]
        assert paths == [f"/v1/sets/{name}{rest}" for _, rest in METHODS]


@pytest.mark.parametrize("other", ["%72un-{}", "run%2d{}", "%72%75%6E%2D{}", "./run-{}", "x/../run-{}", "/run-{}"])
def test_a_name_is_the_same_however_it_is_written(proxy, fakes, other):
    plain = homes(proxy, fakes, NAMES[:40])
    written = homes(proxy, fakes, [other.format(i) for i in range(40)])
    assert list(plain.values()) == list(written.values()) and len(set(plain.values())) == 3


def test_what_has_no_name_goes_to_any_replica(proxy, fakes):
    for method, path in [("GET", "/v1/sets"), ("GET", "/v1/sets/"), ("POST", "/v1/evaluate")]:
        for replica in fakes:
            replica.requests.clear()
        for _ in range(30):
            assert call(proxy, method, path, b"{}" if method == "POST" else None)[0] == 200
        assert all(replica.requests for replica in fakes), "in turn"


def test_every_proxy_has_the_same_ring(proxy, fakes):
    """The order of replicas in the list makes no difference."""
    with tempfile.TemporaryDirectory() as another:
        with Proxy(Path(another), [fake.address for fake in reversed(fakes)]) as second:
            assert homes(second, fakes, NAMES[:60]) == homes(proxy, fakes, NAMES[:60])


@pytest.mark.parametrize("lost", [0, 1, 2])
def test_only_the_names_of_a_lost_replica_move(proxy, fakes, lost):
    before = homes(proxy, fakes)
    fakes[lost].answer = None
    during = homes(proxy, fakes)
    assert {name for name in NAMES if during[name] != before[name]} == {name for name in NAMES if before[name] == lost}
    assert {during[name] for name in NAMES if before[name] == lost} == {0, 1, 2} - {lost}, "both take a share"
    fakes[lost].answer = 200
    while homes(proxy, fakes, NAMES[:40]) != {name: before[name] for name in NAMES[:40]}:
        time.sleep(0.2)  # nginx skips it for two seconds


@pytest.mark.parametrize("method,rest", METHODS)
def test_the_next_in_the_ring_is_asked_when_a_replica_dies(proxy, fakes, method, rest):
    """Any request to a set may safely be repeated."""
    home = homes(proxy, fakes, ["a"])["a"]
    fakes[home].answer = None
    body = b"x" * (3 << 20) if method == "PUT" else None
    assert ask(proxy, "a", method, rest, body)[0] == 200
    taken = [replica.requests[-1] for i, replica in enumerate(fakes) if i != home and replica.requests]
    assert len(taken) == 1 and taken[0][0] == f"/v1/sets/a{rest}" and (body is None or taken[0][2] == body)


@pytest.mark.parametrize("status", [503, 404, 412, 500, 504, 413])
@pytest.mark.parametrize("method,rest", METHODS[:5])
def test_what_a_replica_says_about_a_set_is_passed_on(proxy, fakes, status, method, rest):
    """Even a 503 for lack of memory is passed on, because a set that was put elsewhere could not be found."""
    for replica in fakes:
        replica.answer = status
    answer = ask(proxy, "a", method, rest)
    assert answer[::2] == (status, b'{"replica": %d}' % status)
    assert sum(len(replica.requests) for replica in fakes) == 1
    assert status != 503 or answer[1]["Retry-After"] == "7"


def test_when_all_replicas_are_lost(proxy, fakes):
    for replica in fakes:
        replica.answer = None
    for _ in range(4):
        answer = ask(proxy, "a")
        assert (answer[0], code_of(answer)) == (503, "stopped")
    assert max(len(replica.requests) for replica in fakes) <= 4, "each is asked once for a request"


def test_the_log_shows_where_a_set_is(directory, proxy, fakes):
    home = homes(proxy, fakes, ["run-7"])["run-7"]
    while 'path="/v1/sets/run-7" status=200' not in (directory / "log").read_text():
        time.sleep(0.05)
    assert f'upstream="{fakes[home].address}"' in (directory / "log").read_text()


def test_the_ring_has_every_replica_once():
    words = [line.split() for line in (SHIPPED / "sets.conf").read_text().splitlines() if not line.startswith("#")]
    others = {line.split()[1] for line in (SHIPPED / "upstreams.conf").read_text().splitlines() if line.startswith("server ")}
    assert [word[0] for word in words] == len(others) * ["server"] and {word[1] for word in words} == others


# -- real replicas ----------------------------------------------------------------------------------------------------

SET = {"dim": 2, "n_vertices": 1, "friction": {"mu": 0.3, "eps_v": 0.1},
       "collisions": {"plane_vertex": {"vertices": [0], "normal_force": 1, "plane_normal": [0, 1]}}}
JSON = {"Content-Type": "application/json"}


@pytest.fixture
def cluster(program, directory):
    with Replicas(program, 3) as replicas, Proxy(directory, replicas.addresses()) as running:
        yield running, replicas


def put(proxy, mu=0.3):
    body = json.dumps({**SET, "friction": {"mu": mu, "eps_v": 0.1}})
    status, headers, _ = call(proxy, "PUT", "/v1/sets/a", body, JSON)
    assert status in (200, 201)
    return headers["Collision-Set-Version"]


def evaluate(proxy, **headers):
    return call(proxy, "POST", "/v1/sets/a/evaluate", b'{"velocities": [[1, 2]]}', {**JSON, **headers})


def home_of(running, replicas):
    """The index of the replica that has the set, according to the replicas' lists."""
    class Direct:
        def __init__(self, port):
            self.port = port
    lists = [json.loads(call(Direct(port), "GET", "/v1/sets")[2])["sets"] if alive else [] for port, alive in
             zip(replicas.ports, replicas.running)]
    return [i for i, sets in enumerate(lists) if sets]


def answers_again(running, status):
    """Waits, because nginx skips a replica for a moment after its return."""
    while evaluate(running)[0] != status:
        time.sleep(0.1)


def test_a_lost_set_is_put_again(cluster):
    running, replicas = cluster
    version = put(running)
    right = evaluate(running)
    assert right[0] == 200
    [home] = home_of(running, replicas)
    replicas.end(home, signal.SIGKILL)
    lost = evaluate(running)
    assert lost[0] == 404 and json.loads(lost[2])["code"] == "unknown_set"
    assert put(running) == version and evaluate(running)[::2] == right[::2]
    replicas.start(home)
    answers_again(running, 404)
    assert put(running) == version and evaluate(running)[::2] == right[::2]
    assert len(home_of(running, replicas)) == 2, "one is left over until it has been idle"


def test_an_outdated_set_is_recognized_by_its_version(cluster):
    """The next replica in the ring has an older set of this name, recognizable only by its version."""
    running, replicas = cluster
    put(running, 0.1)
    [home] = home_of(running, replicas)
    replicas.end(home)
    old = put(running, 0.2)
    replicas.start(home)
    answers_again(running, 404)
    new = put(running, 0.9)
    assert evaluate(running, **{"If-Collision-Set-Version": new})[0] == 200
    replicas.end(home)
    stale = evaluate(running)
    assert stale[0] == 200 and stale[1]["Collision-Set-Version"] == old != new
    refused = evaluate(running, **{"If-Collision-Set-Version": new})
    assert refused[0] == 412 and json.loads(refused[2])["code"] == "set_changed"
    assert put(running, 0.9) == new and evaluate(running, **{"If-Collision-Set-Version": new})[0] == 200
