"""Compares the independent derivatives with central differences in 60 digits, with one another by dot products, and
with values by hand. The random queries cover everything."""
import copy
import os
import sys

import pytest
from mpmath import mpf

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import barriers  # noqa: E402
import generate  # noqa: E402
import generate_derivatives  # noqa: E402
import laws  # noqa: E402
import oracle  # noqa: E402
from algebra import dot, flat, real  # noqa: E402
from derivatives import Derivatives, fields_of, jvp, shaped, symmetric, value_at, vjp  # noqa: E402
from oracle import Evaluation  # noqa: E402

ONE_IN = max(1, int(os.environ.get('SHARE', 1)))  # set by tests/run
H, NOTHING = mpf('1e-16'), mpf('1e-900')


# --- differences ------------------------------------------------------------------------------------------------------

def moved(query, pointer, step):
    """The request with a field at a distance along its tangent, in multi-precision."""
    request = copy.deepcopy(query['request'])
    *names, last = pointer[1:].split('/')
    holder = request
    for name in names:
        holder = holder[name]
    numbers = [real(x) + step * real(t) for x, t in zip(*map(flat, (holder[last], query['tangents'][pointer])))]
    holder[last] = shaped(numbers, holder[last])
    return request


def evaluated(request, lagged):
    e = Evaluation(request)
    e.lagged = lagged(e)
    for c in e.all():  # once more, now with the direction that is constant
        if not c.skipped and c.group in e.rows:
            e.lag(c, {k: v[c.index] for k, v in e.rows[c.group].items()})
    e.move(e.motion)
    return [e.potential(), *e.gradient()]


def differences(query, pointer, h):
    """Central differences of potential and gradient along the tangent of one field. A direction that is constant
    remains as in the request."""
    here = Evaluation(query['request'])

    def lagged(e):
        return tuple(there if follows else before
                     for there, before, follows in zip(e.lagged, here.lagged, here.follows))
    above, below = (evaluated(moved(query, pointer, s), lagged) for s in (h, -h))
    return [(a - b) / (2 * h) for a, b in zip(above, below)]


def constant_direction(request):
    """Fields that do not move a direction that the differences treat as constant; velocities never do."""
    return [p for p in fields_of(request) if not elliptic(request) or p.endswith('velocities') or all(follows(request))]


def tied(request):
    """Whether a normal is equally close to both axes between which its basis chooses: derivatives differ on the two
    sides."""
    groups = request['collisions']
    rows = [flat(groups.get(g, {}).get(k, [])) for g, k in (('plane_vertex', 'plane_normal'), ('body_world', 'normal'),
                                                            ('body_body', 'normal'))]
    normals = [row[i:i + request['dim']] for row in rows for i in range(0, len(row), request['dim'])]
    p = flat(request.get('positions', []))
    for a, b in zip(*[iter(flat(groups.get('vertex_vertex', {}).get('vertices', []) if p else []))] * 2):
        normals.append([p[b * request['dim'] + k] - p[a * request['dim'] + k] for k in range(request['dim'])])
    return any(abs(abs(n[0]) - abs(n[1])) <= 1e-9 * max(map(abs, n)) for n in normals)


def elliptic(request):
    return any(k in f for f in request['collisions'].values() for k in ('mu_s_aniso', 'mu_k_aniso'))


def follows(request):
    return ['lagged_velocities' in request or not request.get('velocities'),
            'lagged_body_velocities' in request or not request.get('body_velocities')]


@pytest.mark.parametrize('seed', range(0, 30, ONE_IN))
def test_steps_agree_with_differences(seed):
    query = generate_derivatives.query(seed)
    request = query['request']
    d = Derivatives(request)
    near = min((abs(c.y / (k * c.eps) - 1) for c in d.e.active() for k in (0.5, 1, 2)), default=mpf(1))
    if near < mpf('1e-9') or tied(request) or any(not c.y for c in d.e.active()):
        return  # at a knot the two sides differ
    for pointer in constant_direction(request):
        if pointer not in query['tangents'] or pointer == '/friction/curve/factors':
            continue
        size = max(map(abs, flat(value_at(request, pointer))), default=0)
        unit = max((abs(x) for x in flat(query['tangents'][pointer])), default=0)
        if not unit or not size:
            continue
        h = H * mpf(size) / mpf(unit) * min(mpf(1), *(c.y / (c.size or c.y) for c in d.e.active()), mpf(1))
        potential, gradient = d.along({pointer: query['tangents'][pointer]})
        got, expected = [potential, *gradient], differences(query, pointer, h)
        scale = max(map(abs, got + expected))
        floor = max(map(abs, [d.potential, *d.gradient])) * mpf('1e-40') / h
        worst = max(abs(a - b) for a, b in zip(got, expected))
        assert worst <= mpf('1e-8') * scale + floor, (pointer, float(worst), float(scale))


# --- dot products -----------------------------------------------------------------------------------------------------

