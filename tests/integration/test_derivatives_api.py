"""POST /v1/jvp, /v1/vjp, the same routes of sets, and the output position_jacobian: requests and responses follow the
contract. An independent program checks the numbers (test_derivatives.py); here they are compared with each other and
with the results of /v1/evaluate."""
import copy
import itertools
import json
import math
import os
import random
import sys

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'oracle'))
import sets  # noqa: E402
from sets import FRAME, JSON  # noqa: E402

# Two edges that cross above each other, a vertex above a floor and above a face, one beside an edge, one near another.
VERTICES = {
    'dim': 3,
    'velocities': [[1, 0, 0], [1, 0.5, 0], [0, 0.1, 0], [0, 0, 0.3], [0.1, 0.2, 0], [0.3, -0.2, 0.1], [0.4, 0, -0.3]],
    'positions': [[-1, 0, 0], [1, 0, 0], [0, -1, 0.1], [0, 1, 0.1], [0.2, 0.1, 0.05], [0.3, 0.5, 0.2], [0.2, 0.55, 0.25]],
    'friction': {'eps_v': 0.5, 'mu_s': 0.6, 'mu_k': 0.4, 'viscous': 0.1},
    'barrier': {'dhat': 0.3, 'stiffness': 100, 'dmin': 0.001},
    'collisions': {
        'vertex_vertex': {'vertices': [[5, 6]], 'normal_force': 3, 'mu': 0.3, 'grain': [1, 1, 0]},
        'edge_vertex': {'vertices': [[4, 0, 1]], 'mu_s': 0.4, 'mu_k': 0.2, 'weight': [0.5]},
        'edge_edge': {'vertices': [[0, 1, 2, 3]], 'mu_aniso': [0.5, 2], 'surface_velocity': [0.1, 0.2, 0]},
        'face_vertex': {'vertices': [[5, 0, 1, 3], [6, 0, 1, 3]], 'normal_force': [2, 3],
                        'mu_s_aniso': [[0.9, 0.3], [0.5, 0.6]], 'mu_k_aniso': [0.2, 0.5]},
        'plane_vertex': {'vertices': [4, 5], 'plane_normal': [0, 0, 2], 'plane_origin': [[0, 0, 0], [0, 0, 0.1]],
                         'anchor': [[0.1, 0, 0], [0, 0.1, 0]], 'eps_v': [0.2, 0.3], 'viscous': 0.2}}}
BODIES = {
    'dim': 3, 'on_degenerate': 'skip', 'velocities': [[0.3, 0.1, 0.2], [0.1, 0.2, 0.1]],
    'body_positions': [[0, 0, 0], [0, 0, 1]],
    'body_velocities': [[0.1, 0.2, 0.3, 0, 0.1, 0], [0.2, 0, 0, 0.1, 0, 0.3]],
    'friction': {'eps_v': 0.05, 'mu': 0.5, 'law': 'stribeck', 'stribeck_speed': 0.2},
    'collisions': {
        'plane_vertex': {'vertices': [0, 1], 'plane_normal': [0, 0, 1], 'normal_force': 2,
                         'mu_s_aniso': [0.9, 0.3], 'mu_k_aniso': [0.2, 0.5]},
        'body_body': {'bodies': [[0, 1]], 'point': [0, 0, 0.5], 'normal': [0, 0, 1], 'normal_force': 3,
                      'spin_radius': 0.1, 'mu_s_aniso': [0.9, 0.3], 'mu_k_aniso': [0.2, 0.5]},
        'body_world': {'bodies': [1, 0], 'point': [[0, 1, 0.5], [1, 0, 0]], 'normal': [0, 1, 1], 'normal_force': 3,
                       'roll_radius': [0.1, 0.2]}}}
LAGGED = {'lagged_velocities': [[0.1, 0.5, 0], [0.7, 0.2, 0]],
          'lagged_body_velocities': [[0.5, 0.2, 0.3, 0, 0.1, 0], [0.2, 0.9, 0, 0.1, 0, 0.3]]}
IN_PLANE = {
    'dim': 2, 'velocities': [[0.5, 0.1], [0, 0.2], [0.1, 0]],
    'friction': {'eps_v': 1, 'materials': {'vertex_material': [0, 1, 0], 'plane_material': 1,
                                           'mu_s': [[0.5, 0.4], [0.4, 0.3]], 'mu_k': [0.3, 0.2, 0.2, 0.1]},
                 'law': 'smooth', 'mu_transition': 'quadratic'},
    'collisions': {'edge_vertex': {'vertices': [[0, 1, 2]], 'normal_force': 8, 'closest_point': [0.5],
                                   'tangent_basis': [[1], [0]], 'mu_aniso': 2},
                   'plane_vertex': {'vertices': [0, 1, 2], 'normal_force': [1, 2, 3], 'plane_normal': [0, 1]}}}
CURVE = {
    'dim': 3, 'velocities': [2, 0, 0, 0.25, 0, 0],
    'friction': {'eps_v': 0.5, 'vertex_mu': [0.5, 0.25], 'blend': 'product', 'law': 'curve',
                 'curve': {'speeds': [0, 1, 2], 'factors': [1, 0.5, 0.25]}},
    'collisions': {'plane_vertex': {'vertices': [0, 1], 'normal_force': 8, 'plane_normal': [0, 0, 1], 'mu': [0.5, 0.3]},
                   'vertex_vertex': {'vertices': [[0, 1]], 'normal_force': 8, 'tangent_basis': [[1, 0], [0, 1], [0, 0]]},
                   'edge_edge': {'vertices': [], 'normal_force': 3, 'weight': []}}}
SCENES = {'vertices': VERTICES, 'bodies': BODIES, 'lagged': {**BODIES, **LAGGED}, 'plane': IN_PLANE, 'curve': CURVE}
REALS = ('velocities', 'positions', 'lagged_velocities', 'body_positions', 'body_velocities', 'lagged_body_velocities')
OF_FRICTION = ('eps_v', 'mu', 'mu_s', 'mu_k', 'vertex_mu', 'vertex_mu_s', 'vertex_mu_k', 'stribeck_speed', 'viscous')
INTEGERS = ('vertices', 'bodies')


def fields_of(request):
    """Every field with respect to which derivatives exist: pointer -> value sent."""
    found = {f'/{name}': request[name] for name in REALS if name in request}
    friction = request.get('friction', {})
    found.update({f'/friction/{name}': friction[name] for name in OF_FRICTION if name in friction})
    found.update({f'/friction/materials/{name}': value for name, value in friction.get('materials', {}).items()
                  if name.startswith('mu')})
    if 'curve' in friction:
        found['/friction/curve/factors'] = friction['curve']['factors']
    found.update({f'/barrier/{name}': value for name, value in request.get('barrier', {}).items()
                  if name in ('dhat', 'stiffness', 'dmin')})
    for group, content in request['collisions'].items():
        found.update({f'/collisions/{group}/{name}': value for name, value in content.items() if name not in INTEGERS})
    return found


