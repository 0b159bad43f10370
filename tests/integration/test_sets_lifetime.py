"""Collision sets: how long the service keeps them, for whom, and in how much memory. The store alone: unit/api/sets."""
import collections
import json
import os
import random
import re
import signal
import socket
import sys
import threading
import urllib.request

import pytest

from conftest import eventually, metric

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'oracle'))
from sets import Client  # noqa: E402

MINE, HERS = 'lab-0123456789abcdef', 'hub-0123456789abcdef'
QUERY = {'velocities': [[1, 0]], 'outputs': ['potential']}
ORIGIN = 'https://a.example'


def document(n=1):
    """A set of that many contacts of one vertex."""
    return {'dim': 2, 'n_vertices': 1, 'friction': {'mu': 0.5, 'eps_v': 0.1},
            'collisions': {'plane_vertex': {'vertices': [0] * n, 'normal_force': 1, 'plane_normal': [0, 1]}}}


def count(base, name, labels=''):
    return metric(base, f'frictiond_sets{name}{labels}')


def evictions(base):
    return {reason: count(base, '_evictions_total', f'{{reason="{reason}"}}')
            for reason in ('idle', 'own_room', 'others_room', 'equal_share')}


def n_waited(base):
    """Number of large requests so far."""
    with urllib.request.urlopen(base + '/metrics') as answer:
        return int(re.search(r'^frictiond_queue_wait_seconds_count (\d+)$', answer.read().decode(), re.M)[1])


def bytes_of(base, n):
    """Number of bytes of a set with that many contacts."""
    client = Client(base)
    assert client.put('measured', document(n)).status == 201
    [found] = client.list().json['sets']
    assert client.delete('measured').status == 204
    client.close()
    return found['bytes']


@pytest.fixture
def tokens(tmp_path):
    path = tmp_path / 'tokens'
    path.touch(0o600)
    path.write_text(f'mine {MINE}\nhers {HERS}\n')
    return str(path)


def is_refused(answer, status, code):
    assert answer.status == status and answer.json['code'] == code, answer
    assert ('Retry-After' in answer.headers) == (status == 503)
    return True


# ---- limits ----

def test_info_tells_the_limits(server_with, tokens):
    def limits(*options):
        with urllib.request.urlopen(server_with('--memory-bytes', '64M', *options) + '/v1/info') as answer:
            found = json.load(answer)['limits']
        return [found[name] for name in ('sets', 'sets_per_caller', 'set_bytes', 'set_bytes_per_caller', 'set_idle_seconds')]

    assert limits() == [1024, 1024, 32 << 20, 32 << 20, 900]
    assert limits('--sets', '3', '--sets-per-caller', '2', '--set-bytes', '3M', '--set-bytes-per-caller', '2M',
                  '--set-idle-seconds', '7') == [3, 2, 3 << 20, 2 << 20, 7]
    base = server_with('--memory-bytes', '64M', '--tokens', tokens)
    request = urllib.request.Request(base + '/v1/info', headers={'Authorization': f'Bearer {MINE}'})
    with urllib.request.urlopen(request) as answer:
        found = json.load(answer)['limits']
    assert found['set_bytes_per_caller'] == 16 << 20 and found['sets_per_caller'] == 512


def test_what_can_never_fit_is_too_large(server_with, server):
    most = bytes_of(server, 100)
    client = Client(server_with('--set-bytes', str(most)))
    assert client.put('a', document(100)).status == 201
    assert client.delete('a').status == 204
    is_refused(client.put('a', document(2000)), 413, 'set_too_large')
    assert client.list().json == {'sets': [], 'bytes': 0, 'limit_bytes': most}
    client.close()


def test_one_more_than_there_is_room_for(server_with, server):
    """A recently used set stays; ten seconds later it makes room."""
    most = bytes_of(server, 100)
    base = server_with('--set-bytes', str(most))
    client = Client(base)
    assert client.put('a', document(100)).status == 201
    is_refused(client.put('b', document(100)), 503, 'sets_full')
    assert client.get('a').status == 200 and client.get('b').status == 404
    assert count(base, '_refused_total') == 1 and count(base, '_bytes') <= most
    assert eventually(lambda: client.put('b', document(100)).status == 201)
    assert client.get('a').status == 404 and client.get('b').status == 200
    is_refused(client.evaluate('a', QUERY), 404, 'unknown_set')
    assert evictions(base) == {'idle': 0, 'own_room': 1, 'others_room': 0, 'equal_share': 0}
    client.close()


