"""Collision sets with laws, anchors and rigid bodies: a query gets the same bytes as the whole request, whether it or
the set has the lagged velocities; each new field can be patched."""
import copy
import itertools
import json
import os
import sys

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'oracle'))
import sets  # noqa: E402
from sets import FRAME, JSON  # noqa: E402

LAGGED = {'lagged_velocities': [[0.1, 0.5, 0], [0.7, 0.2, 0]],
          'lagged_body_velocities': [[0.5, 0.2, 0.3, 0, 0.1, 0], [0.2, 0.9, 0, 0.1, 0, 0.3]]}
OTHERS = {name: rows[::-1] for name, rows in LAGGED.items()}
ELLIPSES = {'mu_s_aniso': [0.9, 0.3], 'mu_k_aniso': [0.2, 0.5]}
DOCUMENT = {
    'dim': 3, 'n_vertices': 2, 'on_degenerate': 'skip', 'body_positions': [[0, 0, 0], [0, 0, 1]],
    'friction': {'eps_v': 0.05, 'mu': 0.5, 'law': 'stribeck', 'stribeck_speed': 0.2},
    'collisions': {
        'plane_vertex': {'vertices': [0, 1], 'plane_normal': [0, 0, 1], 'normal_force': 2, **ELLIPSES},
        'body_body': {'bodies': [[0, 1]], 'point': [0, 0, 0.5], 'normal': [0, 0, 1], 'normal_force': 3, 'spin_radius': 0.1,
                      **ELLIPSES},
        'body_world': {'bodies': [1, 0], 'point': [[0, 1, 0.5], [1, 0, 0]], 'normal': [0, 1, 1], 'normal_force': 3,
                       'roll_radius': [0.1, 0.2], **ELLIPSES}}}
QUERY = {
    'velocities': [[0.3, 0.1, 0], [0.1, 0.2, 0]], 'body_velocities': [[0.1, 0.2, 0.3, 0, 0.1, 0], [0.2, 0, 0, 0.1, 0, 0.3]],
    'outputs': ['potential', 'gradient', 'hessian', 'collisions', 'line', 'hessian_products'],
    'collision_outputs': ['mu_s', 'mu_k', 'spin', 'rolling', 'anchor', 'friction_force', 'slip_ratio'],
    'line': {'direction': [[1, 0, 0], [0, 1, 0]], 'body_direction': [[1, 2, 3, 4, 5, 6], [0, 0, 1, 0, 1, 0]], 'steps': [0, 1]},
    'vectors': [[1] * 18]}


def whole(document, query):
    return {**{name: value for name, value in document.items() if name != 'n_vertices'}, **query}


@pytest.fixture
def client(server):
    one = sets.Client(server)
    yield one
    one.send('DELETE', '/v1/sets/bodies')
    one.close()


def same(client, document, query, kind=JSON):
    """The bytes of both responses, whose status must be 200."""
    put = client.send('PUT', '/v1/sets/bodies', document, kind)
    assert put.status in (200, 201), put
    asked = client.send('POST', '/v1/sets/bodies/evaluate', query, kind)
    expected = client.send('POST', '/v1/evaluate', whole(document, query), kind)
    assert asked.status == expected.status == 200, (asked, expected)
    return asked.body, expected.body


@pytest.mark.parametrize('kind', [JSON, FRAME], ids=['json', 'frame'])
@pytest.mark.parametrize('form', ['triplets', 'csr', 'factors'])
def test_lagged_velocities_of_query_or_set(client, form, kind):
    answers = set()
    for kept in itertools.product((False, True), repeat=4):
        document = {**DOCUMENT, **{name: LAGGED[name] for name, is_in in zip(LAGGED, kept[:2]) if is_in}}
        query = {**QUERY, 'hessian': {'format': form}, **{name: OTHERS[name] for name, is_in in zip(OTHERS, kept[2:])
                                                                if is_in}}
        asked, expected = same(client, document, query, kind)
        assert asked == expected, kept
        answers.add(asked)
    assert len(answers) == 9  # for vertices and for bodies: the query's, the set's, or none


