"""Barrier and friction in one request, on collision sets and without: the same bytes, the same faults."""
import itertools
import json
import os
import sys

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'oracle'))
from sets import FRAME, JSON  # noqa: E402
from test_sets import client  # noqa: E402, F401

# Two edges that cross above each other, a vertex above a floor, beside a triangle, beyond the end of an edge.
POSITIONS = [[-1, 0, 0], [1, 0, 0], [0, -1, 0.1], [0, 1, 0.1], [0.2, 0.1, 0.05], [1.1, 0.125, 0.0625]]
CURRENT = [[-1, 0, 0.03], [1, 0, 0.02], [0.1, -1, 0.15], [0, 1.5, 0.1], [0.2, 0.1, 0.07], [1.05, 0.1, 0.06]]
DOCUMENT = {
    'dim': 3, 'positions': POSITIONS, 'friction': {'eps_v': 0.5, 'mu': 0.4}, 'barrier': {'dhat': 0.3, 'stiffness': 100},
    'closest_features': 'search', 'on_degenerate': 'skip',
    'collisions': {'edge_vertex': {'vertices': [[5, 0, 1]]}, 'edge_edge': {'vertices': [[0, 1, 2, 3]], 'mollifier': 40},
                   'face_vertex': {'vertices': [[4, 0, 1, 3]]},
                   'plane_vertex': {'vertices': [4], 'plane_normal': [0, 0, 1], 'plane_origin': [0, 0, 0]}}}
VELOCITIES = [[1, 0, 0], [1, 0.5, 0], [0, 0, 0], [0, 0, 0], [0.1, 0.2, 0], [0.3, 0, 0.1]]
EVERYTHING = {
    'velocities': VELOCITIES, 'outputs': ['potential', 'gradient', 'hessian', 'collisions', 'hessian_products'],
    'vectors': [[0.25] * 18], 'collision_outputs': [
        'potential', 'tangential_velocity', 'status', 'normal_force', 'distance', 'feature', 'current_feature',
        'current_distance', 'barrier_potential', 'barrier_force']}
TERMS = [['friction'], ['barrier'], ['friction', 'barrier']]
# A vertex on the line of its edge: no friction with given features, and skipped.
DEGENERATE = {**DOCUMENT, 'closest_features': 'given',
              'collisions': {'edge_vertex': {'vertices': [[4, 0, 1], [5, 0, 1]]}},
              'positions': [*POSITIONS[:4], [0.5, 0, 0], POSITIONS[5]]}


def whole(client, document, query, kind=JSON, path='/v1/evaluate'):
    return client.send('POST', path, {**document, **query}, kind)


@pytest.mark.parametrize('terms,current,format_', itertools.product(TERMS, [None, CURRENT], ['csr', 'bsr', 'triplets']))
def test_a_set_answers_as_the_whole_request(client, terms, current, format_):
    query = {**EVERYTHING, 'terms': terms, 'time_step': 0.125, 'hessian': {'format': format_, 'projection': 'clamp'}}
    if current:
        query['current_positions'] = current
    client.put('a', DOCUMENT)
    for kind in (FRAME, JSON):
        answers = [client.evaluate('a', query, kind), whole(client, DOCUMENT, query, kind)]
        assert [a.status for a in answers] == [200, 200] and answers[0].body == answers[1].body, answers
    assert answers[0].json['skipped'] == []


@pytest.mark.parametrize('terms', TERMS)
def test_skipped_for_the_terms_asked_for(client, terms):
    """The barrier alone judges nothing at the lagged positions, in a set neither."""
    query = {**EVERYTHING, 'terms': terms, 'current_positions': CURRENT}
    assert client.put('a', DEGENERATE).json['n_skipped'] == 1
    answers = [client.evaluate('a', query), whole(client, DEGENERATE, query)]
    assert answers[0].status == 200 and answers[0].body == answers[1].body, answers
    skipped = [] if terms == ['barrier'] else [{'group': 'edge_vertex', 'index': 0, 'reason': 'vertex_on_edge'}]
    assert answers[0].json['skipped'] == skipped
    if 'barrier' in terms:
        assert (answers[0].json['collisions']['edge_vertex']['barrier_potential'][0] > 0) == (not skipped)