def flat(value):
    return [x for part in value for x in flat(part)] if isinstance(value, list) else [value]


def shape(value):
    return [len(value), *(shape(value[0]) if value else [])] if isinstance(value, list) else []


def shaped(value, draw):
    return [shaped(part, draw) for part in value] if isinstance(value, list) else draw()


def tangent(pointer, value, rng):
    drawn = shaped(value, lambda: rng.uniform(-1, 1))
    if '/materials/' in pointer:
        return shaped(value, lambda: 0.5) if not isinstance(value[0], list) else [
            [rng_of(i, j) for j in range(len(value))] for i in range(len(value))]
    return drawn


def rng_of(i, j):
    return 1 / (1 + i + j)


def cotangents_of(request, rng):
    n = len(flat(request.get('velocities', [])))
    drawn = {'potential': rng.uniform(-1, 1), 'gradient': [rng.uniform(-1, 1) for _ in range(n)]}
    if 'body_velocities' in request:
        drawn['body_gradient'] = shaped(request['body_velocities'], lambda: rng.uniform(-1, 1))
    return drawn


def product(a, b):
    """(sum, sum of absolute terms)"""
    terms = [x * y for x, y in zip(flat(a), flat(b), strict=True)]
    return math.fsum(terms), math.fsum(map(abs, terms))


def close(got, expected, tolerance=1e-12):
    got, expected = flat(got), flat(expected)
    scale = max([abs(x) for x in expected], default=0)
    assert len(got) == len(expected)
    assert all(abs(x - y) <= tolerance * scale for x, y in zip(got, expected)), (got, expected)


@pytest.fixture
def client(server):
    one = sets.Client(server)
    yield one
    one.send('DELETE', '/v1/sets/d')
    one.close()


def answer(client, path, request, kind=JSON, **headers):
    got = client.send('POST', path, request, kind, **headers)
    assert got.status == 200, got
    return got


def jvp(client, request, tangents):
    return answer(client, '/v1/jvp', {**request, 'tangents': tangents}).json


def vjp(client, request, cotangents, wrt):
    return answer(client, '/v1/vjp', {**request, 'cotangents': cotangents, 'wrt': wrt}).json


def evaluate(client, request, outputs=('potential', 'gradient'), **more):
    return answer(client, '/v1/evaluate', {**request, 'outputs': list(outputs), **more}).json


# ---- answers ----

@pytest.mark.parametrize('name', SCENES)
def test_members_and_shapes(client, name):
    request = SCENES[name]
    fields = fields_of(request)
    rng = random.Random(name)
    expected = evaluate(client, request)
    order = [name for name in ('n_vertices', 'n_bodies', 'n_collisions', 'potential', 'gradient', 'body_gradient')
             if name in expected]
    end = ['skipped'] if 'on_degenerate' in request else []
    along = jvp(client, request, {pointer: tangent(pointer, value, rng) for pointer, value in fields.items()})
    back = vjp(client, request, cotangents_of(request, rng), list(fields))
    assert list(along) == [*order, 'tangents', *end] and list(back) == [*order, 'cotangents', *end]
    for got in (along, back):
        assert {key: got[key] for key in expected if key in order} == {key: expected[key] for key in order}
    sums = [key for key in order if key in ('potential', 'gradient', 'body_gradient')]
    assert list(along['tangents']) == sums
    assert all(shape(along['tangents'][key]) == shape(expected[key]) for key in sums)
    assert list(back['cotangents']) == list(fields)
    for pointer, value in fields.items():
        assert shape(back['cotangents'][pointer]) == shape(value), pointer
    assert any(flat(list(along['tangents'].values())))
    untouched = {p.rpartition('/')[2] for p, got in back['cotangents'].items() if flat(got) and not any(flat(got))}
    # zero for contacts that all slide or all stick, or for which all directions are equal; for bodies whose point of
    # reference does not matter; for groups without contacts
    no_contacts = {'normal_force'} if name == 'curve' else set()
    assert untouched <= {'eps_v', 'mu_s', 'mu_k', 'grain', 'body_positions', 'lagged_body_velocities', *no_contacts}


@pytest.mark.parametrize('name', SCENES)
@pytest.mark.parametrize('seed', range(3))
def test_both_ways_agree(client, name, seed):
    request, rng = SCENES[name], random.Random(f'{name}/{seed}')
    fields = fields_of(request)
    tangents = {pointer: tangent(pointer, value, rng) for pointer, value in fields.items() if rng.random() < 0.6}
    wrt = list(tangents)
    rng.shuffle(wrt)
    cotangents = cotangents_of(request, rng)
    along, back = jvp(client, request, tangents)['tangents'], vjp(client, request, cotangents, wrt)['cotangents']
    pairs = [(cotangents[key], along[key]) for key in cotangents]
    there = [product(a, b) for a, b in pairs]
    here = [product(back[pointer], tangents[pointer]) for pointer in wrt]
    scale = sum(size for _, size in there) + sum(size for _, size in here)
    assert abs(math.fsum(x for x, _ in there) - math.fsum(x for x, _ in here)) <= 1e-11 * scale


@pytest.mark.parametrize('name', SCENES)
def test_by_velocities_it_is_gradient_and_hessian(client, name):
    request, rng = SCENES[name], random.Random(name)
    velocities = [p for p in ('/velocities', '/body_velocities') if p[1:] in request]
    tangents = {p: tangent(p, request[p[1:]], rng) for p in velocities}
    vector = [x for p in velocities for x in flat(tangents[p])]
    expected = evaluate(client, request, ('gradient', 'hessian_products'), vectors=[vector])
    gradient = expected['gradient'] + flat(expected.get('body_gradient', []))
    back = vjp(client, request, {'potential': 1}, velocities)['cotangents']
    # In the other scene, coefficients follow the velocities but are held constant.
    if name in ('vertices', 'lagged', 'plane', 'curve'):
        close([x for p in velocities for x in flat(back[p])], gradient)
    along = jvp(client, request, tangents)['tangents']
    close(along['gradient'] + flat(along.get('body_gradient', [])), expected['hessian_products'][0])
    close([along['potential']], [product(gradient, vector)[0]])
    cotangents = {'gradient': vector[:len(flat(request['velocities']))]}
    if 'body_velocities' in request:
        cotangents['body_gradient'] = vector[len(cotangents['gradient']):]
    back = vjp(client, request, cotangents, velocities)['cotangents']
    close([x for p in velocities for x in flat(back[p])], expected['hessian_products'][0])


