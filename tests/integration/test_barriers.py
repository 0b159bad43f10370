"""Normal forces of every barrier, from JSON and frames, against a table of exact values; invalid barriers are
refused."""
import itertools
import math
import pathlib
import sys

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tests' / 'oracle'))
import barriers  # noqa: E402
import sets  # noqa: E402
from sets import FRAME, JSON  # noqa: E402

TYPES, SCALINGS = list(barriers.TYPES), ['none', 'physical']
ULPS = 8


def table():
    """{type: {(dhat, stiffness, dmin): [(distance, force, physical)]}} of tests/reference/make_barriers.py"""
    found = {kind: {} for kind in TYPES}
    for line in (ROOT / 'tests/reference/barriers_mp.txt').read_text().splitlines():
        kind, *numbers = line.split()
        distance, dhat, stiffness, dmin, *forces = map(float.fromhex, numbers)
        found[kind].setdefault((dhat, stiffness, dmin), []).append((distance, *forces))
    return found


TABLE = table()


@pytest.fixture
def client(server):
    yield sets.Client(server)
    sets.Client(server).send('DELETE', sets.path('barriers'))


def request(distances, barrier):
    """A vertex at 0, and one at each distance from it."""
    n = len(distances)
    return {'dim': 2, 'velocities': [[0.5, 1.5]] * (n + 1), 'positions': [[0.0, 0.0]] + [[d, 0.0] for d in distances],
            'friction': {'eps_v': 1e-3, 'mu': 0.5}, 'barrier': barrier,
            'collisions': {'vertex_vertex': {'vertices': [[0, i + 1] for i in range(n)]}}, 'outputs': ['collisions'],
            'collision_outputs': ['normal_force', 'distance']}


def within(got, expected):
    return abs(got - expected) <= ULPS * math.ulp(expected)


@pytest.mark.parametrize('media', [JSON, FRAME])
@pytest.mark.parametrize('scaling', SCALINGS)
@pytest.mark.parametrize('kind', TYPES)
def test_forces(client, kind, scaling, media):
    n = 0
    for (dhat, stiffness, dmin), rows in TABLE[kind].items():
        barrier = {'dhat': dhat, 'stiffness': stiffness, 'dmin': dmin, 'type': kind, 'scaling': scaling}
        expected = [row[1 + SCALINGS.index(scaling)] for row in rows]
        distances = [row[0] for row in rows]
        answer = client.send('POST', '/v1/evaluate', request(distances, barrier), media, Accept=JSON)
        infinite = [i for i, force in enumerate(expected) if math.isinf(force)]
        if infinite:
            assert answer.status == 422, answer
            assert answer.pointers == [f'/collisions/vertex_vertex/vertices/{infinite[0]}'], answer
            continue
        assert answer.status == 200, (barrier, answer)
        group = answer.json['collisions']['vertex_vertex']
        assert group['distance'] == distances
        assert all(map(within, group['normal_force'], expected)), (barrier, distances, group['normal_force'], expected)
        n += len(rows)
    assert n > 300


def test_defaults(client):
    """The defaults are clamped_log and none."""
    distances, barrier = [0.1, 0.25, 0.75], {'dhat': 1.0, 'stiffness': 3.0}
    [plain, *others] = [client.send('POST', '/v1/evaluate', request(distances, {**barrier, **words})).json for words in (
        {}, {'type': 'clamped_log'}, {'scaling': 'none'}, {'type': 'clamped_log', 'scaling': 'none'})]
    assert plain['collisions'] and all(other == plain for other in others)


def test_every_type_has_its_own_forces(client):
    """Every type has an effect; the first two barriers differ only in their unit."""
    forces = set()
    for kind, scaling in itertools.product(TYPES, SCALINGS):
        barrier = {'dhat': 0.5, 'stiffness': 3.0, 'dmin': 0.125, 'type': kind, 'scaling': scaling}
        answer = client.send('POST', '/v1/evaluate', request([0.25], barrier)).json
        forces.add(round(answer['collisions']['vertex_vertex']['normal_force'][0], 9))
    assert len(forces) == 2 * len(TYPES) - 1 and min(forces) > 0