@pytest.mark.parametrize('path', ['evaluate', 'check'])
def test_velocities_are_optional_for_the_barrier_alone(client, path):
    client.put('a', DOCUMENT)
    for terms, status in zip(TERMS, (422, 200, 422)):
        query = {'terms': terms, 'current_positions': CURRENT}
        answers = [client.send('POST', f'/v1/sets/a/{path}', query), whole(client, DOCUMENT, query, path=f'/v1/{path}')]
        assert [a.status for a in answers] == [status] * 2, answers
        assert answers[0].body == answers[1].body
        if status == 422:
            assert answers[0].pointers == ['/velocities']


@pytest.mark.parametrize('field,value', [('terms', ['barrier']), ('current_positions', CURRENT), ('time_step', 0.5),
                                         ('longest_step', {'direction': VELOCITIES})])
def test_the_question_is_no_part_of_a_set(client, field, value):
    answer = client.put('a', {**DOCUMENT, field: value})
    assert answer.status == 422 and answer.json['code'] == 'unknown_field' and answer.pointers == [f'/{field}']


@pytest.mark.parametrize('field', ['closest_features', 'mollifier'])
def test_features_belong_to_the_set(client, field):
    client.put('a', DOCUMENT)
    answer = client.evaluate('a', {'velocities': VELOCITIES, field: 'search'})
    assert answer.status == 422 and answer.json['code'] == 'unknown_field' and answer.pointers == [f'/{field}']


def test_features_are_patched(client):
    client.put('a', DOCUMENT)
    query = {**EVERYTHING, 'terms': ['barrier'], 'current_positions': CURRENT}
    answers = [client.evaluate('a', query).json]
    for patch in ({'closest_features': 'given'}, {'collisions': {'edge_edge': {'mollifier': 0}}}):
        assert client.patch('a', patch).status == 200
        answers.append(client.evaluate('a', query).json)
    assert [a['collisions']['edge_vertex']['current_feature'] for a in answers] == [[5], [7], [7]]
    potentials = [a['collisions']['edge_edge']['barrier_potential'][0] for a in answers]
    assert potentials[0] == potentials[1] < potentials[2]
    assert client.patch('a', {'closest_features': 'search'}).status == 200
    assert client.evaluate('a', query).json['collisions']['edge_vertex']['current_feature'] == [5]


REFUSED = {
    'normal_force': ({'collisions': {'edge_vertex': {'vertices': [[5, 0, 1]], 'normal_force': 1}}},
                     ['/collisions/edge_vertex/normal_force']),
    'geometry': ({'collisions': {'edge_vertex': {'vertices': [[5, 0, 1]], 'normal_force': 1, 'closest_point': [0.5],
                                                 'tangent_basis': [[1, 0], [0, 1], [0, 0]]}}},
                 ['/collisions/edge_vertex/normal_force', '/collisions/edge_vertex/closest_point',
                  '/collisions/edge_vertex/tangent_basis']),
    'bodies': ({'body_positions': [[0, 0, 0]], 'collisions': {'body_world': {
        'bodies': [0], 'point': [0, 0, 0], 'normal': [0, 0, 1], 'normal_force': 1}}}, ['/collisions/body_world']),
    'no barrier': ({'barrier': None, 'collisions': {'edge_vertex': {'vertices': []}}}, ['/barrier']),
}


@pytest.mark.parametrize('change,pointers', REFUSED.values(), ids=REFUSED)
def test_sets_without_a_barrier(client, change, pointers):
    document = {name: value for name, value in {**DOCUMENT, **change}.items() if value is not None}
    assert client.put('a', document).status == 201
    twists = {'body_velocities': [[0] * 6]} if 'body_positions' in document else {}
    query = {'velocities': VELOCITIES, 'terms': ['barrier', 'friction'], **twists}
    for answer in (client.evaluate('a', query), whole(client, document, query), client.check('a', query)):
        assert answer.status == 422 and answer.pointers == pointers, answer
    assert client.evaluate('a', {**query, 'terms': ['friction']}).status == 200


