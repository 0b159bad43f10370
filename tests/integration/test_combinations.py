"""Requests that combine the options of the contract in pairs (tests/oracle/combinations.py): compared with the
independent program, with the same request in its other forms, and with a collision set that received it in two parts.

COMBINATIONS: how many covering arrays, of some fifty requests each (1); COMBINATIONS_FIRST: the first seed (0).
"""
import json
import os
import random
import sys

import pytest

from conftest import ONE_IN

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'oracle'))
import combinations  # noqa: E402
import compare  # noqa: E402
import contacts  # noqa: E402
import oracle  # noqa: E402
import sets  # noqa: E402
from algebra import flat  # noqa: E402
from derivatives import Derivatives, fields_of, shaped, symmetric, value_at  # noqa: E402
from sets import FRAME, JSON  # noqa: E402

TOLERANCE, DOT = 1e-9, 1e-11
COUNT, FIRST = int(os.environ.get('COMBINATIONS', 1)), int(os.environ.get('COMBINATIONS_FIRST', 0))
CASES = [(seed, i, row) for seed in range(FIRST, FIRST + COUNT) for i, row in enumerate(combinations.cases(seed))][::ONE_IN]
OTHER = {'dim': 3, 'n_vertices': 2, 'friction': {'eps_v': 1, 'mu': 1, 'viscous': 3}, 'on_degenerate': 'skip',
         'lagged_velocities': [[1, 0, 0], [0, 1, 0]],
         'collisions': {'plane_vertex': {'vertices': [0, 1], 'plane_normal': [0, 0, 1], 'normal_force': [1, 2]}}}
FIELDS = {'velocities': ('velocities', 'body_velocities'), 'lagged': ('lagged_velocities', 'lagged_body_velocities', 'anchor'),
          'geometry': ('positions', 'body_positions', 'point', 'normal', 'plane_normal', 'tangent_basis'),
          'coefficients': ('mu', 'mu_s', 'mu_k', 'vertex_mu', 'normal_force', 'weight', 'mu_aniso', 'eps_v')}


@pytest.fixture(scope='module')
def client(server):
    made = sets.Client(server)
    yield made
    made.close()


@pytest.fixture(scope='module', params=CASES, ids=[f'{seed}-{i}' for seed, i, _ in CASES])
def scene(request):
    seed, i, row = request.param
    return combinations.Scene(row, (seed, i))


def post(client, path, request, kind=JSON, accept=JSON):
    answer = client.send('POST', path, request, kind, Accept=accept)
    assert answer.status == 200, (path, answer, json.dumps(request))
    return answer


def kind_of(scene, name):
    return FRAME if scene.row[name] == 'frame' else JSON


def put(client, name, document, kind=JSON):
    answer = client.put(name, document, kind)
    assert answer.status in (200, 201), (answer, json.dumps(document))
    return answer


# ---- evaluate ----

def test_the_independent_program_agrees(client, scene):
    whole = scene.whole()
    answer = post(client, '/v1/evaluate', whole).json
    jacobian = answer.pop('position_jacobian', None)
    asked = dict(whole)
    if 'outputs' in asked:
        asked['outputs'] = [o for o in asked['outputs'] if o != 'position_jacobian']
    evaluation = oracle.Evaluation(asked)
    expected = evaluation.answer()
    for contact in evaluation.all():
        contacts.leave_open(contact, answer, expected)
    largest, words, structure = compare.worst(answer, expected)
    assert structure == [], (scene.row, json.dumps(whole))
    assert largest <= TOLERANCE, (words, scene.row, json.dumps(whole))
    if jacobian is not None and not scene.searches():
        same_jacobian(jacobian, whole)


def same_jacobian(jacobian, whole):
    """The values agree with complex steps, and so do the indices if the pattern is included."""
    expected = Derivatives({k: v for k, v in whole.items() if k not in sets.OPTIONS}).position_jacobian(jacobian['format'])
    if not whole['position_jacobian']['pattern']:
        expected = {k: v for k, v in expected.items() if k not in ('rows', 'cols', 'indptr', 'indices')}
    largest, words, structure = compare.worst(jacobian, expected)
    assert structure == [] and largest <= TOLERANCE, (structure, words, json.dumps(whole))


