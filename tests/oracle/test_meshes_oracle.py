"""Random meshes: POST /v1/contacts beside brute force, evaluations of what it finds, and longest steps.

MESH_REQUESTS: how many (300, or 12 with SHARE); MESH_FIRST: the first seed (0).
"""
import json
import math
import os
import random
import sys

import numpy as np
import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '..', 'integration')]
import generate_meshes as made  # noqa: E402
import mesh_steps  # noqa: E402
import meshes  # noqa: E402
from client import pointers, post  # noqa: E402
from conftest import server  # noqa: E402, F401
from stencils import canonical, rows  # noqa: E402

FIRST = int(os.environ.get('MESH_FIRST', 0))
COUNT = int(os.environ.get('MESH_REQUESTS', 12 if int(os.environ.get('SHARE', 1)) > 1 else 300))
SEEDS = range(FIRST, FIRST + COUNT)
EXACT = ('vertices', 'plane_normal', 'plane_origin')
CLOSE = 1e-12


def close(got, expected):
    return math.isclose(got, expected, rel_tol=CLOSE) or got == expected


# --- contacts -----------------------------------------------------------------------------------------------------

@pytest.mark.parametrize('seed', SEEDS)
def test_contacts(server, tmp_path, seed):  # noqa: F811
    request = made.request(seed)
    kept = tmp_path / f'request-{seed}.json'
    kept.write_text(json.dumps(request))
    status, got = post(server, '/v1/contacts', request)
    assert status == 200, f'{got}; request in {kept}'
    finding = meshes.Finding(request)
    faults = list(differences(got, finding.answer(), finding))
    assert faults == [], f'request in {kept}'


def test_a_vertex_on_a_plane(server):  # noqa: F811
    """Its distance is exactly 0, though digits are lost where the normal is made a unit vector."""
    unit = 2.0 ** -20
    request = {'dim': 3, 'positions': [[-5 * unit, -22 * unit, 23 * unit]], 'distance': unit, 'outputs': ['distances'],
               'mesh': {'vertices': [0], 'planes': {'normal': [[1, 2, 2]], 'origin': [[-unit, -unit, 0]]}}}
    status, got = post(server, '/v1/contacts', request)
    assert status == 200 and got['min_distance'] == 0 and got['distances']['plane_vertex'] == [0], got


def differences(got, expected, finding):
    if set(got) != set(expected):
        yield f'has {sorted(got)}, expected {sorted(expected)}'
        return
    for name in ('n_vertices', 'n_collisions'):
        if got[name] != expected[name]:
            yield f'{name} is {got[name]}, expected {expected[name]}'
    a, b = got['min_distance'], expected['min_distance']
    if (a is None) != (b is None) or a is not None and not close(a, b):
        yield f'min_distance is {a}, expected {b}'
    for part in ('collisions', 'distances'):
        if set(got.get(part, {})) != set(expected.get(part, {})):
            yield f'{part} has {sorted(got[part])}'
            return
    for group, fields in expected.get('collisions', {}).items():
        yield from of_group(group, got['collisions'][group], fields, finding)
    for group, values in expected.get('distances', {}).items():
        yield from unlike(f'distances/{group}', got['distances'][group], values, close)


def of_group(group, got, expected, finding):
    if set(got) != set(expected):
        yield f'{group} has {sorted(got)}, expected {sorted(expected)}'
        return
    for name, values in expected.items():
        if name == 'anchor':
            allowed = [c.choice.allowed for c in finding.contacts[group]]
            if len(got[name]) != len(allowed) or any(tuple(x) not in a for x, a in zip(got[name], allowed)):
                yield f'{group}/anchor is {got[name]}, expected {values}'
            continue
        exact = name in EXACT or name == 'weight' and not finding.by_area
        blur = 0 if exact or name != 'weight' else finding.mesh.blur * len(finding.pairs)
        yield from unlike(f'{group}/{name}', got[name], values, (lambda a, b: a == b) if exact else
                          (lambda a, b: close(a, b) or abs(a - b) <= blur))