def test_more_sets_than_the_limit(server_with):
    client = Client(server_with('--sets', '2'))
    assert client.put('a', document()).status == 201 and client.put('b', document()).status == 201
    is_refused(client.put('c', document()), 503, 'sets_full')
    assert client.put('a', document(2)).status == 200
    assert client.delete('b').status == 204 and client.put('c', document()).status == 201
    client.close()


def test_limits_of_bodies_are_those_of_a_request(server_with):
    base = server_with('--max-json-bytes', '1000')
    client = Client(base)
    assert client.put('a', document()).status == 201
    for method in 'PUT', 'PATCH':
        assert client.send(method, '/v1/sets/a', b' ' * 1001).status == 413
        with socket.create_connection(('127.0.0.1', int(base.rsplit(':', 1)[1]))) as raw:
            raw.sendall(f'{method} /v1/sets/a HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\r\n'.encode())
            assert raw.recv(100).startswith(b'HTTP/1.1 411')
    assert client.get('a').status == 200
    client.close()


def test_large_sets_wait_for_their_turn(server_with):
    """Like any large request, they go through the queue, which counts their bytes and refuses too many."""
    base = server_with('--max-json-bytes', '100K', '--queue-bytes', '150K', '--max-frame-bytes', '100K')
    body = json.dumps(document(30000)).encode()
    assert 75 << 10 < len(body) < 100 << 10
    client = Client(base)
    assert client.put('a', body).status == 201 and client.patch('a', body).status == 200
    assert eventually(lambda: n_waited(base) == 2)
    with socket.create_connection(('127.0.0.1', int(base.rsplit(':', 1)[1]))) as upload:
        upload.sendall(b'PUT /v1/sets/b HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n'
                       b'Content-Length: %d\r\n\r\n' % len(body) + body[:-1])
        assert eventually(lambda: metric(base, 'frictiond_queue_bytes') > 75 << 10)
        assert client.patch('a', body).status == 503
        assert eventually(lambda: metric(base, 'frictiond_rejected_total{reason="memory"}') == 1)
        upload.sendall(body[-1:])
        assert upload.recv(100).startswith(b'HTTP/1.1 201')
    assert client.patch('a', {}).status == 200
    client.close()


# ---- time ----

def test_idle_sets_are_forgotten(server_with):
    base = server_with('--set-idle-seconds', '1')
    client = Client(base)
    put = client.put('a', document(100))
    assert put.status == 201 and put.json['idle_seconds'] == 1
    assert eventually(lambda: count(base, '') == 0)
    assert count(base, '_bytes') == 0 and evictions(base) == {'idle': 1, 'own_room': 0, 'others_room': 0, 'equal_share': 0}
    is_refused(client.get('a'), 404, 'unknown_set')
    assert eventually(lambda: metric(base, 'frictiond_memory_bytes{kind="requests"}') == 0)
    client.close()


def test_looking_does_not_keep_a_set(server_with):
    client = Client(server_with('--set-idle-seconds', '1'))
    assert client.put('a', document()).status == 201
    assert eventually(lambda: client.get('a').status == 404 and client.list().json['sets'] == [])
    client.close()


# ---- callers ----

def test_callers_have_sets_of_their_own(server_with, tokens):
    base = server_with('--tokens', tokens)
    mine, hers = Client(base, MINE), Client(base, HERS)
    first, second = mine.put('a', document(1)), hers.put('a', document(2))
    assert first.status == second.status == 201 and first.version != second.version
    assert mine.put('b', document(3)).status == 201
    assert [each['name'] for each in mine.list().json['sets']] == ['a', 'b']
    assert [each['n_collisions'] for each in hers.list().json['sets']] == [2]
    for answer in hers.get('b'), hers.delete('b'), hers.evaluate('b', QUERY), hers.patch('b', {}):
        is_refused(answer, 404, 'unknown_set')
    assert hers.delete('a').status == 204
    assert mine.get('a').version == first.version
    assert Client(base).get('a').status == Client(base, 'wrong').delete('a').status == 401
    mine.close(), hers.close()