def test_every_form_of_a_request_has_the_same_answer(client, scene):
    whole = scene.whole()
    expected = post(client, '/v1/evaluate', whole)
    rng = random.Random(str(scene.row))
    flat_one, shuffled = combinations.flattened(whole), combinations.shuffled(whole, rng)
    for request, kind in ((whole, FRAME), (flat_one, JSON), (flat_one, FRAME), (shuffled, JSON), (shuffled, FRAME)):
        assert post(client, '/v1/evaluate', request, kind).body == expected.body, (kind, json.dumps(request))
    framed = post(client, '/v1/evaluate', whole, kind_of(scene, 'body'), FRAME)
    assert sets.unframe(framed.body) == expected.json, json.dumps(whole)


# ---- sets ----

def difference(old, new):
    """A merge patch that leads from one document to the other."""
    patch = {k: None for k in old if k not in new}
    for key, value in new.items():
        if isinstance(value, dict) and isinstance(old.get(key), dict):
            patch[key] = difference(old[key], value)
        elif old.get(key) != value:
            patch[key] = value
    return patch


def altered(document, rng):
    """Returns the document with different numbers in one field, possibly of a group, and the field's path."""
    places = [(name,) for name in ('positions', 'body_positions', 'lagged_velocities', 'lagged_body_velocities')
              if flat(document.get(name, []))]
    places += [('friction', name) for name in ('eps_v', 'mu', 'vertex_mu', 'viscous') if name in document['friction']]
    places += [('barrier', name) for name in ('stiffness',) if 'barrier' in document]
    places += [('collisions', group, name) for group, fields in document['collisions'].items()
               for name in ('normal_force', 'weight', 'mu_aniso', 'anchor', 'surface_velocity', 'spin_radius', 'point')
               if name in fields]
    path = rng.choice(places)
    out = json.loads(json.dumps(document))
    parent = out
    for key in path[:-1]:
        parent = parent[key]
    value = parent[path[-1]]
    parent[path[-1]] = shaped([1.25 * x for x in flat(value)], value) if isinstance(value, list) else 1.25 * value
    return out


def ways(document, rng):
    """Earlier states of a set from which a patch leads to the document."""
    return {'other': OTHER, 'one field': altered(document, rng)}


def ask_set(client, scene, name, accept):
    return post(client, f'{sets.path(name)}/evaluate', scene.query, kind_of(scene, 'body'), accept)


def test_a_set_answers_as_the_whole_request_does(client, scene):
    expected = {accept: post(client, '/v1/evaluate', scene.whole(), accept=accept).body for accept in (JSON, FRAME)}
    put(client, 'whole', scene.document, kind_of(scene, 'body'))
    for accept in (JSON, FRAME, JSON):  # from the second time on, uses data that the set has cached
        assert ask_set(client, scene, 'whole', accept).body == expected[accept], (scene.row, json.dumps(scene.whole()))
    assert client.delete('whole').status == 204


@pytest.mark.parametrize('way', ['other', 'one field'])
def test_a_patched_set_answers_as_the_whole_request_does(client, scene, way):
    before = ways(scene.document, random.Random(str(scene.row)))[way]
    expected = post(client, '/v1/evaluate', scene.whole()).body
    old = put(client, 'patched', before)
    if way == 'one field':
        ask_set(client, scene, 'patched', JSON)  # so that the set already has its patterns
    kind = FRAME if scene.row['answer'] == 'frame' else 'application/merge-patch+json'
    patch = client.patch('patched', difference(before, scene.document), kind, If_Collision_Set_Version=old.version)
    assert patch.status == 200, (patch, json.dumps(before), json.dumps(scene.document))
    again = client.patch('patched', difference(before, scene.document), kind, If_Collision_Set_Version=old.version)
    assert (again.status, again.body, again.version) == (200, patch.body, patch.version)
    assert ask_set(client, scene, 'patched', JSON).body == expected, (scene.row, json.dumps(scene.whole()))
    assert client.delete('patched').status == 204