def test_no_tangents_and_no_cotangents(client):
    expected = evaluate(client, VERTICES)
    along = jvp(client, VERTICES, {})
    assert along == {**expected, 'tangents': {'potential': 0, 'gradient': [0] * 21}}
    assert vjp(client, VERTICES, {'potential': 1}, []) == {**expected, 'cotangents': {}}
    fields = fields_of(VERTICES)
    back = vjp(client, VERTICES, {}, list(fields))['cotangents']
    assert not any(x for value in back.values() for x in flat(value))


def test_order_and_words_of_pointers(client):
    wrt = ['/barrier/dhat', '/positions', '/friction/eps_v', '/collisions/plane_vertex/eps_v', '/velocities']
    assert list(vjp(client, VERTICES, {'potential': 1}, wrt)['cotangents']) == wrt


# The same field in every form in which it may be sent; derivatives with respect to it have the same form.
FORMS = [('plane_vertex', 'normal_force', [2, [2], [2, 2]], 1), ('plane_vertex', 'weight', [2, [2], [2, 2]], 1),
         ('plane_vertex', 'plane_normal', [[0, 0, 2], [[0, 0, 2]], [[0, 0, 2], [0, 0, 2]], [0, 0, 2, 0, 0, 2]], 3),
         ('plane_vertex', 'mu_aniso', [[0.5, 2], [[0.5, 2]], [[0.5, 2], [0.5, 2]], [0.5, 2, 0.5, 2]], 2)]


@pytest.mark.parametrize('group,field,forms,row', FORMS, ids=[form[1] for form in FORMS])
def test_one_row_for_all_contacts(client, group, field, forms, row):
    pointer, each = f'/collisions/{group}/{field}', None
    for form in reversed(forms):
        request = copy.deepcopy(VERTICES)
        request['collisions'][group][field] = form
        back = vjp(client, request, {'potential': 1, 'gradient': [0.1 * i for i in range(21)]}, [pointer])
        got = back['cotangents'][pointer]
        assert shape(got) == shape(form)
        each = each or flat(got)
        assert any(each)
        close(got, each if len(flat(form)) > row else [math.fsum(each[i::row]) for i in range(row)])
        along = jvp(client, request, {pointer: form})
        assert along['tangents'] == jvp(client, request, {pointer: flat(form)} if shape(form) else
                                        {pointer: [form]})['tangents']


@pytest.mark.parametrize('name,pointer', [
    ('bodies', '/friction/mu'), ('vertices', '/collisions/vertex_vertex/mu'), ('curve', '/friction/vertex_mu'),
    ('curve', '/collisions/plane_vertex/mu')])
def test_one_coefficient_is_both(client, name, pointer):
    """The derivative with respect to mu is the sum of those with respect to mu_s and mu_k."""
    request = copy.deepcopy(SCENES[name])
    if name == 'curve':
        request['friction'].update(law='smooth')
        request['velocities'] = [0.3, 0, 0, 0.1, 0, 0]  # all stick: both coefficients count
        del request['friction']['curve']
    one = vjp(client, request, {'potential': 1}, [pointer])['cotangents'][pointer]
    along = jvp(client, request, {pointer: shaped(one, lambda: 0.5)})['tangents']
    *path, last = pointer[1:].split('/')
    place = request
    for key in path:
        place = place[key]
    place[f'{last}_s'] = place[f'{last}_k'] = place.pop(last)
    pair = [pointer + '_s', pointer + '_k']
    both = vjp(client, request, {'potential': 1}, pair)['cotangents']
    assert any(flat(both[pair[0]])) and any(flat(both[pair[1]]))
    close(one, [a + b for a, b in zip(flat(both[pair[0]]), flat(both[pair[1]]))])
    assert along == jvp(client, request, {p: shaped(one, lambda: 0.5) for p in pair})['tangents']


def test_a_table_of_one_coefficient(client):
    request = copy.deepcopy(IN_PLANE)
    materials = request['friction']['materials']
    del materials['mu_k']
    materials['mu'] = materials.pop('mu_s')
    one = vjp(client, request, {'potential': 1}, ['/friction/materials/mu'])['cotangents']['/friction/materials/mu']
    assert shape(one) == [2, 2] and one[0][1] == one[1][0]
    materials['mu_s'] = materials['mu_k'] = materials.pop('mu')
    pair = ['/friction/materials/mu_s', '/friction/materials/mu_k']
    both = vjp(client, request, {'potential': 1}, pair)['cotangents']
    close(one, [a + b for a, b in zip(flat(both[pair[0]]), flat(both[pair[1]]))])


def test_directions_are_constant_unless_lagged_velocities_are_given(client):
    """Without lagged velocities, the derivative with respect to velocities treats the coefficients as constants
    although they were chosen along velocities. Sending the same velocities as lagged ones leaves it unchanged; the rest
    appears in the derivative with respect to the lagged ones."""
    rng = random.Random(1)
    lagged = {'lagged_velocities': BODIES['velocities'], 'lagged_body_velocities': BODIES['body_velocities']}
    wrt = ['/velocities', '/body_velocities']
    cotangents = cotangents_of(BODIES, rng)
    held = vjp(client, BODIES, cotangents, wrt)['cotangents']
    both = vjp(client, {**BODIES, **lagged}, cotangents, [*wrt, *(f'/{name}' for name in lagged)])['cotangents']
    for pointer in wrt:
        close(both[pointer], held[pointer])
    assert all(any(flat(both[f'/{name}'])) for name in lagged)
    one = vjp(client, {**BODIES, 'lagged_velocities': BODIES['velocities']}, cotangents,
              ['/collisions/plane_vertex/plane_normal', '/collisions/body_body/normal'])['cotangents']
    none = vjp(client, BODIES, cotangents, list(one))['cotangents']
    assert one['/collisions/plane_vertex/plane_normal'] != none['/collisions/plane_vertex/plane_normal']
    assert one['/collisions/body_body/normal'] == none['/collisions/body_body/normal']