def test_a_caller_has_a_share(server_with, server, tokens):
    one = bytes_of(server, 100)
    base = server_with('--tokens', tokens, '--set-bytes', str(3 * one), '--set-bytes-per-caller', str(2 * one))
    mine, hers = Client(base, MINE), Client(base, HERS)
    assert mine.put('a', document(100)).status == mine.put('b', document(100)).status == 201
    is_refused(mine.put('c', document(100)), 503, 'sets_full')
    assert hers.put('a', document(100)).status == 201
    is_refused(hers.put('b', document(100)), 503, 'sets_full')
    assert mine.list().json['limit_bytes'] == mine.list().json['bytes'] == 2 * one
    assert eventually(lambda: mine.put('c', document(100)).status == 201)
    assert [each['name'] for each in mine.list().json['sets']] == ['b', 'c']
    assert [each['name'] for each in hers.list().json['sets']] == ['a']
    is_refused(mine.put('d', document(2000)), 413, 'set_too_large')
    mine.close(), hers.close()


@pytest.fixture
def three(tmp_path):
    """The option for tokens of three callers, and a client of each."""
    path, tokens = tmp_path / 'three', [f'{name}-0123456789abcdef' for name in ('one', 'two', 'six')]
    path.touch(0o600)
    path.write_text(''.join(f'{token[:3]} {token}\n' for token in tokens))
    return ['--tokens', str(path)], lambda base: [Client(base, token) for token in tokens]


def fill(client, n, size=1):
    """Puts up to n sets; returns how many fitted."""
    for i in range(n):
        answer = client.put(f's{i}', document(size))
        if answer.status != 201:
            is_refused(answer, 503, 'sets_full')
            return i
    return n


def held(client):
    return len(client.list().json['sets'])


def forgotten(client):
    """{reason: sets}, as a caller with a token sees it."""
    text = client.send('GET', '/metrics').body.decode()
    found = re.findall(r'^frictiond_sets_evictions_total\{reason="(\w+)"\} (\d+)$', text, re.M)
    return {reason: int(n) for reason, n in found}


def test_names_are_shared(server_with, three):
    """Two callers fill the store as fast as they can; the third caller still gets a third."""
    options, clients = three
    base = server_with(*options, '--sets', '24')
    one, two, six = clients(base)
    assert fill(one, 24) == fill(two, 24) == 12
    assert fill(six, 24) == 8
    assert [held(client) for client in (one, two, six)] == [8, 8, 8]
    assert forgotten(six) == {'idle': 0, 'own_room': 0, 'others_room': 0, 'equal_share': 8}
    is_refused(one.put('more', document()), 503, 'sets_full')
    assert six.put('s0', document(2)).status == 200
    assert six.evaluate('s0', {'velocities': [[1, 0]]}).status == 200
    for client in one, two, six:
        client.close()


def test_bytes_are_shared(server_with, server, three):
    options, clients = three
    size = bytes_of(server, 400)
    base = server_with(*options, '--set-bytes', str(6 * size))
    one, two, six = clients(base)
    assert fill(one, 6, 400) == fill(two, 6, 400) == 3
    assert fill(six, 6, 400) == 2
    assert [held(client) for client in (one, two, six)] == [2, 2, 2]
    assert forgotten(six)['equal_share'] == 2 and sum(client.list().json['bytes'] for client in (one, two, six)) == 6 * size
    is_refused(one.put('more', document(400)), 503, 'sets_full')
    for client in one, two, six:
        client.close()