def test_the_pattern_is_that_of_the_hessian(client, scene):
    put(client, 'pattern', scene.document)
    form, triangle = scene.hessian()['format'], scene.hessian().get('triangle', 'full')
    query = {k: v for k, v in scene.query.items() if k not in sets.OPTIONS}
    if form == 'factors':
        form = 'triplets'
    hessian = post(client, sets.path('pattern') + '/evaluate',
                   {**query, 'outputs': ['hessian'], 'hessian': {'format': form, 'triangle': triangle}}).json['hessian']
    accept = kind_of(scene, 'answer')
    answer = client.pattern('pattern', f'?format={form}&triangle={triangle}', Accept=accept)
    got = sets.unframe(answer.body) if accept == FRAME else answer.json
    assert got == {k: v for k, v in hessian.items() if k not in ('values', 'data')}, scene.row
    tags = set()
    for other in ('full', 'upper', 'lower'):
        for kind in (JSON, FRAME):
            tags.add(client.pattern('pattern', f'?format={form}&triangle={other}', Accept=kind).headers['ETag'])
    assert len(tags) == 6 and answer.headers['ETag'] in tags
    again = client.pattern('pattern', f'?format={form}&triangle={triangle}', Accept=accept, If_None_Match=answer.headers['ETag'])
    assert (again.status, again.body, again.headers['Vary']) == (304, b'', 'Accept')
    assert client.delete('pattern').status == 204


# ---- derivatives ----

def chosen(scene, request):
    """Pointers to some of the fields that the request has."""
    names = FIELDS.get(scene.row['fields'])
    fields = fields_of(request)
    return [p for p in fields if names is None or p.rpartition('/')[2] in names] or fields[:1]


def direction(rng, request, pointer):
    value = value_at(request, pointer)
    numbers = [rng.gauss(0, 1) for _ in flat(value)]
    return shaped(symmetric(numbers) if 'materials' in pointer else numbers, value)


def asked_of(scene, request):
    """Tangents, cotangents and the fields to differentiate with respect to, from document and query."""
    rng = random.Random(str(scene.row))
    pointers = chosen(scene, request)
    cotangents = {'potential': rng.gauss(0, 1), 'gradient': scene.vector(scene.n_vertices * scene.dim)}
    if scene.n_bodies:
        cotangents['body_gradient'] = [scene.vector(3 * scene.dim - 3) for _ in range(scene.n_bodies)]
    return {'tangents': {p: direction(rng, request, p) for p in pointers}}, {'cotangents': cotangents, 'wrt': pointers}


def product(a, b):
    pairs = list(zip(flat(a), flat(b)))
    return sum(x * y for x, y in pairs), sum(abs(x * y) for x, y in pairs)


def test_derivatives(client, scene):
    left_out = (*sets.OPTIONS, *sets.TERMS)
    request = {k: v for k, v in scene.whole().items() if k not in left_out}
    query = {k: v for k, v in scene.query.items() if k not in left_out}
    forth, back = asked_of(scene, request)
    put(client, 'derived', scene.document, kind_of(scene, 'body'))
    answers = {}
    for route, asked in (('jvp', forth), ('vjp', back)):
        whole = post(client, f'/v1/{route}', {**request, **asked})
        of_set = post(client, f'{sets.path("derived")}/{route}', {**query, **asked}, kind_of(scene, 'body'))
        assert of_set.body == whole.body, (route, scene.row, json.dumps({**request, **asked}))
        framed = post(client, f'/v1/{route}', {**request, **asked}, FRAME, FRAME)
        assert sets.unframe(framed.body) == whole.json
        answers[route] = whole.json
    assert client.delete('derived').status == 204
    go, come = answers['jvp']['tangents'], answers['vjp']['cotangents']
    there = [product(back['cotangents'].get(name, 0), go[name]) for name in go]
    returned = [product(come[p], forth['tangents'][p]) for p in come]
    sizes = sum(size for _, size in there) + sum(size for _, size in returned)
    assert abs(sum(x for x, _ in there) - sum(x for x, _ in returned)) <= DOT * sizes, (scene.row, json.dumps(request))
    if not scene.searches():
        same_derivatives(answers, request, forth, back)