@pytest.mark.parametrize('lagged', [{}, LAGGED], ids=['', 'lagged'])
def test_a_grain_without_anisotropy_changes_nothing(client, lagged):
    """Not even rounding errors remain, so both modes agree however small the numbers are that a check compares."""
    request = {**copy.deepcopy(BODIES), **lagged, 'positions': [[0, 0, 0], [0.3, 0.4, 0.5]]}
    request['collisions'] = {
        'vertex_vertex': {'vertices': [[0, 1]], 'normal_force': 3, 'grain': [1, 0.3, 0.2], 'mu_aniso': [0.7, 0.7]},
        'plane_vertex': {'vertices': [1], 'plane_normal': [0.1, 0.2, 1], 'normal_force': 3, 'grain': [1, 0.3, 0.2]},
        'body_world': {'bodies': [0], 'point': [0.1, 0.2, 0.3], 'normal': [0, 1, 1], 'normal_force': 3,
                       'roll_radius': 0.1, 'spin_radius': 0.2, 'grain': [0.3, 0.2, 0.1]}}
    wrt = [f'/collisions/{group}/grain' for group in request['collisions']]
    cotangents = {'potential': 0.3, 'gradient': [0.1, 0.7, -0.2, 0.4, 0.3, 0.9], 'body_gradient': [0.1, 0.2, 0.5] * 4}
    along = jvp(client, request, {pointer: [0.3, -0.2, 0.7] for pointer in wrt})['tangents']
    back = vjp(client, request, cotangents, wrt)['cotangents']
    assert not any(along['gradient']) and not any(flat(along['body_gradient']))
    assert not any(x for pointer in wrt for x in flat(back[pointer]))
    for fields, more in zip(request['collisions'].values(), ({'mu_aniso': [0.7, 0.8]},
                                                             {'mu_s_aniso': [0.9, 0.3]}, {'mu_k_aniso': [0.9, 0.3]})):
        fields.update(more)
    back = vjp(client, request, cotangents, wrt)['cotangents']
    assert [any(flat(back[pointer])) for pointer in wrt] == [True, bool(lagged), bool(lagged)]


@pytest.mark.parametrize('uneven', ['mu_aniso', 'mu_k_aniso'])
@pytest.mark.parametrize('group', ['vertex_vertex', 'body_world'])
@pytest.mark.parametrize('difference', [0.1, 1e-6, 1e-12])
def test_a_grain_of_little_anisotropy(client, group, uneven, difference):
    """The effect of turning the basis is then far smaller than the changes of slip and force, which cancel."""
    rng = random.Random(5)
    numbers = lambda n: [rng.gauss(0, 1) for _ in range(n)]
    contact = {'normal_force': 3, 'grain': numbers(3), uneven: [0.5, 0.5 + difference]}
    if group == 'vertex_vertex':
        answer = 'gradient'
        request = {'positions': [numbers(3), numbers(3)], 'velocities': [numbers(3), numbers(3)],
                   'lagged_velocities': [numbers(3), numbers(3)]}
        contact['vertices'] = [0, 1]
    else:
        answer = 'body_gradient'
        request = {'body_positions': [numbers(3)], 'body_velocities': [numbers(6)], 'lagged_body_velocities': [numbers(6)]}
        contact.update(bodies=0, point=numbers(3), normal=numbers(3), roll_radius=0.1, spin_radius=0.2)
    request.update(dim=3, friction={'eps_v': 0.01, 'mu': 0.4},
                   collisions={group: {name: values if name == 'normal_force' else [values]
                                       for name, values in contact.items()}})
    pointer, tangent, cotangent = f'/collisions/{group}/grain', numbers(3), numbers(6)
    along = flat(jvp(client, request, {pointer: [tangent]})['tangents'][answer])
    back = flat(vjp(client, request, {answer: cotangent}, [pointer])['cotangents'][pointer])
    forwards, backwards = [a * b for a, b in zip(along, cotangent)], [a * b for a, b in zip(back, tangent)]
    assert any(forwards)
    assert abs(sum(forwards) - sum(backwards)) <= 2e-12 * sum(map(abs, [*forwards, *backwards]))


def test_skipped_contacts(client):
    request = copy.deepcopy(VERTICES)
    request['on_degenerate'] = 'skip'
    request['collisions']['vertex_vertex']['vertices'] = [[5, 6], [3, 3 - 1], [0, 1]]
    request['positions'][1] = request['positions'][0]
    request['collisions'] = {'vertex_vertex': request['collisions']['vertex_vertex']}
    expected = evaluate(client, request)
    assert expected['skipped'] == [{'group': 'vertex_vertex', 'index': 2, 'reason': 'coincident_vertices'}]
    back = vjp(client, request, {'potential': 1, 'gradient': [1] * 21}, ['/positions', '/velocities'])
    assert back['skipped'] == expected['skipped']
    for pointer in ('/positions', '/velocities'):
        assert back['cotangents'][pointer][0] == back['cotangents'][pointer][1] == [0, 0, 0]
    along = jvp(client, request, {'/positions': [[1, 2, 3], [-1, 0, 2]] + [[0, 0, 0]] * 5})
    assert along['skipped'] == expected['skipped'] and not any(along['tangents']['gradient'])


# ---- frames ----

def bits(value):
    return [x.hex() for x in map(float, flat(value))]


@pytest.mark.parametrize('name', SCENES)
def test_frames_have_the_same_bits(client, name):
    request, rng = SCENES[name], random.Random(name)
    fields = fields_of(request)
    tangents = {pointer: tangent(pointer, value, rng) for pointer, value in fields.items()}
    for path, more in (('/v1/jvp', {'tangents': tangents}),
                       ('/v1/vjp', {'cotangents': cotangents_of(request, rng), 'wrt': list(fields)})):
        expected = answer(client, path, {**request, **more}).json
        got = answer(client, path, {**request, **more}, FRAME)
        as_json = answer(client, path, {**request, **more}, FRAME, Accept=JSON)
        assert got.headers['Content-Type'] == FRAME and as_json.json == expected
        framed = sets.unframe(got.body)
        assert list(framed) == list(expected)
        part = 'tangents' if 'tangents' in more else 'cotangents'
        assert list(framed[part]) == list(expected[part])
        for key in expected[part]:
            assert bits(framed[part][key]) == bits(expected[part][key]), key


def test_long_cotangents_are_in_the_tail(client):
    n = 40
    request = {'dim': 3, 'velocities': [[0.1, 0, 0]] * n, 'friction': {'eps_v': 1, 'mu': 0.5}, 'collisions': {
        'plane_vertex': {'vertices': list(range(n)), 'plane_normal': [0, 0, 1], 'normal_force': [2] * n}}}
    asked = {**request, 'cotangents': {'gradient': [1] * 3 * n}, 'wrt': ['/velocities', '/friction/mu']}
    got = answer(client, '/v1/vjp', asked, Accept=FRAME)
    length = int.from_bytes(got.body[:8], 'little')
    document = json.loads(got.body[8:8 + length])
    reference = document['cotangents']['/velocities']
    assert reference['dtype'] == 'f64' and reference['shape'] == [n, 3]
    assert isinstance(document['cotangents']['/friction/mu'], float)


# ---- sets ----

def split(request):
    names = ('velocities', 'body_velocities')
    document = {k: v for k, v in request.items() if k not in names}
    n = len(flat(request['velocities'])) // request['dim']
    return {**document, 'n_vertices': n}, {k: v for k, v in request.items() if k in names}