def test_penetration_of_a_question(client):
    through = [[x, y, -z] for x, y, z in CURRENT]
    through[4][2] = 0
    client.put('a', {**DOCUMENT, 'on_degenerate': 'error'})
    for terms in TERMS:
        query = {'velocities': VELOCITIES, 'terms': terms, 'current_positions': through}
        answer = client.evaluate('a', query)
        assert answer.status == (422 if 'barrier' in terms else 200), answer
        if 'barrier' in terms:
            assert answer.json['code'] == 'penetration' and answer.pointers == ['/collisions/plane_vertex/vertices/0']
    client.put('a', DOCUMENT)
    query = {**EVERYTHING, 'terms': ['friction', 'barrier'], 'current_positions': through}
    answers = [client.evaluate('a', query), whole(client, DOCUMENT, query)]
    assert answers[0].body == answers[1].body
    assert answers[0].json['skipped'] == [{'group': 'plane_vertex', 'index': 0, 'reason': 'penetration'}]
    assert answers[0].json['collisions']['plane_vertex']['status'] == [2]
    assert answers[0].json['collisions']['plane_vertex']['potential'] == [0]


def test_checks_compare_the_barrier(client):
    client.put('a', DOCUMENT)
    for terms in TERMS:
        query = {'velocities': VELOCITIES, 'terms': terms, 'current_positions': CURRENT, 'time_step': 0.125}
        answers = [client.check('a', query), whole(client, DOCUMENT, query, path='/v1/check')]
        assert answers[0].status == 200 and answers[0].body == answers[1].body
        assert answers[0].json['agrees'], answers[0].json
        potential = whole(client, DOCUMENT, {**query, 'outputs': ['potential']}).json['potential']
        assert answers[0].json['potential']['largest_entry'] == pytest.approx(potential, rel=1e-12)


def test_derivatives_are_of_friction(client):
    for terms in TERMS:
        query = {'velocities': VELOCITIES, 'terms': terms, 'current_positions': CURRENT}
        answer = whole(client, DOCUMENT, query, path='/v1/check?derivatives=true')
        assert answer.status == 200 and answer.json['agrees'], answer
        assert bool(answer.json['derivatives']['fields']) == ('friction' in terms)
        assert answer.json['derivatives'] == whole(client, DOCUMENT, {'velocities': VELOCITIES},
                                                   path='/v1/check?derivatives=true').json['derivatives'] or \
            terms == ['barrier']


def distances(client, document, positions):
    """d - dmin of every contact, as a pair of primitives."""
    query = {'terms': ['barrier'], 'current_positions': positions, 'outputs': ['collisions'],
             'collision_outputs': ['current_distance']}
    document = {**document, 'closest_features': 'search', 'barrier': {**document['barrier'], 'dmin': 0}}
    groups = whole(client, document, query).json['collisions'].values()
    return [d - 0.01 for group in groups for d in group['current_distance']]