def unlike(name, got, expected, same):
    if len(got) != len(expected):
        extra, missing = [x for x in got if x not in expected], [x for x in expected if x not in got]
        yield f'{name} has {extra} too many, lacks {missing}'
        return
    wrong = [i for i, pair in enumerate(zip(got, expected)) if not same(*pair)]
    if wrong:
        yield f'{name} is {[got[i] for i in wrong]}, expected {[expected[i] for i in wrong]} at {wrong}'


# --- evaluations --------------------------------------------------------------------------------------------------

@pytest.mark.parametrize('seed', SEEDS)
def test_evaluations_of_both_lists(server, tmp_path, seed):  # noqa: F811
    """The potential, gradient and Hessian of merged contacts are those of the pairs with searched features."""
    request, rng = made.request(seed), random.Random(seed)
    request = {k: v for k, v in request.items() if k not in ('previous', 'outputs', 'merge')}
    lists = [post(server, '/v1/contacts', {**request, 'merge': merge}) for merge in (True, False)]
    assert [status for status, _ in lists] == [200, 200], lists
    n, dim = len(rows(request['positions'], request['dim'])), request['dim']
    answers = []
    velocities = [[rng.gauss(0, 1) for _ in range(dim)] for _ in range(n)]
    for mode, (_, found) in zip(('given', 'search'), lists):
        asked = {'dim': dim, 'positions': request['positions'], 'collisions': found['collisions'],
                 'velocities': velocities, 'terms': ['friction', 'barrier'], 'closest_features': mode,
                 'on_degenerate': 'skip',
                 'friction': {'mu': 0.5, 'eps_v': 0.5}, 'outputs': ['potential', 'gradient', 'hessian', 'collisions'],
                 'barrier': {'dhat': request['distance'], 'dmin': request.get('min_distance', 0), 'stiffness': 1},
                 'collision_outputs': ['potential', 'barrier_potential', 'barrier_force', 'friction_force']}
        status, answer = post(server, '/v1/evaluate', asked)
        (tmp_path / f'{mode}.json').write_text(json.dumps(asked))
        assert status == 200, f'{answer}; request in {tmp_path}'
        answers.append(answer)
    merged, pairs = answers
    for name, sizes in (('potential', ('potential', 'barrier_potential')),
                        ('gradient', ('barrier_force', 'friction_force'))):
        scale = sum(np.abs(c[k]).sum() for c in pairs['collisions'].values() for k in sizes if k in c)
        apart = np.abs(np.array(merged[name]) - np.array(pairs[name])).max()
        assert apart <= CLOSE * scale, f'{name} {apart} of {scale}; requests in {tmp_path}'
    a, b = (matrix(x['hessian'], n * dim) for x in (merged, pairs))
    scale = np.zeros(n * dim)
    np.add.at(scale, pairs['hessian']['rows'], np.abs(pairs['hessian']['values']))
    assert np.abs(a - b).max() <= 1e-11 * max(scale.max(), 1e-300), f'requests in {tmp_path}'


def matrix(hessian, n):
    out = np.zeros((n, n))
    np.add.at(out, (hessian['rows'], hessian['cols']), hessian['values'])
    return out


# --- longest steps ------------------------------------------------------------------------------------------------

def moving(seed):
    """(request, pairs, direction) of a scene whose vertices move."""
    rng = random.Random(f'steps/{seed}')
    scene = made.Scene(rng, crowds=0)
    out = {'dim': scene.dim, 'positions': scene.positions, 'distance': scene.scale, 'outputs': ['longest_step']}
    if rng.random() < 0.15:
        out['candidates'] = scene.candidates()
    else:
        out['mesh'] = scene.mesh()
    pairs = meshes.Finding(out).pairs
    least = min((g for g, _ in mesh_steps.gaps(pairs, out['positions'], 0)), default=0)
    if rng.random() < 0.3:
        out['min_distance'] = least * rng.choice([0.5, 0.999, 0.1]) if least else 0
    out['longest_step'] = {'direction': directions(rng, scene)}
    if rng.random() < 0.6:
        out['longest_step']['keep'] = rng.choice([0.5, 0.9, 0.01, rng.uniform(0.01, 0.99)])
    return out, pairs