def test_one_caller_has_half_of_the_names(server_with, tokens):
    base = server_with('--tokens', tokens, '--sets', '6')
    mine, hers = Client(base, MINE), Client(base, HERS)
    assert fill(mine, 6) == 3 and fill(hers, 6) == 3
    assert [held(client) for client in (mine, hers)] == [3, 3]
    base = server_with('--tokens', tokens, '--sets', '6', '--sets-per-caller', '5')
    mine, hers = Client(base, MINE), Client(base, HERS)
    assert fill(mine, 6) == 5 and fill(hers, 6) == 3
    assert [held(client) for client in (mine, hers)] == [3, 3]


# ---- metrics and versions ----

def test_metrics_count(server_with):
    base = server_with()
    client = Client(base)
    client.put('a', document(1))
    client.put('b', document(2))
    client.put('a', document(3))
    for _ in range(3):
        assert client.evaluate('a', QUERY).status == 200
    hits = count(base, '_hits_total')
    assert client.evaluate('a', QUERY).status == 200
    assert client.evaluate('c', QUERY).status == 404
    assert client.delete('b').status == 204
    assert count(base, '') == 1 and count(base, '_bytes') == client.list().json['bytes'] > 0
    assert [count(base, f'_{name}_total') for name in ('created', 'replaced', 'removed', 'misses', 'refused')] == [2, 1, 1, 1, 0]
    assert count(base, '_hits_total') == hits + 1 >= 4
    assert eventually(lambda: metric(base, 'frictiond_requests_total{route="/v1/sets/{name}",status="201"}') == 2)
    client.close()


def test_a_drain_begins_nothing_but_takes_away(server_with):
    base = server_with('--drain-seconds', '3600')
    [process] = server_with.started
    client = Client(base)
    assert client.put('a', document()).status == 201
    with socket.create_connection(('127.0.0.1', int(base.rsplit(':', 1)[1]))) as upload:
        body = json.dumps(document(2)).encode()
        upload.sendall(b'PUT /v1/sets/b HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n'
                       b'Content-Length: %d\r\nExpect: 100-continue\r\n\r\n' % len(body))
        assert upload.recv(100).startswith(b'HTTP/1.1 100')
        process.send_signal(signal.SIGTERM)
        eventually(lambda: Client(base).send('GET', '/readyz').status == 503)
        for attempt in (lambda c: c.put('a', document(2)), lambda c: c.patch('a', {}), lambda c: c.evaluate('a', QUERY),
                        lambda c: c.check('a', QUERY)):
            is_refused(attempt(Client(base)), 503, 'draining')
        assert Client(base).get('a').status == 200 and Client(base).pattern('a').status == 200
        assert Client(base).delete('a').status == 204 and Client(base).get('a').status == 404
        upload.sendall(body)
        assert b'HTTP/1.1 201' in upload.recv(1000)


def test_pages_of_an_allowed_origin_may_use_them(server_with):
    client = Client(server_with('--allow-origin', ORIGIN))
    for method in 'PUT', 'PATCH', 'DELETE':
        asked = client.send('OPTIONS', '/v1/sets/a', Origin=ORIGIN, Access_Control_Request_Method=method,
                            Access_Control_Request_Headers='if-collision-set-version, if-none-match, content-type')
        assert asked.status == 204 and asked.headers['Access-Control-Allow-Origin'] == ORIGIN
        assert method in asked.headers['Access-Control-Allow-Methods'].split(', ')
        allowed = asked.headers['Access-Control-Allow-Headers'].lower().split(', ')
        assert {'if-collision-set-version', 'if-none-match', 'content-type'} <= set(allowed)
    answer = client.put('a', document(), Origin=ORIGIN)
    exposed = answer.headers['Access-Control-Expose-Headers'].split(', ')
    assert answer.status == 201 and {'Collision-Set-Version', 'ETag', 'Location', 'Accept-Patch'} <= set(exposed)
    assert client.put('a', document(2), Origin='https://b.example').status == 403
    pattern = client.pattern('a', Origin=ORIGIN)
    assert pattern.status == 200 and set(pattern.headers.get_all('Vary')) == {'Accept', 'Origin'}
    assert pattern.headers['ETag'] and pattern.headers['Access-Control-Allow-Origin'] == ORIGIN
    client.close()


