"""Derivatives: random queries against the independent program (tests/oracle: complex steps in 60 digits), and
properties that hold for any numbers.

DERIVATIVE_REQUESTS: how many (24, with a sanitizer 8); DERIVATIVE_FIRST: the first seed (0).
"""
import copy
import json
import os
import sys
from fractions import Fraction

import pytest
from mpmath import mpf

from conftest import ONE_IN

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'oracle'))
import from_reference  # noqa: E402
import generate_derivatives  # noqa: E402
import sets  # noqa: E402
from algebra import flat  # noqa: E402
from compare import shape  # noqa: E402
from derivatives import Derivatives, fields_of, value_at  # noqa: E402
from oracle import BODY_GROUPS  # noqa: E402
from sets import FRAME, JSON  # noqa: E402
from test_laws import kernels, tiled  # noqa: E402

TOLERANCE, DOT = 1e-9, 1e-11
# Rounding error of a sum that cancels, relative to its terms: in 60 digits, and in doubles.
NOTHING, ROUNDING = 1e-40, 1e-12
FIRST = int(os.environ.get('DERIVATIVE_FIRST', 0))
COUNT = int(os.environ.get('DERIVATIVE_REQUESTS', 24 // ONE_IN))
SEEDS = range(FIRST, FIRST + COUNT)
SUMS = ('potential', 'gradient', 'body_gradient')
worst_seen = {}


@pytest.fixture(scope='module')
def client(server):
    made = sets.Client(server)
    yield made
    made.close()


def ask(client, path, request, kind=JSON):
    answer = client.send('POST', '/v1/' + path, request, kind)
    assert answer.status == 200, (path, answer, json.dumps(request))
    return sets.unframe(answer.body) if kind == FRAME else answer.json


def refused(client, path, request):
    """(pointers, code)"""
    answer = client.send('POST', '/v1/' + path, request)
    assert answer.status == 422, (path, answer)
    return answer.pointers, answer.json['code']


def jvp_of(query):
    return {**query['request'], 'tangents': query['tangents']}


def vjp_of(query, wrt=None):
    return {**query['request'], 'cotangents': query['cotangents'], 'wrt': wrt or query['wrt']}


def without_skipped(answer):
    return {k: v for k, v in answer.items() if k != 'skipped'}


# --- comparison -------------------------------------------------------------------------------------------------------

class Terms:
    """Sizes of the terms that add up to a derivative, in case they cancel: values divided by the field's scale."""

    def __init__(self, d):
        self.d = d
        self.potential = sum(abs(c.potential) for c in d.contacts)
        self.gradient = sum((sum(map(abs, c.local_gradient())) for c in d.e.active()), mpf(0))

    def of(self, pointer, name):
        """Size of the terms in the derivative of potential or gradient with respect to a field. The scale of speeds may
        be that of eps_v, which divides them."""
        d, value = self.d, self.potential if name == 'potential' else self.gradient
        inverse = 1 / d.scales[pointer] + sum((c.size / c.eps + 1 for c in d.e.active()), mpf(0)) / d.scales[pointer]
        return value * inverse


def agree(what, got, expected, terms, tolerance=TOLERANCE):
    """Compares within the tolerance of the largest number or, if all of them cancel, of the terms that cancelled."""
    assert shape(got) == shape(expected), (what, shape(got), shape(expected))
    got, expected = flat(got), flat(expected)
    largest = max(map(abs, expected), default=0)
    worst = max((abs(a - b) for a, b in zip(got, expected)), default=0)
    scale = largest if largest > NOTHING * terms else terms * ROUNDING / tolerance
    if scale:
        worst_seen[what[0]] = max(worst_seen.get(what[0], (0, None)), (float(worst / scale), what[1:]),
                                    key=lambda found: found[0])
    assert worst <= tolerance * scale, (what, float(worst), float(largest), float(terms))


def same_answers(got, d):
    """Checks that a response has the potential and gradient of evaluate."""
    expected = d.split(d.gradient, d.potential)
    terms = Terms(d)
    for name in expected:
        agree(('answer', name), got[name], expected[name], terms.potential if name == 'potential' else terms.gradient)


# --- random queries -------------------------------------------------------------------------------------------------

@pytest.fixture(scope='module')
def queries():
    made = {}

    def query(seed):
        if seed not in made:
            asked = generate_derivatives.query(seed)
            made[seed] = asked, Derivatives(asked['request'])
        return made[seed]
    return query


def kept(tmp_path, request):
    path = tmp_path / 'request.json'
    path.write_text(json.dumps(request))
    return str(path)


@pytest.mark.parametrize('seed', SEEDS)
def test_jvp(client, queries, tmp_path, seed):
    """All tangents at once, in JSON and in a frame, and each field's alone."""
    query, d = queries(seed)
    terms, tangents = Terms(d), query['tangents']
    for kind, pointers in [(JSON, [*tangents]), (FRAME, [*tangents]), *((JSON, [p]) for p in tangents)]:
        part = {p: tangents[p] for p in pointers}
        request = {**query['request'], 'tangents': part}
        got, expected = ask(client, 'jvp', request, kind), d.jvp(part)
        assert set(without_skipped(got)) >= set(expected) and set(got['tangents']) == set(expected['tangents'])
        same_answers(got, d)
        for name, value in expected['tangents'].items():
            size = sum(terms.of(p, name) * max(map(abs, map(mpf, flat(tangents[p]))), default=0) for p in pointers)
            agree(('jvp', seed, kind, pointers, name, kept(tmp_path, request)), got['tangents'][name], value, size)


@pytest.mark.parametrize('seed', SEEDS)
def test_vjp(client, queries, tmp_path, seed):
    """Tests all fields, in JSON and in a frame, then some of them alone, with the same results."""
    query, d = queries(seed)
    terms, wrt = Terms(d), fields_of(query['request'])
    request = vjp_of(query, wrt)
    expected = d.vjp(query['cotangents'], wrt)['cotangents']
    for kind in (JSON, FRAME):
        got = ask(client, 'vjp', request, kind)
        assert list(got['cotangents']) == wrt
        same_answers(got, d)
        gamma = max(map(abs, d.cotangent(query['cotangents'])), default=mpf(0))
        for p in wrt:
            size = terms.of(p, 'potential') * abs(mpf(query['cotangents'].get('potential', 0))) + terms.of(p, 'gradient') * gamma
            agree(('vjp', p, seed, kind, kept(tmp_path, request)), got['cotangents'][p], expected[p], size)
    some = ask(client, 'vjp', vjp_of(query))
    assert list(some['cotangents']) == query['wrt']
    for p in query['wrt']:  # kernels may compute these even if they could not compute all fields together
        size = terms.of(p, 'potential') * abs(mpf(query['cotangents'].get('potential', 0))) + terms.of(p, 'gradient') * gamma
        agree(('alone', p, seed), some['cotangents'][p], got['cotangents'][p], size)


@pytest.mark.parametrize('seed', SEEDS)
def test_dot_products(client, queries, seed):
    """<cotangents, jvp> = <vjp, tangents> for the service's own numbers, summed without rounding."""
    query, _ = queries(seed)
    tangents, cotangents = query['tangents'], query['cotangents']
    forwards = ask(client, 'jvp', jvp_of(query))['tangents']
    back = ask(client, 'vjp', vjp_of(query, [*tangents]))['cotangents']
    pairs = [*zip([cotangents.get('potential', 0)], [forwards['potential']])]
    for name in SUMS[1:]:
        pairs += zip(flat(cotangents.get(name, [])), flat(forwards.get(name, [])))
    left = [Fraction(a) * Fraction(b) for a, b in pairs]
    right = [Fraction(a) * Fraction(b) for p in tangents for a, b in zip(flat(tangents[p]), flat(back[p]))]
    difference, size = abs(sum(left) - sum(right)), sum(map(abs, left + right))
    if size:
        worst_seen['dot'] = max(worst_seen.get('dot', (0, None)), (float(difference / size), (seed,)))
    assert difference <= DOT * size, (float(difference / size), json.dumps(query))


@pytest.mark.parametrize('seed', SEEDS)
def test_position_jacobian(client, queries, tmp_path, seed):
    """Triplets, csr and csr without its pattern, together with all other outputs; 422 without positions."""
    query, d = queries(seed)
    request = {**query['request'], 'outputs': ['position_jacobian', 'gradient']}
    if 'positions' not in request:
        assert refused(client, 'evaluate', request)
        return
    terms = Terms(d).of('/positions', 'gradient')
    for form in ('triplets', 'csr'):
        expected = d.position_jacobian(form)
        for options, kind in (({'format': form}, JSON), ({'format': form}, FRAME), ({'format': form, 'pattern': False}, JSON)):
            got = ask(client, 'evaluate', {**request, 'position_jacobian': options}, kind)['position_jacobian']
            numbers = 'values' if form == 'triplets' else 'data'
            agree(('position_jacobian', seed, kind, form, kept(tmp_path, request)), got[numbers], expected[numbers], terms)
            names = ['format', 'shape', numbers] if 'pattern' in options else [*expected]
            assert sorted(got) == sorted(names) and all(got[k] == expected[k] for k in names if k != numbers)
    plain = ask(client, 'evaluate', request)['position_jacobian']
    assert plain == ask(client, 'evaluate', {**request, 'position_jacobian': {'format': 'csr'}})['position_jacobian']


@pytest.mark.parametrize('seed', SEEDS)
def test_by_velocities_it_is_the_hessian(client, queries, seed):
    """Along velocities, jvp is a product with the Hessian that evaluate returns."""
    query, d = queries(seed)
    names = [p for p in ('/velocities', '/body_velocities') if flat(value_at(query['request'], p) or [])]
    if not names:
        return
    tangents = {p: generate_derivatives.tangent(generate_derivatives.random.Random(seed), query['request'], p) for p in names}
    got = ask(client, 'jvp', {**query['request'], 'tangents': tangents})['tangents']
    vector = [x for p in names for x in flat(tangents[p])]
    product = ask(client, 'evaluate', {**query['request'], 'outputs': ['hessian_products'], 'vectors': vector})['hessian_products'][0]
    size = sum((abs(v * mpf(vector[c])) for _, c, v in d.e.triplets('full')), mpf(0))
    agree(('hessian', seed), got['gradient'] + flat(got.get('body_gradient', [])), product, size, 1e-12)


@pytest.mark.parametrize('seed', [s for s in SEEDS if s % 3 == 0])
def test_sets(client, queries, seed):
    """Derivatives with respect to a set's fields and the query's have the same bytes as without a set."""
    query, _ = queries(seed)
    document, asked = sets.document_of(query['request'])
    name = f'derivatives-{seed}'
    assert client.put(name, document).status == 201
    for path, more in (('jvp', {'tangents': query['tangents']}),
                       ('vjp', {'cotangents': query['cotangents'], 'wrt': query['wrt']})):
        for kind in (JSON, FRAME):
            whole = client.send('POST', '/v1/' + path, {**query['request'], **more}, kind)
            part = client.send('POST', f'{sets.path(name)}/{path}', {**asked, **more}, kind)
            assert whole.status == part.status == 200, (whole, part, json.dumps(query))
            assert whole.body == part.body and part.version
    if 'positions' in document:
        outputs = {'outputs': ['gradient', 'position_jacobian']}
        for _ in range(2):  # the second time with the cached pattern
            assert client.evaluate(name, {**asked, **outputs}).body == client.send(
                'POST', '/v1/evaluate', {**query['request'], **outputs}).body
    client.delete(name)


def test_lagged_velocities_of_a_request_replace_a_sets(client):
    """The direction follows lagged velocities wherever they come from, and is constant without any."""
    request = ellipse()
    document, asked = sets.document_of(request)
    along = {'tangents': {'/collisions/plane_vertex/surface_velocity': [0.2, -0.1, 0]}}
    lagged = {'lagged_velocities': [[0.3, 0.4, 0]]}
    answers = []
    for in_set, in_request in (({}, {}), (lagged, {}), ({}, lagged), ({'lagged_velocities': [[1, 0, 0]]}, lagged)):
        client.put('directions', {**document, **in_set})
        answers.append(client.send('POST', '/v1/sets/directions/jvp', {**asked, **in_request, **along}).json['tangents'])
    client.delete('directions')
    assert answers[1] == answers[2] == answers[3] != answers[0]
    for got, whole in ((answers[0], request), (answers[1], {**request, **lagged})):
        expected = Derivatives(whole).jvp(along['tangents'])['tangents']
        assert got['potential'] == pytest.approx(expected['potential'], rel=1e-12)
        assert got['gradient'] == pytest.approx(expected['gradient'], rel=1e-12)


def ellipse():
    return {'dim': 3, 'velocities': [[1.0, 0.5, 0]], 'friction': {'eps_v': 0.1, 'mu': 0.5},
            'collisions': {'plane_vertex': {'vertices': [0], 'plane_normal': [0, 0, 1], 'normal_force': [2],
                                            'surface_velocity': [0.25, 0, 0], 'mu_s_aniso': [0.3, 0.9], 'mu_k_aniso': [0.7, 0.2]}}}


# --- places -----------------------------------------------------------------------------------------------------------

LAWS = [{}, {'mu_transition': 'quadratic'}, {'mu_transition': 'peak'}, {'law': 'stribeck', 'stribeck_speed': 0.3},
        {'law': 'exponential', 'stribeck_speed': 0.3}, {'law': 'adhesion'},
        {'law': 'curve', 'curve': {'speeds': [0, 5, 10, 40], 'factors': [1, 1.5, 0.4, 0.6]}}]


def places(law):
    """Vertices on a plane whose slips are 0 and exactly a half, one, two and three times eps_v, and where pieces of a
    curve meet."""
    two = law.get('law') not in ('curve', 'adhesion')
    velocities = [[0, 0, 3], [1.5, 2, 1], [3, 4, 0], [6, -8, 0], [9, 12, 0], [27, 36, 0]]
    return {'dim': 3, 'velocities': velocities, 'positions': [[k, 0, 0.25] for k in range(6)],
            'friction': {'eps_v': 5, **({'mu_s': 0.75, 'mu_k': 0.25} if two else {'mu': 0.75}), **law},
            'barrier': {'dhat': 0.5, 'stiffness': 100},
            'collisions': {'plane_vertex': {'vertices': [*range(6)], 'plane_normal': [[0, 0, 1]] * 6, 'plane_origin': [0, 0, 0],
                                            'tangent_basis': [[1, 0], [0, 1], [0, 0]], 'normal_force': [1, 2, 3, 4, 5, 6],
                                            'mu_aniso': [1, 1], 'viscous': 0.5}}}


@pytest.mark.parametrize('law', LAWS, ids=lambda f: ' '.join(map(str, f.values()))[:9] or 'cubic')
def test_at_rest_and_at_knots(client, law):
    """Derivatives take the branch to the right of a knot; rest is not a pole."""
    request = places(law)
    d, fields = Derivatives(request), fields_of(request)
    assert [c.y for c in d.contacts] == [0, 2.5, 5, 10, 15, 45]
    cotangents = {'potential': 0.75, 'gradient': [((7 * k) % 11) - 4.5 for k in range(18)]}
    compare_all(client, request, cotangents, fields)


def compare_all(client, request, cotangents, wrt):
    d = Derivatives(request)
    terms, expected = Terms(d), d.vjp(cotangents, wrt)['cotangents']
    got = ask(client, 'vjp', {**request, 'cotangents': cotangents, 'wrt': wrt})['cotangents']
    for p in wrt:
        agree(('vjp', p, request), got[p], expected[p], 10 * (terms.of(p, 'potential') + terms.of(p, 'gradient')))


@pytest.mark.parametrize('law', LAWS, ids=lambda f: ' '.join(map(str, f.values()))[:9] or 'cubic')
def test_everything_at_rest(client, law):
    """The derivative of the gradient with respect to velocities is 2 mu_s N / eps_v times the tangential part; with
    respect to everything else it is zero."""
    request = places(law)
    request['velocities'] = [[0, 0, 0]] * 6
    assert ask(client, 'jvp', {**request, 'tangents': {'/friction/eps_v': 1, '/positions': [[1, 2, 3]] * 6}})['tangents'][
        'gradient'] == [0] * 18
    along = ask(client, 'jvp', {**request, 'tangents': {'/velocities': [[1, -2, 5]] * 6}})['tangents']['gradient']
    factor = {'peak': 0.3 / 0.2}.get(law.get('mu_transition'), 1)
    assert along == pytest.approx([x for n in range(1, 7) for x in (n * (0.3 * factor + 0.5), -2 * n * (0.3 * factor + 0.5), 0)])


@pytest.mark.parametrize('law', [{}, {'viscous': 0.3}, {'law': 'adhesion', 'eps_v': 4}], ids=str)
def test_turning_a_basis_changes_nothing(client, law):
    """Without an ellipse, slip and force turn together, and so does the gradient's cotangent. No rounding error is
    left."""
    contacts = {'normal_force': 3, 'grain': [0.4, 0.9, -0.2], 'anchor': [0.01, 0.02, 0], 'surface_velocity': [0.3, 0, 0.1]}
    request = {'dim': 3, 'velocities': [[0.013, -0.71, 0.2], [1.1, 0.4, 0]], 'body_positions': [[0, 0, 1]],
               'body_velocities': [[1, 2, 3, 0.4, 0.5, 0.6]], 'friction': {'mu': 0.7, 'eps_v': 1, **law},
               'collisions': {'plane_vertex': {'vertices': [0, 1], 'plane_normal': [0.1, 0.2, 0.9], **contacts},
                              'body_world': {'bodies': [0], 'point': [0.1, 0.3, 0], 'normal': [0.3, -0.2, 1],
                                             'roll_radius': 0.2, 'spin_radius': 0.1, **contacts}}}
    wrt = [f'/collisions/{group}/grain' for group in request['collisions']]
    cotangents = {'potential': 0.3, 'gradient': [1, -2, 3, 0.1, 0.7, -0.4], 'body_gradient': [0.3, 0.2, 0.1, -1, -2, 3]}
    got = ask(client, 'vjp', {**request, 'cotangents': cotangents, 'wrt': wrt})['cotangents']
    assert not any(flat(list(got.values())))
    for group in request['collisions'].values():
        group['mu_aniso'] = [1, 2]
    got = ask(client, 'vjp', {**request, 'cotangents': cotangents, 'wrt': wrt})['cotangents']
    assert all(any(values) for values in got.values())
    compare_all(client, request, cotangents, wrt)


def test_a_basis_that_hardly_matters(client):
    """The contact sticks, and its ellipse contributes a millionth of the terms that turn with the basis."""
    query = generate_derivatives.query(182)
    pointer, d = '/collisions/plane_vertex/grain', Derivatives(query['request'])
    expected = flat(d.vjp(query['cotangents'], [pointer])['cotangents'][pointer])
    got = flat(ask(client, 'vjp', vjp_of(query, [pointer]))['cotangents'][pointer])
    assert max(abs(a - b) for a, b in zip(got, expected)) <= TOLERANCE * max(map(abs, expected))


def test_a_block_that_slides_at_random_places(client):
    """Every group at rest, with positions and a barrier: the derivative with respect to positions is zero, the one with
    respect to velocities is not."""
    for seed in SEEDS:
        request = generate_derivatives.query(seed)['request']
        request = {k: v for k, v in request.items() if k not in ('lagged_velocities', 'lagged_body_velocities')}
        for group in request['collisions'].values():
            group.pop('surface_velocity', None)
            group.pop('anchor', None)
        for name in ('velocities', 'body_velocities'):
            if name in request:
                request[name] = sets.nested([0] * len(flat(request[name])), [len(flat(request[name]))])
        if 'positions' in request and flat(request['positions']):
            tangent = [((5 * k) % 7) - 3 for k in range(len(flat(request['positions'])))]
            got = ask(client, 'jvp', {**request, 'tangents': {'/positions': tangent}})
            assert not any(got['tangents']['gradient']), request


# --- skipped, empty ---------------------------------------------------------------------------------------------------

def test_skipped_contacts_are_zero(client):
    """One good contact, one degenerate, one penetrating: the good one has the same derivatives alone as among the
    others."""
    request = {'dim': 2, 'on_degenerate': 'skip', 'friction': {'eps_v': 0.1, 'mu': 0.5}, 'barrier': {'dhat': 2, 'stiffness': 3, 'dmin': 0.5},
               'positions': [[0, 0], [0, 1], [3, 3], [3, 3], [5, 0], [5, 0.25]],
               'velocities': [[0.3, 0.1], [0, 0], [1, 0], [0, 2], [2, 1], [0, 0]],
               'collisions': {'vertex_vertex': {'vertices': [[0, 1], [2, 3], [4, 5]], 'weight': [1, 2, 3]}}}
    cotangents = {'potential': 1, 'gradient': [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]}
    wrt = fields_of(request)
    got = ask(client, 'vjp', {**request, 'cotangents': cotangents, 'wrt': wrt})
    assert [s['reason'] for s in got.get('skipped', [])] in ([], ['coincident_vertices', 'penetration'])
    back = got['cotangents']
    assert back['/positions'][2:] == back['/velocities'][2:] == [[0, 0]] * 4
    assert back['/collisions/vertex_vertex/weight'][1:] == [0, 0] and back['/collisions/vertex_vertex/weight'][0]
    compare_all(client, request, cotangents, wrt)
    values = ask(client, 'evaluate', {**request, 'outputs': ['position_jacobian'],
                                      'position_jacobian': {'format': 'triplets'}})['position_jacobian']['values']
    assert len(values) == 48 and any(values[:16]) and not any(values[16:])


def test_empty_batches(client):
    for request in ({'dim': 3, 'velocities': [], 'positions': [], 'friction': {'mu': 0.5, 'eps_v': 1},
                     'collisions': {'edge_edge': {'vertices': [], 'normal_force': 3, 'anchor': [0, 0, 1], 'weight': []}}},
                    {'dim': 2, 'velocities': [[1, 2]], 'positions': [[0, 0]], 'friction': {'mu': 0.5, 'eps_v': 1},
                     'collisions': {'vertex_vertex': {'vertices': [], 'normal_force': []}}},
                    {'dim': 3, 'body_positions': [], 'body_velocities': [], 'friction': {'mu': 0.5, 'eps_v': 1},
                     'collisions': {'body_world': {'bodies': [], 'point': [0, 0, 0], 'normal': [], 'normal_force': 1}}}):
        d, wrt = Derivatives(request), fields_of(request)
        got = ask(client, 'vjp', {**request, 'cotangents': {'potential': 1}, 'wrt': wrt})
        assert got['cotangents'] == d.vjp({'potential': 1}, wrt)['cotangents'] and got['potential'] == 0
        tangents = {p: value_at(request, p) for p in wrt}
        got = ask(client, 'jvp', {**request, 'tangents': tangents})
        assert got['tangents'] == d.jvp(tangents)['tangents']
        if 'positions' in request:
            for form in ('csr', 'triplets'):
                matrix = ask(client, 'evaluate', {**request, 'outputs': ['position_jacobian'], 'position_jacobian': {'format': form}})
                assert matrix['position_jacobian'] == d.position_jacobian(form)


def test_no_tangents_and_no_cotangents(client):
    request = ellipse()
    got = ask(client, 'jvp', {**request, 'tangents': {}})
    assert got['tangents'] == {'potential': 0, 'gradient': [0, 0, 0]} and got['potential'] > 0
    got = ask(client, 'vjp', {**request, 'cotangents': {}, 'wrt': ['/velocities']})
    assert got['cotangents'] == {'/velocities': [[0, 0, 0]]}
    got = ask(client, 'vjp', {**request, 'cotangents': {'potential': 1}, 'wrt': []})
    assert got['cotangents'] == {}


# --- refused ----------------------------------------------------------------------------------------------------------

def test_refused_pointers(client):
    request = ellipse()
    vjp = {**request, 'cotangents': {'potential': 1}}
    for pointer in ('/nothing', 'velocities', '', '/', '/dim', '/friction', '/friction/mu_s', '/friction/curve/speeds', '/positions',
                    '/collisions/plane_vertex/vertices', '/collisions/plane_vertex/weight', '/collisions/edge_edge/weight',
                    '/velocities/0', '/lagged_velocities', '/barrier/dhat', '/friction/materials/mu'):
        assert refused(client, 'vjp', {**vjp, 'wrt': ['/velocities', pointer]})[0] == ['/wrt/1'], pointer
        escaped = pointer.replace('~', '~0').replace('/', '~1')
        assert refused(client, 'jvp', {**request, 'tangents': {pointer: 1}})[0] == ['/tangents/' + escaped], pointer
    assert refused(client, 'vjp', {**vjp, 'wrt': ['/friction/mu', '/velocities', '/friction/mu']})[0] == ['/wrt/2']


def test_refused_values(client):
    request = {**ellipse(), 'positions': [[0, 0, 0]]}
    for tangents, where in (({'/positions': [[1, 2]]}, '/tangents/~1positions'), ({'/positions': 3}, '/tangents/~1positions'),
                            ({'/positions': [[1, 'x', 2]]}, '/tangents/~1positions/0/1'), ({'/friction/mu': [1, 2]}, '/tangents/~1friction~1mu'),
                            ({'/friction/mu': None}, '/tangents/~1friction~1mu')):
        assert refused(client, 'jvp', {**request, 'tangents': tangents})[0][0].startswith(where), tangents
    table = {'vertex_material': [0], 'plane_material': 1, 'mu': [[1, 2], [2, 3]]}
    request['friction'] = {'eps_v': 1, 'materials': table}
    ask(client, 'jvp', {**request, 'tangents': {'/friction/materials/mu': [[0, 1], [1, 0]]}})
    where, _ = refused(client, 'jvp', {**request, 'tangents': {'/friction/materials/mu': [[0, 1], [1.5, 0]]}})
    assert where[0].startswith('/tangents/~1friction~1materials~1mu')
    for cotangents, where in (({'gradient': [1, 2]}, '/cotangents/gradient'), ({'potential': 'x'}, '/cotangents/potential'),
                              ({'hessian': 1}, '/cotangents/hessian'), ({'body_gradient': [[1] * 6]}, '/cotangents/body_gradient')):
        assert refused(client, 'vjp', {**request, 'cotangents': cotangents, 'wrt': []})[0][0].startswith(where), cotangents


def test_refused_members(client):
    request, along = ellipse(), {'tangents': {'/friction/mu': 1}}
    assert refused(client, 'jvp', request)[0] == ['/tangents']
    assert sorted(refused(client, 'vjp', request)[0]) == ['/cotangents', '/wrt']
    for more in ({'outputs': ['gradient']}, {'hessian': {}}, {'vectors': []}, {'line': {'steps': []}}):
        assert refused(client, 'jvp', {**request, **along, **more})[1] == 'unknown_field', more
    assert refused(client, 'evaluate', {**request, **along}) == (['/tangents'], 'unknown_field')
    assert refused(client, 'jvp', {**request, **along, 'wrt': []}) == (['/wrt'], 'unknown_field')
    matrix = {'outputs': ['position_jacobian']}
    assert refused(client, 'evaluate', {**request, **matrix})[0]
    assert refused(client, 'evaluate', {**request, 'positions': [[0, 0, 0]], **matrix, 'position_jacobian': {'format': 'bsr'}})[0] == [
        '/position_jacobian/format']


def test_overflow_is_an_error_with_a_pointer(client):
    request = {**ellipse(), 'positions': [[0, 0, 0]]}
    request['collisions']['plane_vertex']['normal_force'] = [1e300]
    pointers, code = refused(client, 'jvp', {**request, 'tangents': {'/friction/mu': 1, '/velocities': [[1e200, 0, 0]]}})
    assert code == 'overflow' and len(pointers) == 1
    pointers, code = refused(client, 'vjp', {**request, 'cotangents': {'gradient': [1e300, 0, 0]},
                                             'wrt': ['/friction/mu', '/collisions/plane_vertex/mu_k_aniso']})
    assert code == 'overflow' and pointers in (['/wrt/1'], ['/collisions/plane_vertex/vertices/0'])


# --- scale, threads, kernels ------------------------------------------------------------------------------------------

def scaled(query, speed, length):
    """Multiplies speeds by one power of two and lengths by another; None if forces depend on lengths."""
    query = copy.deepcopy(query)
    request = query['request']
    if any('normal_force' not in f for f in request['collisions'].values()) or any(g in BODY_GROUPS for g in request['collisions']):
        return None
    factors = {**{k: speed for k in ('velocities', 'lagged_velocities', 'eps_v', 'stribeck_speed', 'surface_velocity', 'anchor')},
               'viscous': 1 / speed, 'positions': length, 'plane_origin': length}
    for p in fields_of(request):
        *names, last = p[1:].split('/')
        holder = request
        for name in names:
            holder = holder[name]
        factor = factors.get(last, 1)
        holder[last] = times(holder[last], factor)
        if p in query['tangents']:
            query['tangents'][p] = times(query['tangents'][p], factor)
    if 'curve' in request.get('friction', {}):
        request['friction']['curve']['speeds'] = times(request['friction']['curve']['speeds'], speed)
    return query


def times(value, factor):
    return [times(x, factor) for x in value] if isinstance(value, list) else value * factor


@pytest.mark.parametrize('seed', SEEDS)
def test_scale_freedom(client, queries, seed):
    """All derivatives along scaled tangents: the gradient's keep their bits, the potential's are scaled."""
    query, d = queries(seed)
    largest = max((float(d.scales[p]) for p in d.numbers if p.rpartition('/')[2] in ('velocities', 'positions')), default=0)
    if not 1e-30 < largest < 1e30 or scaled(query, 1.0, 1.0) is None:
        return
    before = ask(client, 'jvp', jvp_of(query))
    for speed, length in ((2.0 ** 300, 1.0), (2.0 ** -300, 1.0), (1.0, 2.0 ** 300), (1.0, 2.0 ** -300), (2.0 ** 200, 2.0 ** -250)):
        after = ask(client, 'jvp', jvp_of(scaled(query, speed, length)))
        assert after['tangents']['gradient'] == before['tangents']['gradient'], (speed, length)
        assert after['tangents']['potential'] == before['tangents']['potential'] * speed


def spans():
    """Contacts that the kernels can differentiate: in 3D, with the law's coefficients and a barrier."""
    rng = generate_derivatives.random.Random(5)
    n = 40

    def rows(width, n=n):
        return [[rng.uniform(-1, 1) for _ in range(width)] for _ in range(n)]

    request = {'dim': 3, 'velocities': rows(3), 'positions': rows(3),
               'friction': {'eps_v': 0.7, 'mu_s': 0.6, 'mu_k': 0.4},
               'barrier': {'dhat': 2, 'stiffness': 3}, 'collisions': {}}
    for group, k in (('vertex_vertex', 2), ('edge_vertex', 3), ('edge_edge', 4), ('face_vertex', 4), ('plane_vertex', 1)):
        stencils = [rng.sample(range(n), k) for _ in range(500)]
        request['collisions'][group] = {'vertices': stencils if k > 1 else [v for v, in stencils]}
    request['collisions']['plane_vertex'].update(plane_normal=[0, 0, 1], plane_origin=[0, 0, -2])
    request['collisions']['edge_edge']['normal_force'] = 2.5
    wrt = ['/positions', '/velocities', '/friction/mu_s', '/barrier/dhat', '/collisions/edge_edge/normal_force']
    yield 'jvp', {**request, 'tangents': {'/positions': rows(3), '/friction/mu_k': 0.3, '/barrier/stiffness': 1}}
    yield 'vjp', {**request, 'cotangents': {'potential': 0.3, 'gradient': rows(3 * n, 1)[0]}, 'wrt': wrt}
    for form in ('csr', 'triplets'):
        yield 'evaluate', {**request, 'outputs': ['position_jacobian'], 'position_jacobian': {'format': form}}


def large():
    """Many contacts of every law and group, with tangents of every field."""
    yield from spans()
    for seed in range(0, 21, 2):
        query = generate_derivatives.query(seed)
        request = tiled(query['request'], 3000)
        fields = fields_of(request)
        rng = generate_derivatives.random.Random(seed)
        cotangents = query['cotangents']
        yield 'jvp', {**request, 'tangents': {p: generate_derivatives.tangent(rng, request, p) for p in fields}}
        yield 'vjp', {**request, 'cotangents': cotangents, 'wrt': fields}
        if 'positions' in request:
            for form in ('csr', 'triplets'):
                yield 'evaluate', {**request, 'outputs': ['position_jacobian'], 'position_jacobian': {'format': form}}


@pytest.fixture(scope='module')
def many():
    return list(large())


def answers(base, requests):
    client, out = sets.Client(base), []
    for i, (path, request) in enumerate(requests):
        answer = client.send('POST', '/v1/' + path, request, JSON, Accept=[JSON, FRAME][i % 2])
        out.append((answer.status, answer.body))
    client.close()
    return out


@pytest.fixture(scope='module')
def expected(server, many):
    made = answers(server, many)
    assert [body[:300] for status, body in made if status != 200] == []
    return made


@pytest.mark.parametrize('threads', [1, 2, 3, 8] if ONE_IN == 1 else [3])
def test_any_number_of_threads_gives_the_same_bytes(server_with, many, expected, threads):
    assert answers(server_with('--threads', str(threads)), many) == expected


@pytest.mark.parametrize('name', kernels())
def test_every_kernel_gives_the_same_bytes(server_with, many, expected, name):
    assert answers(server_with('--kernels', name), many) == expected


# --- the reference ----------------------------------------------------------------------------------------------------

@pytest.mark.parametrize('c', from_reference.load('collisions.json')['collisions'], ids=lambda c: f"{c['id']}-{c['type']}-{c['dim']}d")
def test_contacts_of_the_reference(client, c):
    """The Jacobian of the force with respect to positions, for the C++ toolkit's contacts, barrier and transition."""
    request = {**from_reference.contact_request(c), 'outputs': ['gradient', 'position_jacobian'],
               'position_jacobian': {'format': 'triplets'}}
    for k in ('hessian', 'collision_outputs'):
        request.pop(k)
    d = Derivatives(request)
    got = ask(client, 'evaluate', request)['position_jacobian']['values']
    agree(('reference', c['id']), got, d.position_jacobian('triplets')['values'], Terms(d).of('/positions', 'gradient'))
    jacobian = c.get('force_jacobian')
    if jacobian is not None:
        agree(('toolkit', c['id']), [-x for x in got], flat(jacobian), 0, 1e-6)


def test_report(capsys):
    assert worst_seen
    with capsys.disabled():
        for name, (ratio, what) in sorted(worst_seen.items()):
            print(f'\nworst {name}: {ratio:.2e} {str(what)[:150]}', end='')