def directions(rng, scene):
    """Noise, parts that move as a whole, or turns about a point."""
    how, zero = rng.choice(['noise', 'rigid', 'turn', 'few']), [0.0] * scene.dim
    size = scene.scale * 10 ** rng.uniform(-2, 1.5)
    velocity = {label: [rng.gauss(0, size) for _ in zero] for label in set(scene.body)}
    if how == 'rigid':
        return [velocity[b] for b in scene.body]
    if how == 'turn':
        c, rate = rng.choice(scene.positions), size / scene.scale
        return [[rate * (c[1] - p[1]), rate * (p[0] - c[0]), *zero[2:]] for p in scene.positions]
    return [[rng.gauss(0, size) for _ in zero] if how == 'noise' or rng.random() < 0.3 else zero
            for _ in scene.positions]


def alike(pair, vertices):
    """Of candidates that stand twice, either row of the face may be named."""
    return pair.vertices == vertices or pair.group == 'face_vertex' and (
        pair.vertices[0] == vertices[0] and set(pair.vertices) == set(vertices))


@pytest.mark.parametrize('seed', SEEDS)
def test_longest_steps(server, tmp_path, seed):  # noqa: F811
    request, pairs = moving(seed)
    kept = tmp_path / f'request-{seed}.json'
    kept.write_text(json.dumps(request))
    status, answer = post(server, '/v1/contacts', request)
    dmin, keep = request.get('min_distance', 0), request['longest_step'].get('keep', 0.1)
    start = mesh_steps.gaps(pairs, request['positions'], dmin)
    touching = [p for g, p in start if g <= 0]
    if touching:
        assert status == 422 and answer['code'] == 'penetration', f'{answer}; request in {kept}'
        place = (f'/positions/{v}' for p in touching for v in p.vertices)
        assert 'candidates' in request or pointers(answer)[0] in place, f'{answer}; request in {kept}'
        return
    assert status == 200, f'{answer}; request in {kept}'
    got = answer['longest_step']
    assert set(got) == {'step', 'group', 'vertices'}
    direction = request['longest_step']['direction']
    low, high = mesh_steps.bounds(pairs, request['positions'], direction, dmin, keep)
    blur = 1e-6 if request['positions'][0][0] > 1e5 else 1e-9  # this bound is computed in doubles
    assert got['step'] <= (1 if high is None else high * (1 + blur)), (got, low, high, f'request in {kept}')
    whole_way = mesh_steps.kept(pairs, request['positions'], direction, dmin, keep, got['step'], blur)
    assert whole_way, (got, f'request in {kept}')
    assert got['step'] >= 0.8 * low * (1 - blur) or 'candidates' in request, (got, low, high, f'request in {kept}')
    if got['step'] == 1:
        assert got['group'] is None and got['vertices'] is None
    else:
        named = got['vertices'] if isinstance(got['vertices'], list) else [got['vertices']]
        mine = [p for p in pairs if p.group == got['group'] and alike(p, canonical(p.group, named))]
        assert mine, (got, f'request in {kept}')
        bound = min(mesh_steps.bounds([p], request['positions'], direction, dmin, keep)[0] for p in mine)
        assert got['step'] >= 0.8 * bound * (1 - blur), (got, bound, f'request in {kept}')


# --- what is refused ----------------------------------------------------------------------------------------------

@pytest.mark.parametrize('start', made.GOOD)
def test_good(server, start):  # noqa: F811
    status, answer = post(server, '/v1/contacts', start())
    assert status == 200, answer


@pytest.mark.parametrize('index', range(len(made.FAULTS)))
def test_fault(server, index):  # noqa: F811
    request, status, places = made.faulty(index)
    got, answer = post(server, '/v1/contacts', request)
    assert got == status, answer
    assert set(places) & set(pointers(answer)), (answer, places)