def test_a_condition_comes_once(server):
    with socket.create_connection(('127.0.0.1', int(server.rsplit(':', 1)[1]))) as raw:
        raw.sendall(b'DELETE /v1/sets/a HTTP/1.1\r\nHost: localhost\r\nIf-Collision-Set-Version: a\r\n'
                    b'If-Collision-Set-Version: a\r\n\r\n')
        assert raw.recv(100).startswith(b'HTTP/1.1 400')


TAILS = '0', ' 0', ', ' + '0' * 32, '"', ' ' * 40 + '0', '0' * 100


def test_a_version_has_no_tail(server):
    """A request's version must match as a whole, not just its beginning, even if the patch has already been carried
    out."""
    client = Client(server)
    first, patch = client.put('tail', document()).version, {'friction': {'mu': 0.25}}
    asked = {'friction': {'mu': 0.5, 'eps_v': 0.1}, **{k: v for k, v in document().items() if k != 'friction'}}
    second = client.patch('tail', patch, If_Collision_Set_Version=first).version
    assert client.patch('tail', patch, If_Collision_Set_Version=first).status == 200
    for tail in TAILS:
        is_refused(client.patch('tail', patch, If_Collision_Set_Version=first + tail), 412, 'set_changed')
        for version in first + tail, second + tail, second[:-1], '"' + second + '"', second.upper() + '0':
            condition = {'If_Collision_Set_Version': version}
            for answer in (client.patch('tail', patch, **condition), client.get('tail', **condition),
                           client.evaluate('tail', QUERY, **condition), client.check('tail', QUERY, **condition),
                           client.pattern('tail', **condition), client.delete('tail', **condition)):
                is_refused(answer, 412, 'set_changed')
    third = client.put('tail', asked, If_Collision_Set_Version=second).version
    assert client.put('tail', asked, If_Collision_Set_Version=second).status == 200
    for tail in TAILS:
        for version in second + tail, third + tail:
            is_refused(client.put('tail', asked, If_Collision_Set_Version=version), 412, 'set_changed')
    assert client.delete('tail').status == 204
    client.close()


@pytest.mark.parametrize('header, value', [('If-Match', '*'), ('If-Match', '"a"'),
                                           ('If-Unmodified-Since', 'Sat, 29 Oct 1994 19:43:31 GMT')])
def test_conditions_of_other_services_are_refused(server, header, value):
    client, condition = Client(server), {header.replace('-', '_'): value}
    version = client.put('condition', document()).version
    for answer in (client.put('condition', document(2), **condition), client.put('another', document(2), **condition),
                   client.patch('condition', {}, **condition), client.get('condition', **condition),
                   client.delete('condition', **condition), client.evaluate('condition', QUERY, **condition),
                   client.check('condition', QUERY, **condition), client.pattern('condition', **condition),
                   client.send('POST', '/v1/sets/condition/jvp', b'{}', **condition),
                   client.send('POST', '/v1/sets/condition/vjp', b'{}', **condition)):
        is_refused(answer, 422, 'without_effect')
        assert header in answer.json['detail'] and 'If-Collision-Set-Version' in answer.json['detail']
    assert client.send('HEAD', '/v1/sets/condition', **condition).status == 422
    assert client.send('POST', '/v1/sets/condition', b'{}', **condition).status == 405
    assert client.get('condition').version == version and client.get('another').status == 404
    assert client.send('GET', '/v1/sets', **condition).status == client.send('GET', '/v1/info', **condition).status == 200
    assert client.delete('condition').status == 204
    client.close()


def test_spaces_are_no_part_of_a_version(server):
    client = Client(server)
    version = client.put('spaces', document()).version
    with socket.create_connection(('127.0.0.1', int(server.rsplit(':', 1)[1]))) as raw:
        raw.sendall(b'DELETE /v1/sets/spaces HTTP/1.1\r\nHost: localhost\r\nIf-Collision-Set-Version:  %s \t \r\n\r\n'
                    % version.encode())
        assert raw.recv(100).startswith(b'HTTP/1.1 204')
    client.close()