@pytest.mark.parametrize('alone', ['vertices', 'bodies'])
def test_one_of_both_alone(client, alone):
    document, query = copy.deepcopy(DOCUMENT), copy.deepcopy(QUERY)
    if alone == 'bodies':
        del document['collisions']['plane_vertex'], document['n_vertices'], query['velocities'], query['line']['direction']
    else:
        del document['collisions']['body_body'], document['collisions']['body_world'], document['body_positions']
        del query['body_velocities'], query['line']['body_direction']
    query['vectors'] = [[1] * (6 if alone == 'vertices' else 12)]
    name = 'lagged_velocities' if alone == 'vertices' else 'lagged_body_velocities'
    for of_set, of_query in itertools.product((False, True), repeat=2):
        asked, expected = same(client, {**document, **({name: LAGGED[name]} if of_set else {})},
                               {**query, **({name: OTHERS[name]} if of_query else {})})
        assert asked == expected
    assert ('n_bodies' in json.loads(asked)) == (alone == 'bodies')
    assert json.loads(asked)['gradient' if alone == 'bodies' else 'n_vertices'] == ([] if alone == 'bodies' else 2)


PATCHES = {
    'anchors': {'collisions': {'body_body': {'anchor': [0.01, 0, 0]}, 'plane_vertex': {'anchor': [[0.01, 0, 0], [0, 0.02, 0]]}}},
    'surface velocities': {'collisions': {'body_world': {'surface_velocity': [[1, 0, 0], [0, 1, 0]]}}},
    'a law': {'friction': {'law': 'exponential', 'viscous': 2}},
    'a curve': {'friction': {'law': 'curve', 'stribeck_speed': None, 'curve': {'speeds': [0, 1], 'factors': [1, 0.5]}},
                'collisions': {name: {'mu_s_aniso': None, 'mu_k_aniso': None} for name in DOCUMENT['collisions']}},
    'where bodies are': {'body_positions': [[0, 0, 0.1], [0.2, 0, 1]]},
    'one body more': {'body_positions': [[0, 0, 0.1], [0.2, 0, 1], [1, 1, 1]]},
    'radii': {'collisions': {'body_body': {'spin_radius': 0.3, 'roll_radius': 0.1}}},
    'a grain': {'collisions': {'body_body': {'grain': [1, 1, 0]}}},
    'lagged velocities': {'lagged_body_velocities': LAGGED['lagged_body_velocities']},
}


@pytest.mark.parametrize('name', PATCHES)
def test_patches(client, name):
    document, query = DOCUMENT, QUERY
    before, _ = same(client, document, query)
    merged = sets.merge(copy.deepcopy(document), PATCHES[name])
    if name == 'one body more':
        query = {**query, 'body_velocities': query['body_velocities'] + [[0] * 6], 'vectors': [[1] * 24],
                    'line': {**query['line'], 'body_direction': [[0] * 6] * 3}}
    tag = client.send('GET', '/v1/sets/bodies/pattern').headers['etag']
    assert client.send('PATCH', '/v1/sets/bodies', PATCHES[name]).status == 200
    asked = client.send('POST', '/v1/sets/bodies/evaluate', query)
    assert asked.status == 200 and asked.body != before
    assert asked.body == client.send('POST', '/v1/evaluate', whole(merged, query)).body
    assert (client.send('GET', '/v1/sets/bodies/pattern').headers['etag'] == tag) == (name != 'one body more')


def test_the_description_of_a_set(client):
    assert client.send('PUT', '/v1/sets/bodies', DOCUMENT).status == 201
    described = client.send('GET', '/v1/sets/bodies').json
    assert (described['n_vertices'], described['n_bodies'], described['n_collisions']) == (2, 2, 5)
    assert described['groups'] == {'plane_vertex': 2, 'body_body': 1, 'body_world': 2}


def test_patterns(client):
    """Patterns cover stencils only; blocks of bodies are not supported."""
    query = {**{k: v for k, v in QUERY.items() if k != 'collision_outputs'}, 'outputs': ['hessian']}
    for form in ('csr', 'triplets'):
        asked, _ = same(client, DOCUMENT, {**query, 'hessian': {'format': form, 'triangle': 'upper'}})
        hessian = json.loads(asked)['hessian']
        hessian.pop('data' if form == 'csr' else 'values')
        assert client.send('GET', f'/v1/sets/bodies/pattern?format={form}&triangle=upper').json == hessian
    refused = client.send('GET', '/v1/sets/bodies/pattern?format=bsr')
    assert refused.status == 422 and refused.pointers == ['/format']
    assert client.send('POST', '/v1/sets/bodies/evaluate', {**query, 'hessian': {'format': 'bsr'}}).pointers == [
        '/hessian/format']


def test_an_empty_group_of_bodies(client):
    document = {'dim': 3, 'collisions': {'body_world': {'bodies': []}, 'body_body': {'bodies': []}}}
    for form in ('triplets', 'csr', 'bsr', 'factors'):
        asked, expected = same(client, document, {'velocities': [], 'hessian': {'format': form}})
        assert asked == expected
    assert json.loads(asked)['hessian']['body_world'] == {'jacobian': [], 'inner': []}