def without_dust(value):
    """Sums of 60 digits that cancel are 0."""
    if isinstance(value, dict):
        return {k: without_dust(v) for k, v in value.items()}
    if isinstance(value, list):
        return [without_dust(v) for v in value]
    return 0.0 if isinstance(value, float) and abs(value) < 1e-50 else value


def same_derivatives(answers, request, forth, back):
    d = Derivatives(request)
    for route, expected in (('jvp', d.jvp(forth['tangents'])), ('vjp', d.vjp(back['cotangents'], back['wrt']))):
        got = {k: v for k, v in answers[route].items() if k in expected}
        largest, words, structure = compare.worst(got, without_dust(expected))
        assert structure == [] and largest <= TOLERANCE, (route, structure, words, json.dumps(request), forth, back)


# ---- UM-Bridge ----

def test_the_bridge_evaluates_what_the_set_does(client, scene):
    """The inputs are the velocities and one number or list of the set: once unchanged, once altered."""
    velocities = {k: v for k, v in scene.query.items() if k in ('velocities', 'body_velocities')}
    fields = [p for p in fields_of(scene.document) if flat(value_at(scene.document, p)) and
              p.rpartition('/')[2] in ('normal_force', 'weight', 'mu', 'eps_v', 'vertex_mu', 'lagged_body_velocities')]
    for field, factor in [(field, factor) for field in fields for factor in (1, 1.25)]:
        document = json.loads(json.dumps(scene.document))
        parent = document
        for key in field.split('/')[1:-1]:
            parent = parent[key]
        value, last = value_at(document, field), field.rpartition('/')[2]
        numbers = [factor * x for x in flat(value)]
        parent[last] = shaped(numbers, value) if isinstance(value, list) else numbers[0]
        put(client, 'altered', document)
        put(client, 'bridged', scene.document, kind_of(scene, 'body'))
        expected = post(client, sets.path('altered') + '/evaluate', {**velocities, 'outputs': ['potential', 'gradient']}).json
        inputs = {f'/{name}': flat(rows) for name, rows in velocities.items() if flat(rows)}
        inputs[field] = [float(x) for x in numbers]
        asked = {'input': list(inputs.values()), 'config': {'set': 'bridged', 'inputs': list(inputs)}}
        potential = post(client, '/Evaluate', {'name': 'friction', **asked}).json['output']
        gradient = post(client, '/Evaluate', {'name': 'friction_gradient', **asked}).json['output']
        assert potential == [[expected['potential']]], (field, factor, json.dumps(scene.document))
        assert gradient == [expected['gradient'] + flat(expected.get('body_gradient', []))], (field, json.dumps(scene.document))
    for name in ('altered', 'bridged'):
        assert client.delete(name).status == (204 if fields else 404)


# ---- check ----

def test_checks(client, scene):
    whole = {k: v for k, v in scene.whole().items() if k not in sets.OPTIONS}
    query = {k: v for k, v in scene.query.items() if k not in sets.OPTIONS}
    put(client, 'checked', scene.document)
    expected = post(client, '/v1/check?derivatives=true', whole)
    got = post(client, sets.path('checked') + '/check?derivatives=true', query, kind_of(scene, 'body'))
    if scene.searches() and scene.has_faults():  # on a border of features, where the Hessian jumps
        assert client.delete('checked').status == 204
        return
    assert expected.json['agrees'], (expected, json.dumps(whole))
    of_set, of_whole = ({f['pointer'] for f in answer.json['derivatives']['fields']} for answer in (got, expected))
    assert of_set == of_whole
    assert got.json['agrees']
    if scene.row['aniso'] != 'ellipses' or scene.dim == 2:  # lagged directions have no effect
        assert not [pointer for pointer in of_whole if 'lagged' in pointer], json.dumps(whole)
    for name in ('potential', 'gradient', 'hessian', 'worst'):
        assert got.json[name] == expected.json[name], (name, scene.row)
    assert client.delete('checked').status == 204


