"""Many clients on the same few sets: every response has the bytes of the whole request's, for the version that it
names.

SETS_CLIENTS: how many (8); SETS_REQUESTS: how many each sends (150).
"""
import json
import os
import random
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'oracle'))
import sets  # noqa: E402
from sets import FRAME, JSON, Client  # noqa: E402

CLIENTS, REQUESTS = int(os.environ.get('SETS_CLIENTS', 8)), int(os.environ.get('SETS_REQUESTS', 150))
NAMES = ['one', 'two', 'three']


def document(n, mu):
    """n vertices above a floor, some contacts of them with each other; large ones go through the queue."""
    rng = random.Random(n)
    positions = [[i * 0.5, rng.random(), 0.05 + 0.1 * rng.random()] for i in range(n)]
    return {'dim': 3, 'positions': positions, 'friction': {'eps_v': 0.5, 'mu': mu},
            'barrier': {'dhat': 0.4, 'stiffness': 100},
            'collisions': {'vertex_vertex': {'vertices': [[i, i + 1] for i in range(n - 1)], 'normal_force': 2},
                           'plane_vertex': {'vertices': list(range(n)), 'plane_normal': [0, 0, 1],
                                            'plane_origin': [0, 0, 0]}}}


SIZES = [2, 40, 900]
DOCUMENTS = [document(n, mu) for n in SIZES for mu in (0.2, 0.7)]
PATCHES = [{'friction': {'mu': 0.4}}, {'collisions': {'vertex_vertex': None}}, {'barrier': {'dhat': 0.3}}]


def query(n, kind):
    rng = random.Random(kind)
    outputs = [['potential', 'gradient'], ['hessian'], ['collisions'], ['potential', 'gradient', 'hessian']][kind]
    return {'velocities': [[rng.gauss(0, 1) for _ in range(3)] for _ in range(n)], 'outputs': outputs,
            'hessian': {'format': 'csr'}}


class Expected:
    """The document of each version, and the response to the whole request, requested once."""

    def __init__(self, base):
        self.lock, self.client, self.documents, self.answers = threading.Lock(), Client(base), {}, {}

    def learn(self, version, content):
        with self.lock:
            self.documents[version] = content

    def answer(self, version, kind, media):
        with self.lock:
            key = (version, kind, media)
            if key not in self.answers:
                content = self.documents[version]
                n = len(content['positions'])
                got = self.client.send('POST', '/v1/evaluate', {**content, **query(n, kind)}, media)
                assert got.status == 200
                self.answers[key] = got.body
            return self.answers[key]


def learn_all(base, expected):
    """The versions of all documents and of patched ones, two patches deep."""
    client = Client(base)
    for content in DOCUMENTS:
        put = client.put('learn', json.dumps(content).encode())
        expected.learn(put.version, content)
        for first in PATCHES:
            client.put('learn', json.dumps(content).encode())
            once = client.patch('learn', json.dumps(first).encode())
            expected.learn(once.version, sets.merge(content, first))
    client.delete('learn')
    client.close()


def run(base, seed, expected, failures, counts):
    client, rng = Client(base), random.Random(seed)
    try:
        for _ in range(REQUESTS):
            name, what = rng.choice(NAMES), rng.random()
            if what < 0.15:
                assert client.put(name, json.dumps(rng.choice(DOCUMENTS)).encode()).status in (200, 201)
            elif what < 0.3:
                patch(client, name, rng, expected)
            elif what < 0.33:
                assert client.delete(name).status in (204, 404)
            else:
                counts[evaluate(client, name, rng, expected)] += 1
    except Exception as e:  # noqa: BLE001
        failures.append(repr(e)[:2000])
    finally:
        client.close()


def patch(client, name, rng, expected):
    """Patches only original documents: the versions of patched patches are unknown."""
    version = client.get(name).version
    with expected.lock:
        content = expected.documents.get(version)
    if content not in DOCUMENTS:
        return
    change = rng.choice(PATCHES)
    answer = client.patch(name, json.dumps(change).encode(), If_Collision_Set_Version=version)
    assert answer.status in (200, 404, 412), answer


def evaluate(client, name, rng, expected):
    version = client.get(name).version
    if version is None:
        return 'absent'
    with expected.lock:
        n = len(expected.documents[version]['positions'])
    kind, media = rng.randrange(4), rng.choice([JSON, FRAME])
    answer = client.evaluate(name, query(n, kind), media)
    if answer.status == 404:
        return 'absent'
    if answer.status == 422:  # replaced meanwhile by one with another number of vertices
        assert answer.version != version and answer.pointers == ['/velocities'], answer
        return 'other'
    assert answer.status == 200, answer
    assert answer.body == expected.answer(answer.version, kind, media), (name, kind, media)
    return 'right'


def test_many_clients(server):
    expected, failures, counts = Expected(server), [], {'right': 0, 'absent': 0, 'other': 0}
    learn_all(server, expected)
    threads = [threading.Thread(target=run, args=(server, seed, expected, failures, counts)) for seed in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert counts['right'] > CLIENTS * REQUESTS / 5, counts
    client = Client(server)
    for name in NAMES:
        client.delete(name)
    assert client.list().json['sets'] == [] and client.list().json['bytes'] == 0
