"""Laws, barriers, moving surfaces, anchors, grain and bodies: random requests against the independent evaluation
program (tests/oracle), and properties that hold for any numbers.

LAWS_REQUESTS: how many (120, with a sanitizer 40); LAWS_FIRST: the first seed (0).
"""
import copy
import json
import math
import os
import random
import sys

import pytest

from conftest import ONE_IN

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'oracle'))
import compare  # noqa: E402
import generate  # noqa: E402
import generate_laws  # noqa: E402
import oracle  # noqa: E402
import sets  # noqa: E402
from algebra import flat  # noqa: E402
from sets import FRAME, JSON  # noqa: E402

TOLERANCE = 1e-9
FIRST, COUNT = int(os.environ.get('LAWS_FIRST', 0)), int(os.environ.get('LAWS_REQUESTS', 120 // ONE_IN))
worst_seen = []


def send(server, request, kind=JSON, accept=None, path='/v1/evaluate'):
    client = sets.Client(server)
    try:
        return client.send('POST', path, request, kind, **({'Accept': accept} if accept else {}))
    finally:
        client.close()


def ask(server, request, kind=JSON):
    answer = send(server, request, kind)
    assert answer.status == 200, (answer, request)
    return sets.unframe(answer.body) if kind == FRAME else answer.json


# --- random requests --------------------------------------------------------------------------------------------------

def complete(request):
    """The request with every output that it permits."""
    hidden = 'distance' in generate_laws.COLLISION_OUTPUTS and not may_ask_distance(request)
    names = [x for x in generate_laws.COLLISION_OUTPUTS if not (hidden and x == 'distance')]
    wanted = [*generate.OUTPUTS, *(x for x in ('line', 'hessian_products') if x in request.get('outputs', []))]
    return {**request, 'outputs': wanted, 'collision_outputs': names}


def may_ask_distance(request):
    groups = request['collisions']
    derived = any('vertices' in f and 'tangent_basis' not in f for f in groups.values())
    return 'plane_origin' in groups.get('plane_vertex', {'plane_origin': 0}) and (not derived or 'positions' in request)


@pytest.mark.parametrize('seed', range(FIRST, FIRST + COUNT))
def test_request(server, tmp_path, seed):
    """Each request is sent in JSON and in a frame, and every third one requests all outputs."""
    request = generate_laws.request(seed)
    request = complete(request) if seed % 3 == 0 else request
    kept = tmp_path / f'request-{seed}.json'
    kept.write_text(json.dumps(request))
    expected = oracle.evaluate(request)
    for kind in (JSON, FRAME):
        largest, words, structure = compare.worst(ask(server, request, kind), expected)
        assert structure == [], f'{kind}; request in {kept}'
        worst_seen.append((largest, seed, words))
        assert largest <= TOLERANCE, f'{kind}: {words}; request in {kept}'


@pytest.mark.parametrize('seed', range(FIRST, FIRST + COUNT, 4))
def test_check(server, seed):
    """The service compares gradient and Hessian with central differences of a second implementation of the
    potential."""
    request = generate_laws.request(seed)
    request.get('hessian', {}).pop('projection', None)
    answer = send(server, request, path='/v1/check')
    assert answer.status == 200 and answer.json['agrees'], (answer, request)


@pytest.mark.parametrize('seed', range(FIRST, FIRST + COUNT, 4))
def test_set(server, seed):
    """A set with the same content returns the same bytes."""
    request = generate_laws.request(seed)
    document, query = sets.document_of(request)
    client = sets.Client(server)
    try:
        put = client.put(f'laws-{seed}', document)
        assert put.status == 201, (put, document)
        assert put.json.get('n_bodies') == (len(flat(request['body_positions'])) // request['dim']
                                            if 'body_positions' in request else None)
        assert client.evaluate(f'laws-{seed}', query).body == send(server, request).body, request
        client.delete(f'laws-{seed}')
    finally:
        client.close()


@pytest.mark.parametrize('seed', range(FIRST, FIRST + COUNT, 8))
def test_patched_set(server, seed):
    """Patches replace a set's anchors, surfaces and laws alone; the response then equals that to the whole request."""
    request = generate_laws.request(seed, 'stribeck')
    changes = {g: {k: None for k in ('anchor', 'surface_velocity')} for g in request['collisions']}
    for k, (g, fields) in enumerate(request['collisions'].items()):
        e = [0.25 * x for x in ([1, -2, 3] if k % 2 else [-1, 0, 2])][:request['dim']]
        changes[g].update(anchor=[x * largest_speed(request) for x in e], **({'viscous': 0.5 / largest_speed(request)} if k % 2 else {}))
        if k % 2:
            changes[g]['surface_velocity'] = [[x * largest_speed(request) for x in e]] * n_contacts(g, fields)
    patch = {'friction': {'law': 'exponential'}, 'collisions': changes}
    document, query = sets.document_of(request)
    client = sets.Client(server)
    try:
        assert client.put(f'laws-patched-{seed}', document).status == 201
        patched = client.patch(f'laws-patched-{seed}', patch)
        whole = send(server, sets.merge(copy.deepcopy(request), patch))
        assert patched.status == whole.status == 200, (patched, whole, request)
        assert client.evaluate(f'laws-patched-{seed}', query).body == whole.body, request
        client.delete(f'laws-patched-{seed}')
    finally:
        client.close()


def largest_speed(request):
    return max((abs(x) for k in ('velocities', 'body_velocities') for x in flat(request.get(k, []))), default=0) or 1.0


def n_contacts(group, fields):
    return len(flat(fields['bodies' if group in oracle.BODY_GROUPS else 'vertices'])) // generate_laws.Dresser.size(group)


def test_report(capsys):
    assert len(worst_seen) > 0
    largest, seed, words = max(worst_seen)
    with capsys.disabled():
        print(f'\nworst of {len(worst_seen)} random requests with laws: {largest:.2e} (seed {seed}: {words})')


# --- the same bytes ---------------------------------------------------------------------------------------------------

def tiled(request, least):
    """Every group's contacts are repeated, so that there is work for many threads."""
    request = copy.deepcopy(request)
    e = oracle.Evaluation(request)
    for group, fields in request['collisions'].items():
        name = 'bodies' if group in oracle.BODY_GROUPS else 'vertices'
        n = len(e.groups[group])
        times = -(-least // n) if n else 1
        for field, value in fields.items():
            if field == name or (isinstance(value, list) and n > 1 and len(flat(value)) > width(field, group, request['dim'])):
                fields[field] = flat(value) * times
            elif isinstance(value, list):  # one for all
                fields[field] = flat(value)
        if group == 'plane_vertex' or group == 'body_world':
            continue
        k = generate_laws.Dresser.size(group)
        fields[name] = [fields[name][i:i + k] for i in range(0, len(fields[name]), k)]
    return request


def width(field, group, dim):
    """Number of values per contact."""
    vectors = {*oracle.VECTORS}
    return {'mu_aniso': dim - 1, 'tangent_basis': dim * (dim - 1), 'closest_point': oracle.BETA.get(group)}.get(
        field, dim if field in vectors else oracle.PER_CONTACT.get(field, 1))


def large_requests():
    """Two requests for every law, and one with only bodies; each has many contacts and some format of the Hessian."""
    forms = ['triplets', 'csr', 'factors', 'csr']
    for k, law in enumerate(generate_laws.laws.LAWS * 2):
        request = complete(tiled(generate_laws.request(k, law), 2000))
        request['hessian'] = {'format': forms[k % 4], 'projection': ['none', 'clamp', 'abs'][k % 3]}
        yield request
    for k, law in enumerate(LAWS):
        request = bodies_request(law, k, 2 + k % 2, 2000, viscous=0.5, anchor=[0.01, 0.02, -0.01][:2 + k % 2])
        yield {**request, 'outputs': [*request['outputs'], 'hessian'], 'hessian': {'format': forms[k % 4], 'projection': 'abs'}}


def answers(base, requests):
    out = []
    for i, request in enumerate(requests):
        answer = send(base, request, JSON, [JSON, FRAME][i % 2])
        out.append((answer.status, answer.body))
    return out


@pytest.fixture(scope='module')
def many():
    return list(large_requests()) + [generate_laws.request(seed) for seed in range(FIRST, FIRST + COUNT, 2)]


@pytest.fixture(scope='module')
def expected(server, many):
    made = answers(server, many)
    assert [body for status, body in made if status != 200] == []
    return made


@pytest.mark.parametrize('threads', [1, 2, 3, 8] if ONE_IN == 1 else [3])
def test_any_number_of_threads_gives_the_same_bytes(server_with, many, expected, threads):
    assert answers(server_with('--threads', str(threads)), many) == expected


def kernels():
    flags = open('/proc/cpuinfo').read() if os.path.exists('/proc/cpuinfo') else ''
    return ['scalar', 'baseline', *(name for name, flag in (('avx2', ' avx2 '), ('avx512', ' avx512f ')) if flag in flags)]


@pytest.mark.parametrize('name', kernels())
def test_every_kernel_gives_the_same_bytes(server_with, many, expected, name):
    assert answers(server_with('--kernels', name), many) == expected


# --- invariants -------------------------------------------------------------------------------------------------------

LAWS = [{}, {'mu_transition': 'quadratic'}, {'mu_transition': 'peak'}, {'law': 'stribeck', 'stribeck_speed': 0.03},
        {'law': 'exponential', 'stribeck_speed': 0.03},
        {'law': 'curve', 'curve': {'speeds': [0, 0.01, 0.05, 0.2], 'factors': [1, 1.7, 0.4, 0.6]}}, {'law': 'adhesion'}]
IDS = [' '.join(map(str, f.values()))[:9] or 'cubic' for f in LAWS]


def bodies_request(law, seed, dim=3, n=60, **fields):
    """Two bodies and many contacts between them, at slips from nearly none to far beyond eps_v (0.02)."""
    rng = random.Random(f'{seed}/{dim}')
    two = law.get('law') not in generate_laws.laws.ONE_COEFFICIENT
    def vectors(count, size, width=dim):
        return [[rng.gauss(0, size) for _ in range(width)] for _ in range(count)]
    twist = 3 * dim - 3
    group = {'bodies': [rng.sample([0, 1], 2) for _ in range(n)], 'point': vectors(n, 1), 'normal': vectors(n, 1),
             'normal_force': [rng.uniform(0, 5) for _ in range(n)], 'roll_radius': [rng.uniform(0, 0.3) for _ in range(n)],
             'mu_aniso': [[rng.uniform(0.3, 2) for _ in range(dim - 1)] for _ in range(n)],
             'eps_v': [0.02 * 10 ** rng.uniform(-1, 2) for _ in range(n)]}
    if dim == 3:
        group['spin_radius'] = [rng.uniform(0, 0.3) for _ in range(n)]
    return {'dim': dim, 'friction': {'eps_v': 0.02, **({'mu_s': 0.7, 'mu_k': 0.3} if two else {'mu': 0.7}), **law},
            'body_positions': vectors(2, 1), 'body_velocities': vectors(2, 0.05, twist),
            'outputs': ['potential', 'gradient', 'collisions'], 'collision_outputs': [
                'potential', 'friction_force', 'mu_s', 'mu_k', 'normal_force', 'status', 'spin', 'rolling', 'slip_ratio', 'anchor'],
            'collisions': {'body_body': {**group, **fields}}}


def cross(a, b):
    if len(a) == 2:
        return [a[0] * b[1] - a[1] * b[0]]
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def close(a, b, size, tolerance=1e-12):
    return all(abs(x - y) <= tolerance * size for x, y in zip(flat(a), flat(b)))


@pytest.mark.parametrize('dim', [2, 3])
@pytest.mark.parametrize('law', LAWS, ids=IDS)
def test_action_equals_reaction(server, law, dim):
    """Forces balance, and so do torques about one point, with viscous drag, anchors and moving surfaces."""
    rng = random.Random(f'{law}/{dim}')
    request = bodies_request(law, 1, dim, viscous=2.5, anchor=[rng.gauss(0, 0.02) for _ in range(dim)],
                             surface_velocity=[rng.gauss(0, 0.02) for _ in range(dim)])
    a, b = ask(server, request)['body_gradient']
    size = max(map(abs, a + b))
    assert size > 0.1 and close(a[:dim], [-x for x in b[:dim]], size)
    moments = [[m + t for m, t in zip(g[dim:], cross(p, g[:dim]))] for g, p in zip((a, b), request['body_positions'])]
    assert max(map(abs, moments[0])) > 0.01 and close(moments[0], [-x for x in moments[1]], size)


@pytest.mark.parametrize('dim', [2, 3])
@pytest.mark.parametrize('law', LAWS, ids=IDS)
def test_moving_together_changes_nothing(server, law, dim):
    request = bodies_request(law, 2, dim)
    v, w = ([0.02, -0.05], [0.07]) if dim == 2 else ([0.02, -0.05, 0.03], [0.01, 0.07, -0.02])
    def rigid(p):
        swept = [-w[0] * p[1], w[0] * p[0]] if dim == 2 else cross(w, p)
        return [a + b for a, b in zip(v, swept)] + w
    together = {**request, 'body_velocities': [
        [x + y for x, y in zip(twist, rigid(p))]
        for twist, p in zip(request['body_velocities'], request['body_positions'])]}
    before, after = ask(server, request), ask(server, together)
    assert close(before['body_gradient'], after['body_gradient'], max(map(abs, flat(before['body_gradient']))), 1e-11)
    assert abs(before['potential'] - after['potential']) <= 1e-12 * sum(
        map(abs, before['collisions']['body_body']['potential']))


@pytest.mark.parametrize('dim', [2, 3])
@pytest.mark.parametrize('law', LAWS, ids=IDS)
def test_a_body_at_rest_is_the_world(server, law, dim):
    request = bodies_request(law, 3, dim, viscous=0.3)
    request['body_velocities'][1] = [0] * (3 * dim - 3)
    request['collisions']['body_body']['bodies'] = [[0, 1]] * 60
    world = copy.deepcopy(request)
    world['collisions'] = {'body_world': {**request['collisions']['body_body'], 'bodies': [0] * 60}}
    both, one = ask(server, request), ask(server, world)
    assert both['potential'] == one['potential'] and both['body_gradient'][0] == one['body_gradient'][0]
    assert both['collisions']['body_body'] == one['collisions']['body_world'] and one['body_gradient'][1] == [0] * (3 * dim - 3)


@pytest.mark.parametrize('dim', [2, 3])
@pytest.mark.parametrize('law', LAWS, ids=IDS)
def test_maxima(server, law, dim):
    """Force, spin torque and rolling torque of every contact, one body_world contact per body."""
    n = 60
    request = bodies_request(law, 4, dim, n)
    group = request['collisions'].pop('body_body')
    rng = random.Random(f'maxima/{dim}')
    request['body_positions'] = group['point']  # without arms, the torque consists of spin and rolling alone
    request['body_velocities'] = [[rng.gauss(0, 0.05) for _ in range(3 * dim - 3)] for _ in range(n)]
    request['collisions']['body_world'] = {**group, 'bodies': list(range(n))}
    answer = ask(server, request)
    got, top = answer['collisions']['body_world'], max(0.7, 0.3) * max(law.get('curve', {'factors': [1]})['factors'])
    for i in range(n):
        g, load = answer['body_gradient'][i], top * group['normal_force'][i] * (1 + 1e-12)
        stretch = max(1, *group['mu_aniso'][i])
        assert math.hypot(*g[:dim]) <= load * stretch
        assert close([-x for x in g[:dim]], got['friction_force'][i], load)
        if dim == 2:
            assert abs(g[2]) <= load * group['roll_radius'][i]
            continue
        length = math.hypot(*group['normal'][i])
        spin = sum(a * b / length for a, b in zip(group['normal'][i], g[3:]))
        roll = math.hypot(*(t - spin * a / length for t, a in zip(g[3:], group['normal'][i])))
        assert abs(spin) <= load * group['spin_radius'][i] and roll <= load * group['roll_radius'][i]
    assert max(got['slip_ratio']) > 5 and min(got['slip_ratio']) < 0.5 and {0, 1} == set(got['status'])


@pytest.mark.parametrize('dim', [2, 3])
@pytest.mark.parametrize('law', LAWS, ids=IDS)
def test_friction_takes_energy(server, law, dim):
    """v . gradient >= 0 without anchors and moving surfaces, viscous drag included; and S . dD/dS >= 0 for every
    contact: with the surface's velocity added, if there is no viscous drag or no anchor."""
    request = bodies_request(law, 5, dim, viscous=1.5)
    answer = ask(server, request)
    power = [a * b for a, b in zip(flat(answer['body_gradient']), flat(request['body_velocities']))]
    assert sum(power) > 0
    for more in ({'anchor': [0.01, -0.02, 0.015][:dim]}, {'viscous': 2, 'surface_velocity': [0.03, 0.01, -0.02][:dim]}):
        request = bodies_request(law, 6, dim, **more)
        request['collision_outputs'] = ['tangential_velocity', 'spin', 'rolling', 'friction_force', 'tangent_basis', 'potential']
        n, group = 60, request['collisions'].pop('body_body')
        request['body_positions'], request['body_velocities'] = group['point'], [
            flat(request['body_velocities'])[:3 * dim - 3] for _ in range(n)]
        request['collisions']['body_world'] = {**group, 'bodies': list(range(n))}
        answer = ask(server, request)
        got = answer['collisions']['body_world']
        for i in range(n):
            g, twist, basis = answer['body_gradient'][i], request['body_velocities'][i], got['tangent_basis'][i]
            pull = [sum(basis[r][c] * g[r] for r in range(dim)) for c in range(dim - 1)]
            work = sum(a * b for a, b in zip(pull, got['tangential_velocity'][i]))
            work += sum(a * b for a, b in zip(g[dim:], twist[dim:]))
            assert work >= -1e-13 * (abs(work) + sum(map(abs, g)) * 0.05), i


@pytest.mark.parametrize('projection', ['clamp', 'abs'])
@pytest.mark.parametrize('law', LAWS, ids=IDS)
def test_projected_hessians_are_positive(server, law, projection):
    """Tests the 5 x 5 matrices of bodies, and the whole Hessian through products with vectors."""
    request = bodies_request(law, 7)
    request['hessian'] = {'format': 'factors', 'projection': projection}
    request['outputs'].append('hessian')
    rng = random.Random(7)
    request['vectors'] = [[rng.gauss(0, 1) for _ in range(12)] for _ in range(40)]
    request['outputs'].append('hessian_products')
    answer = ask(server, request)
    for x, product in zip(request['vectors'], answer['hessian_products']):
        assert sum(a * b for a, b in zip(x, product)) >= 0
    indefinite = {**request, 'hessian': {'format': 'factors'}}
    lowest = [least(upper) for upper in ask(server, indefinite)['hessian']['body_body']['inner']]
    assert min(lowest) < 0
    for upper in answer['hessian']['body_body']['inner']:
        assert least(upper) >= -1e-12 * max(map(abs, upper))


def least(upper):
    """The smallest eigenvalue of a symmetric 5 x 5 matrix, from its upper triangle, by Jacobi's rotations."""
    rows = iter(upper)
    a = [[0.0] * 5 for _ in range(5)]
    for i in range(5):
        for j in range(i, 5):
            a[i][j] = a[j][i] = next(rows)
    for _ in range(12):
        for p in range(4):
            for q in range(p + 1, 5):
                rotate(a, p, q)
    return min(a[i][i] for i in range(5))


def rotate(a, p, q):
    if a[p][q] == 0:
        return
    angle = 0.5 * math.atan2(2 * a[p][q], a[q][q] - a[p][p])
    c, s = math.cos(angle), math.sin(angle)
    for row in a:
        row[p], row[q] = c * row[p] - s * row[q], s * row[p] + c * row[q]
    a[p], a[q] = ([c * x - s * y for x, y in zip(a[p], a[q])], [s * x + c * y for x, y in zip(a[p], a[q])])


@pytest.mark.parametrize('law', LAWS, ids=IDS)
def test_anchor_is_what_holds(server, law):
    """At rest only the anchor exerts a force. The returned anchor is the one sent while the contact sticks, and is
    shortened to eps_v once it slides."""
    request = {'dim': 3, 'velocities': [[0, 0, 0]] * 3, 'outputs': ['gradient', 'collisions'],
               'friction': {'mu': 0.5, 'eps_v': 0.02, **law}, 'collision_outputs': ['anchor', 'friction_force', 'status'],
               'collisions': {'plane_vertex': {'vertices': [0, 1, 2], 'plane_normal': [0, 0, 1], 'normal_force': 4,
                                               'anchor': [[0.01, 0, 7], [0, -0.0199, 0], [0.03, 0.04, 1]]}}}
    got = ask(server, request)['collisions']['plane_vertex']
    far = [0, 0, 0] if law.get('law') == 'adhesion' else [0.012, 0.016, 0]
    assert close(got['anchor'], [[0.01, 0, 0], [0, -0.0199, 0], far], 0.02) and got['status'] == [0, 0, 1]
    assert got['friction_force'][0] == [pytest.approx(-2 * 0.75, rel=1e-12), 0, 0]


def test_scale_freedom(server):
    """Multiplying velocities, eps_v, anchors, surfaces and speeds by 2^k (lengths of bodies stay) keeps the bits of
    gradients and scales potentials."""
    for law in LAWS:
        request = bodies_request(law, 8, viscous=2.0, anchor=[0.01, 0.02, -0.01], surface_velocity=[0.0, 0.03, 0.01])
        request['outputs'] = ['potential', 'gradient']
        request.pop('collision_outputs', None)
        before = ask(server, request)
        for power in (-900, -60, 60, 900):
            f = 2.0 ** power
            scaled = copy.deepcopy(request)
            scaled['body_velocities'] = [[x * f for x in row] for row in request['body_velocities']]
            group, friction = scaled['collisions']['body_body'], scaled['friction']
            for fields, name in ((group, 'anchor'), (group, 'surface_velocity'), (group, 'eps_v')):
                fields[name] = [x * f for x in fields[name]]
            group['viscous'] /= f
            friction['eps_v'] *= f
            if 'stribeck_speed' in friction:
                friction['stribeck_speed'] *= f
            if 'curve' in friction:
                friction['curve'] = {**friction['curve'], 'speeds': [x * f for x in friction['curve']['speeds']]}
            after = ask(server, scaled)
            assert after['body_gradient'] == before['body_gradient'], (law, power)
            assert after['potential'] == before['potential'] * f, (law, power)