def asked_of(request, rng):
    fields = fields_of(request)
    return (('jvp', {'tangents': {pointer: tangent(pointer, value, rng) for pointer, value in fields.items()}}),
            ('vjp', {'cotangents': cotangents_of(request, rng), 'wrt': list(fields)}))


@pytest.mark.parametrize('kind', [JSON, FRAME], ids=['json', 'frame'])
@pytest.mark.parametrize('name', SCENES)
def test_of_a_set_the_same_bytes(client, name, kind):
    request, rng = SCENES[name], random.Random(name)
    document, query = split(request)
    assert client.send('PUT', '/v1/sets/d', document, kind).status in (200, 201)
    version = client.get('d').version
    for route, more in asked_of(request, rng):
        for _ in range(2):
            of_set = answer(client, f'/v1/sets/d/{route}', {**query, **more}, kind)
            assert of_set.version == version and 'Server-Timing' in of_set.headers
            assert of_set.body == answer(client, f'/v1/{route}', {**request, **more}, kind).body


@pytest.mark.parametrize('of_set', list(itertools.product([False, True], repeat=2)))
@pytest.mark.parametrize('of_query', list(itertools.product([False, True], repeat=2)))
def test_lagged_velocities_of_query_or_set(client, of_set, of_query):
    """Fields of the query replace those of the set, and derivatives are then with respect to the query's."""
    rng = random.Random(7)
    document, query = split(BODIES)
    document.update({name: rows for (name, rows), use in zip(LAGGED.items(), of_set) if use})
    query.update({name: rows[::-1] for (name, rows), use in zip(LAGGED.items(), of_query) if use})
    assert client.put('d', document).status in (200, 201)
    request = {k: v for k, v in {**document, **query}.items() if k != 'n_vertices'}
    for route, more in asked_of(request, rng):
        got = answer(client, f'/v1/sets/d/{route}', {**query, **more}).body
        assert got == answer(client, f'/v1/{route}', {**request, **more}).body
    for name in LAGGED:
        if name not in request:
            refused = client.send('POST', '/v1/sets/d/vjp', {**query, 'cotangents': {}, 'wrt': [f'/{name}']})
            assert refused.status == 422 and refused.pointers == ['/wrt/0']


def test_derivatives_of_a_patched_set(client):
    document, query = split(VERTICES)
    assert client.put('d', document).status == 201
    patch = {'friction': {'mu_s': 0.7, 'viscous': None}, 'positions': [[x + 0.01 * i for x in row] for i, row in
                                                                       enumerate(VERTICES['positions'])]}
    assert client.patch('d', patch).status == 200
    request = {**VERTICES, 'positions': patch['positions'], 'friction': {'eps_v': 0.5, 'mu_s': 0.7, 'mu_k': 0.4}}
    more = {'cotangents': {'potential': 1}, 'wrt': ['/positions', '/friction/mu_s']}
    assert (answer(client, '/v1/sets/d/vjp', {**query, **more}).body ==
            answer(client, '/v1/vjp', {**request, **more}).body)
    gone = client.send('POST', '/v1/sets/d/vjp', {**query, 'cotangents': {}, 'wrt': ['/friction/viscous']})
    assert gone.status == 422 and gone.pointers == ['/wrt/0'] and gone.json['code'] == 'unknown_pointer'


def test_routes_of_sets(client):
    query = {'velocities': VERTICES['velocities']}
    for route, more in (('jvp', {'tangents': {}}), ('vjp', {'cotangents': {}, 'wrt': []})):
        path = f'/v1/sets/d/{route}'
        missing = client.send('POST', path, {**query, **more})
        assert missing.status == 404 and missing.json['code'] == 'unknown_set'
        assert client.put('d', split(VERTICES)[0]).status == 201
        changed = client.send('POST', path, {**query, **more}, If_Collision_Set_Version='0' * 32)
        assert changed.status == 412 and changed.version == client.get('d').version
        assert answer(client, path, {**query, **more}, If_Collision_Set_Version=changed.version).version
        for refused in (client.send('POST', path + '?x=1', {**query, **more}), client.send(
                'POST', path, {**query, **more, 'friction': {}}), client.send('POST', path, {**query, **more, 'outputs': []})):
            assert refused.status == 422
        assert client.send('GET', path).status == 405
        client.delete('d')


# ---- refusals ----

def asked(**more):
    return {**VERTICES, **more}


