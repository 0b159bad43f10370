"""Many operations by several callers on more sets than there is room for: memory stays bounded and is released, each
caller sees only its own sets, and answers are those of a client that is alone.

SETS_OPERATIONS: total number (6000, or a twentieth with a small SHARE).
"""
import json
import os
import random
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'oracle'))
from conftest import ONE_IN, SEES_RESIDENT, eventually, metric, resident_bytes  # noqa: E402
from sets import FRAME, JSON, Client, frame, path  # noqa: E402
from test_contacts import grid  # noqa: E402

OPERATIONS = int(os.environ.get('SETS_OPERATIONS', 6000 // min(ONE_IN, 20)))
CLIENTS, CALLERS = 8, 3
NAMES = min(60, OPERATIONS // 30)  # few enough to meet known ones
SET_BYTES = 64 << 20
TOKENS = [letter * 32 for letter in 'abc']


def document(rng):
    """A set with two to twenty thousand contacts: (document, n, mu)"""
    n = rng.choice([2, 20, 200, 2000, 5000, 20000])
    mu = rng.randrange(1, 1000) / 1000
    return {'dim': 3, 'n_vertices': n, 'friction': {'eps_v': 0.5, 'mu': mu},
            'collisions': {'plane_vertex': {'vertices': list(range(n)), 'plane_normal': [0, 0, 1],
                                            'normal_force': 2}}}, n, mu


def expected(n, mu):
    """n vertices slide at twice eps_v: the kinetic force of each is mu times 2, along its velocity."""
    return [mu * 2, 0.0, 0.0] * n


class Caller:
    """Records what it last put under each name; several clients share it."""

    def __init__(self, number):
        self.number, self.lock, self.sent = number, threading.Lock(), {}


def operate(base, caller, seed, n_operations, failures, counts):
    client, rng = Client(base, TOKENS[caller.number]), random.Random(seed)
    try:
        for i in range(n_operations):
            counts[step(client, caller, rng, f'{seed}-{rng.randrange(NAMES)}')] += 1
    except Exception as e:  # noqa: BLE001
        failures.append(repr(e)[:1000])
    finally:
        client.close()


def step(client, caller, rng, name):
    what = rng.random()
    if what < 0.25:
        return put(client, caller, rng, name)
    if what < 0.35:
        return patch(client, caller, rng, name)
    if what < 0.4:
        assert client.delete(name).status in (204, 404)
        caller.sent.pop(name, None)
        return 'deleted'
    if what < 0.42:
        mine = client.list().json
        assert all(int(s['name'].split('-')[0]) % CALLERS == caller.number for s in mine['sets'])
        assert mine['bytes'] <= mine['limit_bytes'] == SET_BYTES // 2
        return 'listed'
    return evaluate(client, caller, rng, name)


def put(client, caller, rng, name):
    content, n, mu = document(rng)
    kind = rng.choice([JSON, FRAME])
    caller.sent[name] = None  # unknown until the response
    answer = client.put(name, frame(content) if kind == FRAME else json.dumps(content).encode(), kind)
    assert answer.status in (200, 201, 503), answer
    if answer.status == 503:
        assert answer.json['code'] in ('sets_full', 'out_of_memory', 'queue_full'), answer
        caller.sent[name] = 'any'
        return 'full'
    caller.sent[name] = n, mu
    return 'put'


def patch(client, caller, rng, name):
    mu = rng.randrange(1, 1000) / 1000
    answer = client.patch(name, {'friction': {'mu': mu}})
    assert answer.status in (200, 404, 503), answer
    if answer.status == 200 and isinstance(caller.sent.get(name), tuple):
        caller.sent[name] = caller.sent[name][0], mu
    return {200: 'patched', 404: 'forgotten', 503: 'full'}[answer.status]


def evaluate(client, caller, rng, name):
    known = caller.sent.get(name)
    if not isinstance(known, tuple):
        return 'unknown'
    n, mu = known
    answer = client.evaluate(name, {'velocities': [1.0, 0.0, 0.0] * n, 'outputs': ['gradient']})
    assert answer.status in (200, 404, 503), answer
    if answer.status != 200:
        return 'forgotten' if answer.status == 404 else 'full'
    gradient = answer.json['gradient']
    assert all(abs(a - b) <= 1e-14 for a, b in zip(gradient, expected(n, mu), strict=True)), (name, n, mu)
    return 'right'


def run_all(work, arguments):
    """Runs the clients at the same time."""
    threads = [threading.Thread(target=work, args=each) for each in arguments]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_load(server_with, tmp_path):
    """Every client uses names of its own, so that it can predict their contents; the clients of a caller share its
    quota."""
    tokens = tmp_path / 'tokens'
    tokens.write_text(''.join(f'caller-{i} {token}\n' for i, token in enumerate(TOKENS)))
    tokens.chmod(0o600)
    base = server_with('--tokens', str(tokens), '--set-bytes', '64M', '--memory-bytes', '512M', '--log-level', 'warning')
    process = server_with.started[-1]
    callers, failures = [Caller(i) for i in range(CALLERS)], []
    counts = dict.fromkeys(['put', 'patched', 'deleted', 'listed', 'right', 'forgotten', 'full', 'unknown'], 0)
    run_all(operate, [(base, callers[i % CALLERS], i, OPERATIONS // CLIENTS, failures, counts) for i in range(CLIENTS)])
    assert failures == []
    assert counts['right'] > OPERATIONS / 20, counts
    if SEES_RESIDENT:
        assert resident_bytes(process, 'VmHWM') < 700 << 20
    clients = [Client(base, token) for token in TOKENS]
    for client in clients:
        for each in client.list().json['sets']:
            assert client.delete(each['name']).status == 204
    eventually(lambda: all(client.list().json['bytes'] == 0 for client in clients))
    print(counts)


def test_memory_of_sets_is_released(server_with):
    """All memory that sets took is available to requests again."""
    base = server_with('--set-bytes', '64M')
    client = Client(base)
    rng = random.Random(1)
    for i in range(200 // min(ONE_IN, 6)):
        content, n, _ = document(rng)
        assert client.put(f'run-{i % 20}', content).status in (200, 201)
        assert client.evaluate(f'run-{i % 20}', {'velocities': [1.0, 0, 0] * n, 'hessian': {'format': 'csr'}}).status == 200
    assert metric(base, 'frictiond_sets') == 20 and 0 < metric(base, 'frictiond_sets_bytes') <= 64 << 20
    for i in range(20):
        assert client.delete(f'run-{i}').status == 204
    eventually(lambda: metric(base, 'frictiond_sets_bytes') == 0)
    eventually(lambda: metric(base, 'frictiond_memory_bytes{kind="requests"}') < 1 << 20)


# --- sets from meshes -------------------------------------------------------------------------------------------------

KINDS = 4
ROOM, ROWS = (64 << 20, 16) if ONE_IN == 1 else (32 << 20, 11)  # of sets; of the smallest sheet
STEPS = 3 if ONE_IN == 1 else 1


def sheets(kind):
    """(positions, mesh) of a bumpy sheet of about a thousand triangles, and a smaller one just above it."""
    rng = random.Random(kind)
    n = ROWS + ROWS * kind // 4
    lower, faces = grid(n, 0, rng, 0)
    upper, more = grid(n // 2, 0.05, rng, len(lower))
    upper = [[0.25 + x / 2, 0.25 + y / 2, z] for x, y, z in upper]
    return lower + upper, {'faces': faces + more, 'body': [0] * len(lower) + [1] * len(upper), 'ignore': [[0, 0], [1, 1]]}


def script(kind):
    """The requests of a solver: (method, path behind the set's, body). The upper sheet slides over the lower one."""
    positions, mesh = sheets(kind)
    first = mesh['body'].index(1)
    velocities = [[0.0, 0.0, 0.0]] * first + [[0.03125, 0.015625, 0.0]] * (len(positions) - first)
    at = [[[x + step * v for x, v in zip(*rows, strict=True)] for rows in zip(positions, velocities, strict=True)]
          for step in range(STEPS + 1)]
    question = {'velocities': velocities, 'outputs': ['gradient', 'collisions'], 'collision_outputs': ['anchor']}
    requests = [('PUT', '', {'dim': 3, 'positions': at[0], 'mesh': mesh, 'margin': 0.0078125, 'anchors': True,
                             'barrier': {'dhat': 0.0625, 'stiffness': 1}, 'friction': {'eps_v': 0.0625, 'mu': 0.5}})]
    for step in range(STEPS):
        requests += [('POST', '/evaluate', frame(question)),
                     ('POST', '/advance', frame({'velocities': velocities, 'positions': at[step + 1]}))]
    requests += [('PATCH', '', frame({'friction': {'mu': 0.25}})), ('POST', '/evaluate', frame(question)),
                 ('GET', '/contacts?merge=false', None)]
    return [(method, behind, frame(body) if isinstance(body, dict) else body) for method, behind, body in requests]


def solve(client, name, requests, expected=None):
    """Sends a script and returns the answers. A set that is forgotten is put again, as often as that happens."""
    answers = []
    while len(answers) < len(requests):
        method, behind, body = requests[len(answers)]
        answer = client.send(method, path(name) + behind, body, FRAME, Accept=f'{FRAME}, {JSON};q=0.5')
        if answer.status == 404:
            answers = []
            continue
        if answer.status == 503:
            return None
        assert answer.status in (200, 201), answer
        answers.append(answer.body.replace(name.encode(), b'NAME'))
        assert expected is None or answers[-1] == expected[len(answers) - 1], (name, len(answers), answer)
    return answers


def run_scripts(base, number, scripts, alone, n_sets, failures, counts):
    """Solves n_sets times and keeps the sets, of which it deletes the oldest one when there is no room."""
    client, kept = Client(base), []
    try:
        for i in range(n_sets):
            kind, name = (number + i) % KINDS, f'set-{(number + i) % KINDS}-{number}-{i}'
            while solve(client, name, scripts[kind], alone[kind]) is None:
                counts['full'] += 1
                assert client.delete(kept.pop(0) if kept else name).status in (204, 404)
                time.sleep(0.05)
            kept.append(name)
            counts['solved'] += 1
    except Exception as e:  # noqa: BLE001
        failures.append(repr(e)[:1000])
    finally:
        client.close()


def test_load_of_meshes(server_with):
    """Eight clients put and advance more sets than there is room for. Their answers are those of a client that is alone,
    byte for byte, and all memory is available again at the end."""
    base = server_with('--set-bytes', str(ROOM), '--memory-bytes', '512M', '--log-level', 'warning')
    scripts = [script(kind) for kind in range(KINDS)]
    client, failures, counts = Client(base), [], dict.fromkeys(['solved', 'full'], 0)
    alone = [solve(client, f'alone-{kind}', requests) for kind, requests in enumerate(scripts)]
    bytes_alone = client.list().json['bytes']
    for kind in range(KINDS):
        assert client.delete(f'alone-{kind}').status == 204
    # a third more than there is room for
    n_sets = round(4 / 3 * ROOM / (bytes_alone / KINDS) / CLIENTS)
    run_all(run_scripts, [(base, i, scripts, alone, n_sets, failures, counts) for i in range(CLIENTS)])
    listed = client.list().json
    assert failures == []
    assert counts['solved'] == CLIENTS * n_sets > len(listed['sets']), counts  # others were deleted or forgotten
    assert ROOM / 2 < listed['bytes'] <= listed['limit_bytes'] == ROOM
    for each in listed['sets']:
        assert client.delete(each['name']).status == 204
    eventually(lambda: metric(base, 'frictiond_sets_bytes') == 0)
    eventually(lambda: metric(base, 'frictiond_memory_bytes{kind="requests"}') < 1 << 20)
    print(counts)