def test_memory_returns(server_with):
    base = server_with('--set-bytes', '8M', '--memory-bytes', '64M')
    client = Client(base)
    for i in range(300):
        assert client.put(f's{i % 7}', document(50 + i)).status in (200, 201)
        assert client.evaluate(f's{i % 7}', {**QUERY, 'outputs': ['hessian']}).status == 200
        if i % 3 == 0:
            assert client.delete(f's{i % 7}').status == 204
    listed = client.list().json
    assert sum(each['bytes'] for each in listed['sets']) == listed['bytes'] == count(base, '_bytes')
    for each in listed['sets']:
        assert client.delete(each['name']).status == 204
    assert count(base, '') == count(base, '_bytes') == 0
    assert eventually(lambda: metric(base, 'frictiond_memory_bytes{kind="requests"}') == 0)
    client.close()


# ---- many clients, little room ----

CLIENTS, OPERATIONS = 8, 150


class Solver(threading.Thread):
    """Puts, patches, evaluates and deletes sets under a few names that it shares with other clients of the same
    caller."""

    def __init__(self, base, token, seed):
        super().__init__()
        self.client, self.random = Client(base, token), random.Random(seed)
        self.sizes, self.answers, self.statuses = {}, [], collections.Counter()

    def run(self):
        for _ in range(OPERATIONS):
            self.do(f's{self.random.randrange(4)}', self.random.randrange(1, 400))
        self.client.close()

    def do(self, name, n):
        method = self.random.choice(['put', 'patch', 'evaluate', 'evaluate', 'delete'])
        if method == 'put':
            answer = self.client.put(name, document(n))
        elif method == 'patch':
            answer = self.client.patch(name, {'collisions': {'plane_vertex': {'vertices': [0] * n}}})
        elif method == 'delete':
            answer = self.client.delete(name)
        else:
            answer = self.client.evaluate(name, QUERY)
        self.statuses[method, answer.status] += 1
        if answer.status == 200 and method == 'evaluate':
            self.answers.append((answer.version, answer.json['potential']))
        elif answer.status in (200, 201):
            self.sizes[answer.version] = n


def test_many_clients_in_little_room(server_with, server, tokens):
    """Every response belongs to the version that it names, whatever was replaced or evicted meanwhile. Memory stays
    within its limit and is released."""
    one = bytes_of(server, 400)
    base = server_with('--tokens', tokens, '--set-bytes', str(4 * one), '--set-bytes-per-caller', str(2 * one))
    unit = Client(server).send('POST', '/v1/evaluate', {k: v for k, v in document().items() if k != 'n_vertices'} | QUERY)
    solvers = [Solver(base, (MINE, HERS)[i % 2], i) for i in range(CLIENTS)]
    for solver in solvers:
        solver.start()
    watching = Client(base, MINE)
    while any(solver.is_alive() for solver in solvers):
        text = watching.send('GET', '/metrics').body.decode()
        # A replaced set counts until it is released, and each client may be using one.
        assert int(re.search(r'^frictiond_sets_bytes (\d+)$', text, re.M)[1]) <= (4 + CLIENTS) * one
    sizes = {version: n for solver in solvers for version, n in solver.sizes.items()}
    statuses = sum((solver.statuses for solver in solvers), collections.Counter())
    assert {status for _, status in statuses} <= {200, 201, 204, 404, 503}, statuses
    assert {method for method, status in statuses if status == 503} <= {'put', 'patch'}
    assert min(statuses['put', 201], statuses['put', 200], statuses['patch', 200], statuses['delete', 204],
               statuses['evaluate', 200], statuses['evaluate', 404]) > 0, statuses
    for version, potential in (pair for solver in solvers for pair in solver.answers):
        assert potential == pytest.approx(sizes[version] * unit.json['potential'], rel=1e-12)
    for token in MINE, HERS:
        client = Client(base, token)
        for each in client.list().json['sets']:
            assert client.delete(each['name']).status == 204
        assert client.list().json['bytes'] == 0
        client.close()
    assert eventually(lambda: 'frictiond_memory_bytes{kind="requests"} 0\n' in watching.send('GET', '/metrics').body.decode())
    watching.close()