N = 7
FORCE = '/collisions/face_vertex/normal_force'
REFUSED = [
    # nothing to differentiate with respect to
    ('jvp', {}, ['/tangents'], 'missing_field'),
    ('vjp', {}, ['/cotangents', '/wrt'], 'missing_field'),
    ('vjp', {'wrt': []}, ['/cotangents'], 'missing_field'),
    ('jvp', {'tangents': []}, ['/tangents'], 'wrong_type'),
    ('jvp', {'tangents': 'x'}, ['/tangents'], 'wrong_type'),
    ('jvp', {'tangents': None}, ['/tangents'], 'wrong_type'),
    ('vjp', {'cotangents': 1, 'wrt': []}, ['/cotangents'], 'wrong_type'),
    ('vjp', {'cotangents': {}, 'wrt': '/velocities'}, ['/wrt'], 'wrong_type'),
    ('vjp', {'cotangents': {}, 'wrt': {}}, ['/wrt'], 'wrong_type'),
    ('vjp', {'cotangents': {}, 'wrt': 1}, ['/wrt'], 'wrong_type'),
    ('vjp', {'cotangents': {}, 'wrt': [1, 2]}, ['/wrt/0'], 'wrong_type'),
    ('vjp', {'cotangents': {}, 'wrt': ['/velocities', None, ['/positions']]}, ['/wrt/1', '/wrt/2'], 'wrong_type'),
    # the other route's fields, and fields that do not belong here
    ('jvp', {'tangents': {}, 'wrt': []}, ['/wrt'], 'unknown_field'),
    ('jvp', {'tangents': {}, 'cotangents': {}}, ['/cotangents'], 'unknown_field'),
    ('vjp', {'cotangents': {}, 'wrt': [], 'tangents': {}}, ['/tangents'], 'unknown_field'),
    *((route, {**more, option: value}, [f'/{option}'], 'unknown_field')
      for route, more in (('jvp', {'tangents': {}}), ('vjp', {'cotangents': {}, 'wrt': []}))
      for option, value in (('outputs', ['potential']), ('hessian', {}), ('collision_outputs', []), ('line', {}),
                            ('vectors', []), ('position_jacobian', {}), ('n_vertices', N))),
    ('vjp', {'cotangents': {'hessian': 1}, 'wrt': []}, ['/cotangents/hessian'], 'unknown_field'),
    # pointers
    *(('vjp', {'cotangents': {}, 'wrt': ['/velocities', pointer]}, ['/wrt/1'], 'unknown_pointer')
      for pointer in ('', '/', 'velocities', '/Velocities', '/velocities/', '/velocities/0', '//velocities', '#/velocities',
                      '/dim', '/friction', '/friction/', '/friction/law', '/friction/curve', '/friction/materials',
                      '/friction/materials/vertex_material', '/friction/curve/speeds', '/barrier', '/barrier/type',
                      '/collisions', '/collisions/edge_edge', '/collisions/edge_edge/vertices',
                      '/collisions/vertex_edge/weight', '/collisions/edge_edge/plane_normal', '/wrt', '/cotangents/gradient',
                      '/friction~1eps_v', '/~0', '/velocities\u00a0', '/körper', '/outputs',
                      # fields that this request lacks
                      '/lagged_velocities', '/body_positions', '/body_velocities', '/lagged_body_velocities',
                      '/friction/mu', '/friction/vertex_mu', '/friction/materials/mu', '/friction/stribeck_speed',
                      '/friction/curve/factors', '/collisions/body_world/weight', '/collisions/plane_vertex/mu',
                      '/collisions/vertex_vertex/mu_s')),
    ('vjp', {'cotangents': {}, 'wrt': ['/velocities', '/positions', '/velocities', '/velocities']}, ['/wrt/2', '/wrt/3'],
     'repeated_pointer'),
    ('jvp', {'tangents': {'/friction/mu': 1, 'velocities': [], '/a~b/c': 2}},
     ['/tangents/~1friction~1mu', '/tangents/velocities', '/tangents/~1a~0b~1c'], 'unknown_pointer'),
    # shapes and numbers of tangents
    ('jvp', {'tangents': {'/velocities': [[1, 2, 3]] * 6}}, ['/tangents/~1velocities'], 'wrong_shape'),
    ('jvp', {'tangents': {'/velocities': [[1, 2]] * N}}, ['/tangents/~1velocities'], 'wrong_shape'),
    ('jvp', {'tangents': {'/velocities': [1] * 20}}, ['/tangents/~1velocities'], 'wrong_shape'),
    ('jvp', {'tangents': {'/velocities': 0}}, ['/tangents/~1velocities'], 'wrong_shape'),
    ('jvp', {'tangents': {'/velocities': 'x'}}, ['/tangents/~1velocities'], 'wrong_type'),
    ('jvp', {'tangents': {'/velocities': {}}}, ['/tangents/~1velocities'], 'wrong_type'),
    ('jvp', {'tangents': {'/velocities': None}}, ['/tangents/~1velocities'], 'wrong_type'),
    ('jvp', {'tangents': {'/velocities': [[0, 0, 0]] * 3 + [[0, None, 0]] + [[0, 0, 0]] * 3}},
     ['/tangents/~1velocities/3/1'], 'wrong_type'),
    ('jvp', {'tangents': {'/velocities': [[0, 0, 0]] * 6 + [[0, 0]]}}, ['/tangents/~1velocities/6'], 'wrong_shape'),
    ('jvp', {'tangents': {'/friction/eps_v': [1]}}, ['/tangents/~1friction~1eps_v'], 'wrong_type'),
    ('jvp', {'tangents': {'/barrier/dhat': True}}, ['/tangents/~1barrier~1dhat'], 'wrong_type'),
    ('jvp', {'tangents': {FORCE: 1}}, ['/tangents/~1collisions~1face_vertex~1normal_force'], 'wrong_shape'),
    ('jvp', {'tangents': {FORCE: [1]}}, ['/tangents/~1collisions~1face_vertex~1normal_force'], 'wrong_shape'),
    ('jvp', {'tangents': {FORCE: [1, 2, 3]}}, ['/tangents/~1collisions~1face_vertex~1normal_force'], 'wrong_shape'),
    ('jvp', {'tangents': {'/collisions/plane_vertex/viscous': [1, 2]}},
     ['/tangents/~1collisions~1plane_vertex~1viscous'], 'wrong_shape'),
    ('jvp', {'tangents': {'/collisions/plane_vertex/plane_normal': [[1, 2, 3], [4, 5, 6]]}},
     ['/tangents/~1collisions~1plane_vertex~1plane_normal'], 'wrong_shape'),
    # cotangents
    ('vjp', {'cotangents': {'potential': [1]}, 'wrt': []}, ['/cotangents/potential'], 'wrong_type'),
    ('vjp', {'cotangents': {'gradient': [1] * 20}, 'wrt': []}, ['/cotangents/gradient'], 'wrong_shape'),
    ('vjp', {'cotangents': {'gradient': 1}, 'wrt': []}, ['/cotangents/gradient'], 'wrong_shape'),
    ('vjp', {'cotangents': {'body_gradient': [[1] * 6]}, 'wrt': []}, ['/cotangents/body_gradient'], 'wrong_shape'),
    # together with other faults
    ('vjp', {'velocities': [[0, 0]] * 7, 'cotangents': {'potential': 'x'}, 'wrt': ['/nonsense', '/positions', 3]},
     ['/velocities', '/cotangents/potential', '/wrt/0', '/wrt/2'], 'wrong_shape'),
    ('jvp', {'dim': 4, 'tangents': {'/nonsense': 1, '/velocities': [1]}}, ['/dim', '/tangents/~1nonsense'], 'out_of_range'),
]


@pytest.mark.parametrize('route,more,pointers,code', REFUSED, ids=[f'{i}-{r[3]}' for i, r in enumerate(REFUSED)])
def test_refusals(client, route, more, pointers, code):
    got = client.send('POST', f'/v1/{route}', asked(**more))
    assert got.status == 422 and got.pointers == pointers and got.json['code'] == code, got
    if 'dim' in more or 'velocities' in more or 'n_vertices' in more:
        return
    document, query = split(VERTICES)
    assert client.put('d', document).status in (200, 201)
    got = client.send('POST', f'/v1/sets/d/{route}', {**query, **more})
    assert got.status == 422 and got.pointers == pointers and got.json['code'] == code, got
    assert got.version


def test_misspelt(client):
    for wrong, meant in (('/velocites', '/velocities'), ('/friction/mu_S', '/friction/mu_s'), ('positions', '/positions'),
                         ('/collisions/edge_edge/muAniso', '/collisions/edge_edge/mu_aniso')):
        got = client.send('POST', '/v1/vjp', asked(cotangents={}, wrt=[wrong]))
        assert got.status == 422 and f'did you mean "{meant}"?' in got.json['detail'], got
    got = client.send('POST', '/v1/jvp', asked(tangent={}))
    assert got.pointers == ['/tangent'] and 'did you mean "tangents"?' in got.json['detail']
    got = client.send('POST', '/v1/vjp', asked(cotangents={}, wrt=['/friction/mu']))
    assert got.json['detail'] == ('the request does not have a field "/friction/mu"; there are /friction/eps_v,'
                                  ' /friction/mu_s, /friction/mu_k, /friction/viscous')