@pytest.mark.parametrize('kind', TYPES)
def test_penetration(client, kind):
    for distance in (0.25, 0.125):
        barrier = {'dhat': 0.5, 'stiffness': 3.0, 'dmin': 0.25, 'type': kind}
        document = request([0.5, distance], barrier)
        answer = client.send('POST', '/v1/evaluate', document)
        assert answer.status == 422 and answer.pointers == ['/collisions/vertex_vertex/vertices/1'], answer
        answer = client.send('POST', '/v1/evaluate', {**document, 'on_degenerate': 'skip'})
        assert answer.status == 200 and answer.json['skipped'] == [
            {'group': 'vertex_vertex', 'index': 1, 'reason': 'penetration'}], answer


WRONG = [
    ({'type': 'log'}, ['type']), ({'type': ''}, ['type']), ({'type': 'Cubic'}, ['type']), ({'type': 'none'}, ['type']),
    ({'type': None}, ['type']), ({'type': 0}, ['type']), ({'type': True}, ['type']), ({'type': {}}, ['type']),
    ({'type': ['cubic']}, ['type']), ({'type': []}, ['type']), ({'type': [1.0, 2.0]}, ['type']),
    ({'scaling': 'physics'}, ['scaling']), ({'scaling': None}, ['scaling']), ({'scaling': False}, ['scaling']),
    ({'scaling': 1}, ['scaling']), ({'scaling': {'a': 1}}, ['scaling']), ({'scaling': ['physical']}, ['scaling']),
    ({'scaling': 'cubic'}, ['scaling']), ({'type': 3, 'scaling': 3}, ['type', 'scaling']),
    ({'types': 'cubic'}, ['types']), ({'use_physical_barrier': True}, ['use_physical_barrier']),
    ({'type': 'cubic', 'dhat': 0}, ['dhat']), ({'type': 'cubic', 'scaling': 'physical', 'dmin': -1}, ['dmin']),
]


@pytest.mark.parametrize('media', [JSON, FRAME])
@pytest.mark.parametrize('fields,names', WRONG, ids=range(len(WRONG)))
def test_invalid_fields(client, fields, names, media):
    document = request([0.25], {'dhat': 0.5, 'stiffness': 3.0, **fields})
    for path in '/v1/evaluate', '/v1/check':
        answer = client.send('POST', path, document, media)
        assert answer.status == 422 and answer.pointers == ['/barrier/' + name for name in names], answer


def test_words_are_judged_where_no_barrier_is_needed(client):
    document = request([0.25], {'dhat': 0.5, 'stiffness': 3.0, 'type': 'quartic'})
    document['collisions']['vertex_vertex']['normal_force'] = [2.0]
    answer = client.send('POST', '/v1/evaluate', document)
    assert answer.status == 422 and answer.pointers == ['/barrier/type']


def test_a_patch_of_the_type(client):
    """A set's barrier is part of the stored document; another type makes another version."""
    document = {k: v for k, v in request([0.25, 0.5], {'dhat': 0.5, 'stiffness': 3.0, 'dmin': 0.125}).items()
                if k not in ('velocities', 'outputs', 'collision_outputs')}
    query = {'velocities': [[0.5, 1.5]] * 3, 'outputs': ['collisions'], 'collision_outputs': ['normal_force']}
    versions = {client.put('barriers', document).version}
    for kind, scaling in itertools.product(TYPES[1:], SCALINGS):
        words = {'type': kind, 'scaling': scaling}
        versions.add(client.patch('barriers', {'barrier': words}).version)
        expected = client.send('POST', '/v1/evaluate', {**request([0.25, 0.5], {**document['barrier'], **words})}).json
        answer = client.send('POST', sets.path('barriers') + '/evaluate', query).json
        forces = answer['collisions']['vertex_vertex']['normal_force']
        assert np.all(np.array(forces) > 0)
        assert forces == expected['collisions']['vertex_vertex']['normal_force']
    assert len(versions) == 1 + 2 * len(TYPES[1:])