@pytest.mark.parametrize('terms', TERMS)
@pytest.mark.parametrize('keep', [0.1, 0.7])
def test_the_longest_step_keeps_a_fraction_of_every_distance(client, terms, keep):
    document = {**DOCUMENT, 'barrier': {'dhat': 0.3, 'stiffness': 100, 'dmin': 0.01}}
    direction = [[0.1 * (i % 3), 0.05 * (i % 2), -0.2 * (i == 2) - 0.1 * (i == 4)] for i in range(6)]
    query = {'velocities': VELOCITIES, 'terms': terms, 'current_positions': CURRENT, 'outputs': ['longest_step'],
             'longest_step': {'direction': direction, 'keep': keep}}
    client.put('a', document)
    answers = [client.evaluate('a', query), whole(client, document, query)]
    assert answers[0].status == 200 and answers[0].body == answers[1].body, answers
    step = answers[0].json['longest_step']

    def kept(t):
        moved = [[x + t * d for x, d in zip(*rows)] for rows in zip(CURRENT, direction)]
        return min(after / before for after, before in zip(distances(client, document, moved),
                                                           distances(client, document, CURRENT)))

    assert 0 < step['step'] < 1 and step['vertices'] in document['collisions'][step['group']]['vertices'] + [[4]]
    assert all(kept(step['step'] * i / 16) >= keep * (1 - 1e-12) for i in range(17))
    assert min(kept(step['step'] * 1.25 * i / 64) for i in range(65)) < keep
    assert client.evaluate('a', {**query, 'longest_step': {'direction': [[0, 0, 1]] * 6, 'keep': keep}}
                           ).json['longest_step'] == {'step': 1.0, 'group': None, 'vertices': None}


def test_the_longest_step_needs_no_barrier(client):
    """Contacts with given forces move as others do, in a set, too; bodies do not."""
    groups = {name: {**group, 'normal_force': 1} for name, group in DOCUMENT['collisions'].items()}
    document = {**DOCUMENT, 'collisions': groups, 'barrier': {'dhat': 1, 'stiffness': 1}}
    query = {'velocities': VELOCITIES, 'current_positions': CURRENT, 'outputs': ['longest_step'],
             'longest_step': {'direction': [[0, 0, -1] if i == 4 else [0, 0, 0] for i in range(6)]}}
    client.put('a', document)
    derived = whole(client, DOCUMENT, query).json['longest_step']
    assert derived['group'] == 'face_vertex'
    for answer in (client.evaluate('a', query), whole(client, document, query)):
        assert answer.json['longest_step'] == derived
    del query['current_positions']
    assert client.evaluate('a', query).body == whole(client, document, query).body
    del document['collisions']['plane_vertex']['plane_origin']
    client.put('a', document)
    for answer in (client.evaluate('a', query), whole(client, document, query)):
        assert answer.status == 422 and answer.pointers == ['/collisions/plane_vertex/plane_origin'], answer


@pytest.mark.parametrize('terms', TERMS)
@pytest.mark.parametrize('force', [{}, {'normal_force': 1}])
def test_the_longest_step_counts_contacts_that_friction_skips(client, terms, force):
    """Only the stencils matter: where friction was prepared does not."""
    if force and 'barrier' in terms:
        return  # refused
    group = {'vertices': [[4, 0, 1]], **force}
    document = {**DEGENERATE, 'collisions': {'edge_vertex': group}}
    query = {'velocities': VELOCITIES, 'terms': terms, 'current_positions': CURRENT, 'outputs': ['longest_step'],
             'longest_step': {'direction': [[0, -0.2, -0.092] if i == 4 else [0, 0, 0] for i in range(6)]}}
    client.put('a', document)
    for answer in (client.evaluate('a', query), whole(client, document, query)):
        assert [skipped['group'] for skipped in answer.json['skipped']] == ['edge_vertex'] * ('friction' in terms), answer
        assert answer.json['longest_step']['vertices'] == [4, 0, 1], answer


def test_requests_without_it_are_as_before(client):
    """Friction asked for by name is friction as ever, whatever else is sent."""
    plain = {name: value for name, value in EVERYTHING.items() if name != 'collision_outputs'}
    for document in (DOCUMENT, {**DOCUMENT, 'closest_features': 'given'}):
        first = whole(client, document, plain)
        for more in ({'terms': ['friction']}, {'time_step': 0.5}, {'current_positions': CURRENT},
                     {'longest_step': {'direction': VELOCITIES}}):
            assert whole(client, document, {**plain, **more}).body == first.body
        client.put('a', document)
        assert client.evaluate('a', plain).body == first.body
        assert json.loads(first.body)['potential'] > 0