def test_tables_are_symmetric(client):
    for table, place in (([[1, 2], [3, 4]], '/1/0'), ([1, 2, 3, 4], '/2')):
        got = client.send('POST', '/v1/jvp', {**IN_PLANE, 'tangents': {'/friction/materials/mu_s': table}})
        assert got.status == 422 and got.json['code'] == 'asymmetric_table', got
        assert got.pointers == [f'/tangents/~1friction~1materials~1mu_s{place}']


@pytest.mark.parametrize('value,word', [(math.nan, 'NaN'), (math.inf, 'infinity'), (-math.inf, '-infinity')])
def test_not_finite(client, value, word):
    rows = [[0.5, 0, 0] for _ in range(N)]
    rows[3][1] = value
    got = client.send('POST', '/v1/jvp', asked(tangents={'/velocities': rows}), FRAME)
    assert got.status == 422 and got.pointers == ['/tangents/~1velocities/3/1'] and word in got.json['detail'], got
    got = client.send('POST', '/v1/vjp', asked(cotangents={'gradient': [x for row in rows for x in row]}, wrt=[]), FRAME)
    assert got.status == 422 and got.pointers == ['/cotangents/gradient/10'] and got.json['code'] == 'not_finite', got


def test_a_body_has_no_gradient_without_bodies(client):
    got = client.send('POST', '/v1/vjp', asked(cotangents={'body_gradient': []}, wrt=[]))
    assert got.status == 200


ONE = {'dim': 3, 'velocities': [[1, 0, 0]] * 2, 'friction': {'eps_v': 0.5, 'mu': 0.5}, 'collisions': {
    'plane_vertex': {'vertices': [0, 1], 'plane_normal': [0, 0, 1], 'normal_force': 1}}}


def test_overflow(client):
    """An overflow of one contact names that contact; then overflows of a sum over all contacts that share a field, and
    of a coefficient that serves as both."""
    got = client.send('POST', '/v1/jvp', {**ONE, 'tangents': {'/collisions/plane_vertex/normal_force': 1e308,
                                                              '/velocities': [[1e308, 1e308, 0]] * 2}})
    assert got.status == 422 and got.json['code'] == 'overflow', got
    got = client.send('POST', '/v1/vjp', {**ONE, 'cotangents': {'potential': 1e308}, 'wrt': ['/velocities', '/friction/mu']})
    assert got.status == 422 and got.json['code'] == 'overflow' and got.pointers == ['/wrt/1'], got
    large = copy.deepcopy(ONE)
    large['collisions']['plane_vertex']['normal_force'] = 1.7e308
    large['velocities'] = [[1e-3, 0, 0]] * 2
    got = client.send('POST', '/v1/vjp', {**large, 'cotangents': {'gradient': [1e3] * 6}, 'wrt': ['/velocities']})
    assert got.status == 422 and got.json['code'] == 'overflow', got
    assert got.pointers == ['/collisions/plane_vertex/vertices/0']


def test_the_mean_of_both_halves_of_a_table_fits(client):
    """Each fits a double, but their sum does not."""
    table = [[0, 0.01], [0.01, 0]]
    large = {'dim': 3, 'velocities': [[1, 0, 0], [0, 0, 0]], 'positions': [[0, 0, 0], [0, 0, 1]], 'collisions': {
        'vertex_vertex': {'vertices': [[0, 1], [1, 0]], 'normal_force': [1e308, 1.5e308]}},
        'friction': {'eps_v': 1e-3, 'materials': {'vertex_material': [0, 1], 'mu': table}}}
    got = vjp(client, large, {'potential': 1}, ['/friction/materials/mu'])['cotangents']['/friction/materials/mu']
    assert got[0][0] == got[1][1] == 0 and got[0][1] == got[1][0] == pytest.approx(1.25e308, rel=1e-12), got


def test_an_infinite_derivative_is_named(client):
    """The derivative of a geometric mean is infinite where one of the coefficients is 0; with respect to other fields
    it is finite. A result that is itself too large is not blamed on a derivative."""
    mean = {'dim': 3, 'velocities': [[1, 0, 0], [0, 0, 0]], 'positions': [[0, 0, 0], [0, 0, 1]], 'collisions': {
        'vertex_vertex': {'vertices': [[0, 1]], 'normal_force': 1}},
        'friction': {'eps_v': 1e-3, 'vertex_mu': [0, 0.5], 'blend': 'geometric_mean'}}
    words = ('contact 0 of vertex_vertex: the derivative with respect to "/friction/vertex_mu" is infinite, or too large '
             'for a double')
    for path, more in (('/v1/vjp', {'cotangents': {'potential': 1}, 'wrt': ['/velocities', '/friction/vertex_mu']}),
                       ('/v1/jvp', {'tangents': {'/velocities': [[1, 0, 0]] * 2, '/friction/vertex_mu': [1, 0]}})):
        got = client.send('POST', path, {**mean, **more})
        assert got.status == 422 and got.pointers == ['/collisions/vertex_vertex/vertices/0'], got
        assert got.json['detail'] == words and got.json['code'] == 'overflow', got
        mean['collisions']['vertex_vertex']['normal_force'] = 1.7e308
        mean['velocities'] = [[10, 0, 0], [0, 0, 0]]
        huge = {**mean, 'friction': {'eps_v': 1e-3, 'mu': 2}}
        huge['cotangents' if 'wrt' in more else 'tangents'] = {'potential': 1} if 'wrt' in more else {'/velocities': [[1, 0, 0]] * 2}
        got = client.send('POST', path, {**huge, **({'wrt': ['/velocities']} if 'wrt' in more else {})})
        assert got.status == 422 and got.json['detail'] == 'contact 0 of vertex_vertex: a result does not fit a double', got
        mean['collisions']['vertex_vertex']['normal_force'] = 1


def test_long_answers(server_with):
    client = sets.Client(server_with('--max-answer-bytes', '1K'))
    n = 60
    request = {'dim': 3, 'n_vertices': n, 'friction': {'eps_v': 1, 'vertex_mu': [0.5] * n}, 'collisions': {
        'plane_vertex': {'vertices': list(range(n)), 'plane_normal': [0, 0, 1], 'normal_force': 1}}}
    assert client.put('d', request).status == 201
    asked_for = {'velocities': [0] * 3 * n, 'cotangents': {}, 'wrt': ['/velocities', '/friction/vertex_mu']}
    got = client.send('POST', '/v1/sets/d/vjp', asked_for)
    assert got.status == 413 and got.json['code'] == 'answer_too_long' and got.pointers == ['/wrt'], got
    client.close()