@pytest.mark.parametrize('group', ['body_body', 'body_world'])
def test_the_worst_contact_of_bodies_has_bodies(client, group):
    bodies = [[0, 1]] if group == 'body_body' else [1]
    twists = [[0.3, 0.1, 0.2, 0.4, 0.1, 0.2], [0.1, 0, 0, 0, 0.2, 0]]
    worst = post(client, '/v1/check', {
        'dim': 3, 'body_positions': [[0, 0, 0], [0, 0, 1]], 'body_velocities': twists, 'friction': {'eps_v': 0.7, 'mu': 0.3},
        'collisions': {group: {'bodies': bodies, 'point': [[0.1, 0.2, 0.4]], 'normal': [0, 0, 1], 'normal_force': 1,
                               'spin_radius': 0.3}}}).json['worst']
    assert worst['group'] == group and worst['bodies'] == flat(bodies) and 'vertices' not in worst


# ---- limits ----

@pytest.mark.parametrize('name, most', [('vectors', 256), ('steps', 1024)])
def test_numbers_at_the_limit(client, name, most):
    request = {'dim': 3, 'velocities': [[0.25, 0, 0]], 'friction': {'eps_v': 0.5, 'mu': 0.5}, 'collisions': {
        'plane_vertex': {'vertices': [0], 'plane_normal': [0, 0, 1], 'normal_force': 8}}}
    for n in (most, most + 1):
        if name == 'vectors':
            asked = {'outputs': ['hessian_products'], 'vectors': [[1, 0, 0]] * n}
        else:
            asked = {'outputs': ['line'], 'line': {'direction': [[1, 0, 0]], 'steps': [0.5] * n}}
        answer = client.send('POST', '/v1/evaluate', {**request, **asked})
        assert answer.status == (200 if n == most else 422), (name, n)
    assert answer.pointers == ['/vectors' if name == 'vectors' else '/line/steps']


# ---- conditions ----

def test_conditions(client, scene):
    """Each condition is tried on a set made from the request's own document."""
    name, kind = 'conditional', kind_of(scene, 'body')
    old = put(client, name, OTHER)
    new = client.put(name, scene.document, kind, If_Collision_Set_Version=old.version)
    assert (new.status, new.json['version']) == (200, new.version) and new.version != old.version
    for version in (new.version, old.version):  # has already been carried out
        again = client.put(name, scene.document, kind, If_Collision_Set_Version=version)
        assert (again.status, again.body, again.version) == (200, new.body, new.version)
    for version in ('0' * 32, new.version + '0', 'x'):
        for refused in (client.put(name, OTHER, If_Collision_Set_Version=version),
                        client.get(name, If_Collision_Set_Version=version),
                        client.evaluate(name, scene.query, If_Collision_Set_Version=version),
                        client.patch(name, {'dim': 3}, If_Collision_Set_Version=version),
                        client.delete(name, If_Collision_Set_Version=version)):
            assert (refused.status, refused.version, refused.json['code']) == (412, new.version, 'set_changed')
    taken = client.put(name, scene.document, kind, If_None_Match='*')
    assert (taken.status, taken.version, taken.json['code']) == (412, new.version, 'set_exists')
    got = client.get(name, If_Collision_Set_Version=new.version)
    assert (got.status, got.body, got.version) == (200, new.body, new.version)
    assert client.delete(name, If_Collision_Set_Version=new.version).status == 204