@pytest.mark.parametrize('seed', range(0, 50, ONE_IN))
def test_forwards_and_backwards(seed):
    """<cotangents, jvp> = <vjp, tangents>; a product with the Jacobian with respect to positions is the jvp along
    positions."""
    query = generate_derivatives.query(seed)
    d, tangents = Derivatives(query['request']), query['tangents']
    psi, gamma = real(query['cotangents'].get('potential', 0)), d.cotangent(query['cotangents'])
    potential, gradient = d.along(tangents)
    back = d.back(psi, gamma, list(tangents))
    left = [psi * potential, *(a * b for a, b in zip(gamma, gradient))]
    right = [real(t) * x for p in tangents for t, x in zip(flat(tangents[p]), back[p])]
    noise = mpf('1e-45') * sum(abs(g * x) for g, x in zip(gamma, d.gradient)) + mpf('1e-45') * abs(psi * d.potential)
    assert abs(sum(left) - sum(right)) <= mpf('1e-45') * sum(map(abs, left + right)) + noise
    if '/positions' in tangents:
        along = [real(x) for x in flat(tangents['/positions'])]
        _, expected = d.along({'/positions': tangents['/positions']})
        product = [mpf(0)] * d.e.n_dofs
        for row, column, value in d.position_triplets():
            product[row] += value * along[column]
        size = max(map(abs, expected + d.gradient), default=mpf(0))
        assert all(abs(a - b) <= mpf('1e-40') * size for a, b in zip(product, expected))


@pytest.mark.parametrize('seed', range(0, 30, ONE_IN))
def test_by_velocities_it_is_the_hessian(seed):
    """The derivative of the gradient with respect to velocities."""
    request = generate_derivatives.query(seed)['request']
    d = Derivatives(request)
    names = [p for p in ('/velocities', '/body_velocities') if p in d.numbers]
    direction = {p: shaped([mpf(((7 * i) % 11) - 5) * d.scales[p] for i in range(len(d.numbers[p]))], value_at(request, p))
                 for p in names}
    along = [x for p in names for x in flat(direction[p])]
    product = [mpf(0)] * d.e.n_dofs
    for row, column, value in d.e.triplets('full'):
        product[row] += value * along[column]
    potential, gradient = d.along(direction)
    size = max(map(abs, product + gradient + d.gradient), default=mpf(0))
    assert all(abs(a - b) <= mpf('1e-40') * size + NOTHING for a, b in zip(product, gradient))
    size = sum((abs(a * b) for a, b in zip(d.gradient, along)), mpf(0))
    assert abs(potential - dot(d.gradient, along)) <= mpf('1e-40') * size + NOTHING


# --- by hand ----------------------------------------------------------------------------------------------------------

BLOCK = {'dim': 2, 'velocities': [[3, 4], [0, 0]], 'positions': [[0, 1], [0, 0]],
         'friction': {'eps_v': 1, 'mu_s': 0.5, 'mu_k': 0.25}, 'collisions': {'vertex_vertex': {'vertices': [[0, 1]], 'normal_force': 8}}}


def test_sliding_by_hand():
    """Beyond eps_v the force is mu_k N along x and the potential mu_k N |u|. Moving p0 sideways by one unit turns the
    tangent by one radian: u changes by v.n = 4, and the force turns."""
    there = {'/positions': [[1, 0], [0, 0]]}
    forwards = jvp({**BLOCK, 'tangents': there})
    assert forwards['potential'] == 6 and forwards['gradient'] == [2, 0, -2, 0]
    assert forwards['tangents'] == {'potential': -8, 'gradient': pytest.approx([0, -2, 0, 2], abs=1e-50)}
    back = vjp({**BLOCK, 'cotangents': {'potential': 1, 'gradient': [0, 1, 0, 0]},
                'wrt': ['/positions', '/friction/mu_k', '/friction/mu_s', '/collisions/vertex_vertex/normal_force', '/velocities']})
    assert back['cotangents'] == {'/positions': [[-10.0, 0.0], [10.0, 0.0]], '/friction/mu_k': 24.0, '/friction/mu_s': 0.0,
                                  '/collisions/vertex_vertex/normal_force': 0.75, '/velocities': [[2.0, 0.0], [-2.0, 0.0]]}


def test_at_rest_by_hand():
    """There is no pole: the force increases with slope 2 mu_s N / eps_v."""
    rest = {**BLOCK, 'velocities': [[0, 0], [0, 0]]}
    assert jvp({**rest, 'tangents': {'/velocities': [[1, 0], [0, 1]]}})['tangents']['gradient'] == [8, 0, -8, 0]
    assert jvp({**rest, 'tangents': {'/positions': [[1, 1], [0, 1]]}})['tangents']['gradient'] == [0, 0, 0, 0]