# ---- position_jacobian ----

def dense(matrix, places=None):
    rows, columns = matrix['shape']
    out = [[0.0] * columns for _ in range(rows)]
    places = places or matrix
    if matrix['format'] == 'csr':
        for i in range(rows):
            for k in range(places['indptr'][i], places['indptr'][i + 1]):
                out[i][places['indices'][k]] += matrix['data'][k]
    else:
        for i, j, value in zip(places['rows'], places['cols'], matrix['values'], strict=True):
            out[i][j] += value
    return out


def jacobian(client, request, **options):
    return evaluate(client, request, ['position_jacobian'], position_jacobian=options)['position_jacobian']


WITH_POSITIONS = {'vertices': VERTICES, 'beside-bodies': {**BODIES, 'positions': [[0, 0, 0], [1, 1, 0]]},
                  'lagged': {**VERTICES, 'lagged_velocities': VERTICES['velocities'][::-1]}}


@pytest.mark.parametrize('name', WITH_POSITIONS)
def test_formats_of_the_jacobian(client, name):
    request = WITH_POSITIONS[name]
    n = len(flat(request['positions']))
    n_dofs = n + len(flat(request.get('body_velocities', [])))
    csr, triplets = jacobian(client, request), jacobian(client, request, format='triplets')
    assert list(csr) == ['format', 'shape', 'indptr', 'indices', 'data'] and csr['format'] == 'csr'
    assert list(triplets) == ['format', 'shape', 'rows', 'cols', 'values'] and triplets['format'] == 'triplets'
    assert csr['shape'] == triplets['shape'] == [n_dofs, n] and len(csr['indptr']) == n_dofs + 1
    assert csr == jacobian(client, request, format='csr', pattern=True)
    for i in range(n_dofs):
        row = csr['indices'][csr['indptr'][i]:csr['indptr'][i + 1]]
        assert row == sorted(set(row)) and (i < n or not row)
    whole = dense(csr)
    close(dense(triplets), whole, 1e-13)
    for form, full in (('csr', csr), ('triplets', triplets)):
        values = jacobian(client, request, format=form, pattern=False)
        assert values == {key: full[key] for key in ('format', 'shape', 'data' if form == 'csr' else 'values')}
    if name == 'beside-bodies':
        return
    rng = random.Random(name)
    along = shaped(request['positions'], lambda: rng.uniform(-1, 1))
    expected = jvp(client, request, {'/positions': along})['tangents']['gradient']
    close([math.fsum(a * b for a, b in zip(row, flat(along))) for row in whole], expected, 1e-10)
    assert any(whole[i][j] != whole[j][i] for i in range(n) for j in range(n))


def test_the_jacobian_beside_other_outputs(client):
    outputs = ['hessian', 'gradient', 'position_jacobian', 'potential']
    together = evaluate(client, VERTICES, outputs, hessian={'format': 'csr'}, position_jacobian={'format': 'csr'})
    assert list(together) == ['n_vertices', 'n_collisions', 'potential', 'gradient', 'hessian', 'position_jacobian']
    assert together['position_jacobian'] == jacobian(client, VERTICES)
    assert together['hessian'] == evaluate(client, VERTICES, ['hessian'], hessian={'format': 'csr'})['hessian']
    framed = answer(client, '/v1/evaluate', {**VERTICES, 'outputs': outputs, 'hessian': {'format': 'csr'}}, Accept=FRAME)
    assert sets.unframe(framed.body) == together


@pytest.mark.parametrize('name', WITH_POSITIONS)
def test_the_jacobian_of_a_set(client, name):
    request = WITH_POSITIONS[name]
    document, query = split(request)
    assert client.put('d', document).status in (200, 201)
    for options in ({'format': 'csr'}, {'format': 'triplets'}, {'format': 'csr', 'pattern': False}, {'pattern': False}):
        more = {'outputs': ['position_jacobian', 'hessian'], 'position_jacobian': options, 'hessian': {'format': 'csr'}}
        expected = answer(client, '/v1/evaluate', {**request, **more}).body
        for _ in range(2):
            assert answer(client, '/v1/sets/d/evaluate', {**query, **more}).body == expected


def test_the_jacobian_counts_in_its_set(client):
    """The pattern is created on first use, and kept."""
    document, query = split(VERTICES)
    assert client.put('d', document).status == 201
    before = client.list().json['sets'][0]['bytes']
    more = {'outputs': ['position_jacobian']}
    answer(client, '/v1/sets/d/evaluate', {**query, **more})
    kept = client.list().json['sets'][0]['bytes']
    answer(client, '/v1/sets/d/evaluate', {**query, **more})
    assert before < kept == client.list().json['sets'][0]['bytes']


def test_refusals_of_the_jacobian(client):
    without = {k: v for k, v in ONE.items()}
    got = client.send('POST', '/v1/evaluate', {**without, 'outputs': ['position_jacobian']})
    assert got.status == 422 and got.pointers == ['/positions'] and got.json['code'] == 'missing_field', got
    document, query = split(without)
    assert client.put('d', document).status == 201
    got = client.send('POST', '/v1/sets/d/evaluate', {**query, 'outputs': ['position_jacobian']})
    assert got.status == 422 and got.pointers == ['/positions'] and got.json['code'] == 'missing_field', got
    for options, pointer, code in (({'format': 'bsr'}, '/position_jacobian/format', 'unknown_word'),
                                   ({'format': 'factors'}, '/position_jacobian/format', 'unknown_word'),
                                   ({'pattern': 0}, '/position_jacobian/pattern', 'wrong_type'),
                                   ({'triangle': 'full'}, '/position_jacobian/triangle', 'unknown_field'),
                                   ([], '/position_jacobian', 'wrong_type')):
        got = client.send('POST', '/v1/evaluate', {**VERTICES, 'outputs': ['potential'], 'position_jacobian': options})
        assert got.status == 422 and got.pointers == [pointer] and got.json['code'] == code, got
    # options of an output that is not requested do not need positions
    assert client.send('POST', '/v1/evaluate', {**ONE, 'position_jacobian': {'format': 'triplets'}}).status == 200


def test_a_long_jacobian(server_with):
    client = sets.Client(server_with('--max-answer-bytes', '1K'))
    for options, pointer in (({}, '/position_jacobian'),
                             ({'position_jacobian': {'format': 'triplets'}}, '/position_jacobian/format')):
        got = client.send('POST', '/v1/evaluate', {**VERTICES, 'outputs': ['position_jacobian'], **options})
        assert got.status == 413 and got.json['code'] == 'answer_too_long' and got.pointers == [pointer], got
    client.close()