def test_right_branch_by_hand():
    """An exponential law at eps_v: beyond, its force decreases with slope (mu_s - mu_k) N / stribeck_speed."""
    knot = {**BLOCK, 'velocities': [[1, 0], [0, 0]], 'friction': {**BLOCK['friction'], 'law': 'exponential', 'stribeck_speed': 0.5}}
    assert jvp({**knot, 'tangents': {'/velocities': [[1, 0], [0, 0]]}})['tangents']['gradient'] == [-4, 0, 4, 0]


def matchstick(**more):
    """Sliding at 45 degrees to the axes of an ellipse."""
    return {'dim': 3, 'velocities': [[1, 1, 0]], 'friction': {'eps_v': 0.1, 'mu': 1}, **more,
            'collisions': {'plane_vertex': {'vertices': [0], 'tangent_basis': [[1, 0], [0, 1], [0, 0]], 'normal_force': 1,
                                            'mu_s_aniso': [3, 4], 'mu_k_aniso': [3, 4]}}}


def test_direction_is_a_constant_unless_it_is_given():
    turn = {'tangents': {'/velocities': [[-1, 1, 0]]}}
    assert jvp({**matchstick(), **turn})['tangents']['potential'] == 0
    given = matchstick(lagged_velocities=[[1, 1, 0]])
    assert jvp({**given, **turn})['tangents']['potential'] == 0
    # mu^2 = 9 cos^2 + 16 sin^2; d mu / d angle = 7 sin cos / mu, times the length of the slip
    got = jvp({**given, 'tangents': {'/lagged_velocities': [[-1, 1, 0]]}})['tangents']['potential']
    assert got == pytest.approx(3.5 / 12.5 ** 0.5 * 2 ** 0.5, rel=1e-15)


def test_tables_are_symmetric():
    request = {**copy.deepcopy(BLOCK), 'cotangents': {'potential': 1}, 'wrt': ['/friction/materials/mu']}
    request['friction'] = {'eps_v': 1, 'materials': {'vertex_material': [0, 1], 'mu': [[1, 0.5], [0.5, 2]]}}
    table = vjp(request)['cotangents']['/friction/materials/mu']
    assert table[0][0] == table[1][1] == 0 and table[0][1] == table[1][0] == pytest.approx(8 * 3 / 2)
    assert symmetric([1, 2, 4, 3]) == [1, 3, 3, 3]


def test_skipped_contacts_have_no_derivative():
    request = {**BLOCK, 'positions': [[0, 0], [0, 0]], 'on_degenerate': 'skip', 'tangents': {'/positions': [[1, 0], [0, 0]]}}
    assert jvp(request)['tangents'] == {'potential': 0, 'gradient': [0, 0, 0, 0]}


def test_one_value_for_all_is_a_sum():
    request = {'dim': 2, 'velocities': [[3, 1], [-2, 1]], 'friction': {'eps_v': 1}, 'cotangents': {'potential': 1},
               'collisions': {'plane_vertex': {'vertices': [0, 1], 'plane_normal': [0, 1], 'normal_force': 2, 'mu': 0.5}},
               'wrt': ['/collisions/plane_vertex/normal_force', '/collisions/plane_vertex/mu']}
    assert vjp(request)['cotangents'] == {'/collisions/plane_vertex/normal_force': 2.5, '/collisions/plane_vertex/mu': 10}


# --- the random queries ---------------------------------------------------------------------------------------------

@pytest.mark.skipif(ONE_IN > 1, reason="changes only with the generator; SHARE=1 runs it")
def test_every_field_and_option_is_generated():
    """120 queries contain every field and option."""
    queries = [generate_derivatives.query(seed) for seed in range(120)]
    text = repr([q['request'] for q in queries])
    words = [*laws.LAWS, *barriers.TYPES, *oracle.BODY_GROUPS, *oracle.GROUPS, *generate.BLENDS, 'peak', 'quadratic', 'physical',
             'grain', 'mu_s_aniso', 'mu_k_aniso', 'lagged_velocities', 'lagged_body_velocities', 'skip', 'body_material']
    assert [w for w in words if f"'{w}'" not in text] == []
    fields = {p.rpartition('/')[2] for q in queries for p in fields_of(q['request'])}
    for chosen in ('tangents', 'wrt'):
        seen = {p.rpartition('/')[2] for q in queries for p in q[chosen]}
        assert fields == seen, (chosen, fields - seen)
    made = [Derivatives(q['request']) for q in queries]
    active = [c for d in made for c in d.e.active()]
    assert sum(bool(d.e.active()) for d in made) > 90 and sum(not d.contacts for d in made) > 3
    assert sum(bool(c.skipped) for d in made for c in d.contacts) > 5
    assert sum(c.y == 0 for c in active) > 5 and sum(c.y in (c.eps, 2 * c.eps) for c in active) > 2
    assert sum(c.weight < 0 for c in active) > 10 and sum(c.viscous > 0 for c in active) > 30
    assert {q['request']['dim'] for q in queries} == {2, 3}
